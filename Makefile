# Every target makes .venv first; a fresh machine needs python3 (3.11 or newer), git and make, and
# `make check` node 20 or newer with npm.
# What CI calls is here and nowhere else.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
STAMP := $(VENV)/.ready
RUNNERS := $(VENV)/.runners
AIMOCK := $(VENV)/aimock/.ready-1.43.0
BENCHMARKS ?= $(shell ls benchmarks/[a-z]*.py benchmarks/*/__init__.py | sed -e 's,/__init__\.py$$,,' -e 's,.*/,,' -e 's,\.py$$,,' | grep -v '^_')

.DELETE_ON_ERROR:
.PHONY: dev demo recording site test long slow lint check full bench clean action-test locks

dev: $(STAMP)

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer found: install one, or say make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make environments: apt-get install $$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The other test runners, whose reports the slow tests and the benchmarks read, and what drives
# Chromium.
$(RUNNERS): $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,dialects,browser]'
	@touch $@

# A model server of other hands for the tests of the clients; nothing of it ships.
$(AIMOCK): $(STAMP)
	@command -v npm >/dev/null || { echo "no npm found: the tests against aimock need node 20 or newer with npm" >&2; exit 1; }
	@mkdir -p $(@D)
	@npm install --prefix $(@D) --silent --no-save --no-package-lock --ignore-scripts --no-audit --no-fund @copilotkit/aimock@1.43.0
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m examples.demo

# The pictures of the demo in the README, from a run of it; needs chromium.
recording: $(STAMP)
	@$(BIN)/python -m examples.recording

# The documentation as a site; a link or an anchor that leads nowhere fails.
site: $(STAMP)
	@$(BIN)/mkdocs build --quiet

test: $(STAMP)
	$(BIN)/pytest -q -n auto -m "not slow and not long and not online"

# What needs this project alone, as the unit tests do, but starts processes for seconds.
long: $(STAMP) $(AIMOCK)
	$(BIN)/pytest -q -n auto -m "long and not slow and not online"

slow: $(RUNNERS)
	$(BIN)/pytest -q -n auto --timeout 1200 -m "slow and not online" || test $$? = 5

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile
	$(BIN)/zizmor --offline --no-progress --quiet --config .github/zizmor.yml . $(wildcard docs/workflows/*.yml)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml docs/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	@$(MAKE) --no-print-directory site

# What CI runs on every commit; `full` adds the container, the other runners and Chromium.
check: $(STAMP)
	@for part in lint test long; do begin=$$(date +%s); \
		$(MAKE) --no-print-directory $$part || exit 1; \
		echo "check: $$part $$(($$(date +%s) - begin)) s"; done

full: check slow

bench: $(RUNNERS)
	@for name in $(BENCHMARKS); do echo "== $$name"; $(BIN)/python -m benchmarks $$name || exit 1; done

# The action in a real container; which engine ran is printed, none is a failure.
action-test: $(STAMP)
	$(BIN)/python -m benchmarks action --no-shards

# The locks of the image, made anew from pyproject.toml.
locks: $(STAMP)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-config --extra uv --custom-compile-command "make locks" pyproject.toml -o locks/image.txt
	echo 'hatchling>=1.27' | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-config --custom-compile-command "make locks" - -o locks/build.txt

clean:
	rm -rf $(VENV) build dist
