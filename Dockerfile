FROM python:3.12-slim AS build
WORKDIR /build
RUN pip install --no-cache-dir --root-user-action=ignore uv
COPY pyproject.toml README.md LICENSE ./
COPY heal_bot ./heal_bot
RUN uv venv /opt/heal-bot \
 && uv pip install --no-cache --python /opt/heal-bot/bin/python .

FROM python:3.12-slim
LABEL org.opencontainers.image.title="heal-bot" \
      org.opencontainers.image.description="Turns a red test run into a pull request with a small, verified repair" \
      org.opencontainers.image.licenses="MIT"
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git libseccomp2 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local/bin/uv /usr/local/bin/uv
COPY --from=build /opt/heal-bot /opt/heal-bot
# No USER: the action needs root to give each sandbox a user of its own, and GitHub asks for it.
ENTRYPOINT ["/opt/heal-bot/bin/python", "-I", "-m", "heal_bot", "action"]
