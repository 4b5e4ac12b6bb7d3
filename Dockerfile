# The base can be pinned: docker build --build-arg BASE=python:3.12-slim@sha256:... (releases are).
ARG BASE=python:3.12-slim

FROM ${BASE} AS build
WORKDIR /build
COPY locks ./locks
# Every package is checked against the hash in its lock; hatchling stays in this stage.
RUN pip install --no-cache-dir --root-user-action=ignore --require-hashes -r locks/build.txt \
 && python -m venv --without-pip /opt/heal-bot \
 && pip --python /opt/heal-bot/bin/python install --no-cache-dir --only-binary :all: \
        --require-hashes -r locks/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY heal_bot ./heal_bot
RUN pip wheel --no-cache-dir --no-deps --no-index --no-build-isolation --wheel-dir wheels . \
 && pip --python /opt/heal-bot/bin/python install --no-cache-dir --no-deps --no-index wheels/*.whl \
 && find /opt/heal-bot/lib -type d -name tests -prune -exec rm -r {} + \
 && chmod -R a-w /opt/heal-bot

FROM ${BASE}
LABEL org.opencontainers.image.title="heal-bot" \
      org.opencontainers.image.description="Turns a red test run into a pull request with a small, verified repair" \
      org.opencontainers.image.licenses="MIT"
# git brings its own perl; what it recommends is not needed. Sandboxed code runs as these users:
# without an entry of its own a user id breaks programs that ask for its name.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git libseccomp2 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc /usr/share/man \
 && for slot in 0 1 2 3 4 5 6 7; do \
      echo "heal-bot-$slot:x:$((64000 + slot)):$((64000 + slot))::/nonexistent:/usr/sbin/nologin" >> /etc/passwd; \
      echo "heal-bot-$slot:x:$((64000 + slot)):" >> /etc/group; \
    done
# The base comes without compiled modules, and every start would compile those it imports.
RUN python -m compileall -q -x '/(test|idlelib|lib2to3|turtledemo|tkinter|ensurepip|pydoc_data|site-packages)/' \
        "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"
COPY --from=build /opt/heal-bot /opt/heal-bot
# No USER: the action needs root to give each sandbox a user of its own, and GitHub asks for it.
ENTRYPOINT ["/opt/heal-bot/bin/python", "-I", "-m", "heal_bot", "action"]
