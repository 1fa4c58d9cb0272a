# What a person or CI does with this tree. Each target sets itself up: Python 3.11+ is all it needs.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; exit; }; done; echo python3)
BIN := .venv/bin
# uv installs a lock in seconds where pip takes a minute: the one of this machine, or one that pip fetches.
UV = $(or $(shell command -v uv),$(BIN)/uv)
# Python carries pip as a wheel and can run it out of that; installing it first would take longer than all it does here.
WHEEL = $(shell $(PYTHON) -c 'import ensurepip, pathlib, sysconfig; folder = sysconfig.get_config_var("WHEEL_PKG_DIR"); \
	print(*pathlib.Path(folder or ensurepip.__path__[0] + "/_bundled").glob("pip-*.whl"))' 2>/dev/null)
PIP = $(BIN)/python $(or $(WHEEL:%=%/pip),-m pip) --quiet --quiet --disable-pip-version-check
define install
	@echo "Installing $$(cat $(1) | grep -c '^[a-z].*==') packages…"
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes $(1:%=-r %) 2>/dev/null || { \
		echo "uv could not do it. pip takes about a minute…"; $(PIP) install --require-hashes $(1:%=-r %); }
endef
RUNTIME := requirements/runtime.lock requirements/sandbox.lock
COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --python-version 3.11
# Tests and drills start Python hundreds of times: it may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE
# Many tests wait, for a process that was killed or a lease that ends: two workers a core.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')

# Another one each day, so that four days play every story in every place.
DAY ?= $(shell $(PYTHON) -c 'import time; print(int(time.time()) // 86400)')

# On CI, what fails is tried once more, alone.
PYTEST = $(BIN)/python -m tests.harness.unsteady lane -n $(WORKERS) --dist loadgroup
SLOW := slow or browser or drill or postgres
# Of long tables, CI plays another third each day; without a number, all is played.
THIRD ?=

.PHONY: demo test test-slow test-places nightly lint format unsteady mutants corpus nearest bench reliability pictures setup develop threats commands texts texts-fix lock audit-dependencies clean

demo: setup ## the whole of Gatehouse on this machine, no account anywhere
	@$(BIN)/python -m sandbox

test: develop ## what to run before each commit, in minutes; TEST="-k words" for some
	$(PYTEST) -m "not ($(SLOW))" $(TEST)

test-slow: develop ## the rest: PostgreSQL, Chromium, processes that are killed, every switch and every limit
	THIRD=$(THIRD) $(PYTEST) -m "($(SLOW)) and not another_day" $(TEST)

test-places: develop ## each story in another place of four (HTTP or Socket Mode, SQLite or PostgreSQL); DAY=n
	$(PYTEST) tests/stories --day $(DAY)

nightly: develop ## every story in every place
	for day in 0 1 2 3; do $(PYTEST) tests/stories --day $$day || exit 1; done

lint: develop ## what must be clean before a commit
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

format: develop
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

unsteady: develop ## the fast lane over and over beside two busy processes, until it is stopped: what didn't pass, with its seed
	@$(BIN)/python -m tests.harness.unsteady repeat -n $(WORKERS) --dist loadgroup -m "not ($(SLOW))" $(TEST)

mutants: develop ## which of ten changed conditions the nearest tests don't notice; FILE="bot/policy bot/clients/http.py", N, SEED
	@FILE="$(FILE)" N=$(N) SEED=$(SEED) $(BIN)/python -m tests.harness.mutants

corpus: develop ## how much of what people say is understood, also of what no code was written for; BAD=bad lists the rest
	@$(BIN)/python -m tests.harness.corpus $(BAD)

nearest: develop ## fit how strongly each word suggests each command, from what people typed, into handlers/grammar/nearest.tsv
	@$(BIN)/python -m tests.harness.nearest

bench: develop ## Gatehouse beside a careful bot, a tutorial bot and a bare loop, as one table, into docs/benchmarks.md
	$(BIN)/python -m tests.bench

reliability: develop ## kills, stops and races at full size, one after the other, into docs/reliability.md; SIZE=long: a night's
	RELIABILITY=$(or $(SIZE),ci) $(BIN)/python -m pytest -p no:randomly --write-reliability tests/drills tests/faults tests/changes

pictures: develop ## the screenshots of README and docs, made anew
	SCREENSHOTS=docs/pictures $(BIN)/python -m pytest -q tests/stories/test_in_the_browser.py

threats: ## the table of docs/security.md, from tests/harness/threats.toml
	$(PYTHON) -m tests.harness.threats

commands: setup ## the tables of commands, metrics and settings in docs/, from their declarations
	$(BIN)/python -m tests.harness.commands
	$(BIN)/python -m tests.harness.metrics
	$(BIN)/python -m tests.harness.settings

texts: develop ## every message, card and form that people read, as one page
	@$(BIN)/python -m tests.texts

# inline-snapshot refuses workers, so each file has a process of its own; it formats with the ruff that it finds.
texts-fix: develop ## the texts in tests/texts as they are now: read the diff
	@ls tests/texts/test_*.py | PATH="$(CURDIR)/$(BIN):$$PATH" xargs -P $(WORKERS) -n 1 $(BIN)/python -m pytest -q -p no:randomly --inline-snapshot=fix

# Two of them at once would install into the same folder: the second waits, and finds it done.
ONE_BY_ONE = $(PYTHON) -c 'import fcntl, subprocess, sys; held = open("Makefile"); fcntl.flock(held, fcntl.LOCK_EX); \
	sys.exit(subprocess.call(sys.argv[1:]))' $(MAKE) --silent --no-print-directory

setup: ## what Gatehouse and its sandbox run with, and no more
	@$(ONE_BY_ONE) .venv/ready

develop: ## what tests and checks it as well
	@$(ONE_BY_ONE) .venv/ready-dev

.venv/ready: $(RUNTIME)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Gatehouse needs Python 3.11 or newer (make PYTHON=/path/to/python3.11)."; exit 1; }
	@echo "Setting up Gatehouse in .venv, once; this takes about 20 seconds."
	@$(PYTHON) -m compileall -q bot handlers sandbox >/dev/null 2>&1 &
	@$(PYTHON) -m venv $(if $(shell command -v uv)$(WHEEL),--without-pip) .venv
	@command -v uv >/dev/null || $(PIP) install --no-compile --require-hashes -r requirements/installer.lock || true
	$(call install,$(RUNTIME))
	@$(BIN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "gatehouse.pth").write_text("$(CURDIR)\n")'
	@touch $@

.venv/ready-dev: .venv/ready requirements/dev.lock requirements/agents.lock
	$(call install,requirements/dev.lock requirements/agents.lock)
	@touch $@

lock: .venv/ready ## write the locks again
	echo uv | $(COMPILE) --no-header --no-annotate - -o requirements/installer.lock
	$(COMPILE) pyproject.toml -o requirements/runtime.lock
	printf 'rich\ntyper\nwebsockets\n' | $(COMPILE) --no-header --no-annotate -c requirements/runtime.lock - -o requirements/sandbox.lock
	$(COMPILE) --group dev -c requirements/runtime.lock -c requirements/sandbox.lock -o requirements/dev.lock
	echo 'mcp>=2.3,<3' | $(COMPILE) --no-header --no-annotate -c requirements/runtime.lock -c requirements/sandbox.lock -c requirements/dev.lock - -o requirements/agents.lock

audit-dependencies: setup ## known vulnerabilities of the locks; asks an advisory database on the internet
	$(PYTHON) -m venv .venv/audit
	.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	for lock in requirements/*.lock; do .venv/audit/bin/pip-audit --require-hashes --disable-pip -r $$lock || exit 1; done

clean:
	rm -rf .venv
