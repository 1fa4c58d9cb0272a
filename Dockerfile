# Gatehouse as an image: what requirements/runtime.lock names, bot/ and handlers/, and nothing else. docs/operating.md says how to run it.
ARG PYTHON=3.13-slim-bookworm

FROM python:${PYTHON} AS packages
COPY requirements/runtime.lock /
RUN python -m venv --without-pip /venv \
    && pip --python /venv/bin/python install --no-cache-dir --only-binary :all: --require-hashes -r /runtime.lock

FROM python:${PYTHON}
RUN useradd --uid 10001 --home-dir /data --create-home gatehouse
COPY --from=packages /venv /venv
COPY bot /app/bot
COPY handlers /app/handlers
RUN /venv/bin/python -m compileall -q /app
# A container is reached through its own network interface, so 127.0.0.1 would be nobody's.
ENV HOST=0.0.0.0 \
    PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app \
    PYTHONUNBUFFERED=1
# .env and a SQLite file are looked for here. It is the only folder that Gatehouse writes to, so the root can be read-only.
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ.get('PORT') or 3000}/healthz\", timeout=4)"]
ENTRYPOINT ["python", "-m", "bot"]
CMD ["serve"]
