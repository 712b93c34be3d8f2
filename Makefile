# Every target works alone on a fresh clone: it makes .venv first when that is missing or out of date.
# Needed beforehand: git, and a python3 of 3.11-3.13 with venv. Debian 12 and 13 are tested; macOS
# should work and is untested.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
RUN := $(VENV)/bin/python
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long check bench screenshots services

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: $(DEV_STAMP) ## Make .venv with everything, for work on the code
	@echo "$(VENV) is ready: $$($(RUN) --version)"

demo: $(RUN_STAMP) ## Try it: bundled simulated data, served on http://127.0.0.1:8000
	@$(RUN) manage.py demo

test: $(DEV_STAMP) services ## All tests: on SQLite, on PostgreSQL, in Chromium
	@$(RUN) -m tests.suites --workers $(WORKERS)

test-long: $(DEV_STAMP) services ## The tests that take minutes: kills, floods, large files
	@$(RUN) -m tests.suites --long

check: $(DEV_STAMP) ## Lint, types, import rules, templates, migrations
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/mypy
	$(VENV)/bin/djlint --quiet --lint templates
	$(RUN) manage.py check --settings tests.settings
	$(RUN) manage.py makemigrations --check --dry-run --settings tests.settings

bench: $(DEV_STAMP) ## Measure speed; each benchmark prints its line
	@for script in benchmarks/[a-z]*.py; do $(RUN) -m benchmarks.$$(basename $$script .py) || exit 1; done

screenshots: $(DEV_STAMP) services ## Pictures of every page in var/screenshots
	@$(RUN) -m pytest tests/browser/screenshots.py tests/browser/history_screenshots.py

services: $(DEV_STAMP)
	@$(RUN) -m tests.services

# An interrupted installation leaves no stamp and is taken up again.
$(RUN_STAMP): requirements.txt
	@$(prerequisites)
	@$(call install,requirements.txt)
	@touch $@

$(DEV_STAMP): requirements-dev.txt requirements.txt
	@$(prerequisites)
	@$(call install,requirements-dev.txt)
	@touch $(RUN_STAMP) $@

define prerequisites
missing() { echo "$$1 is missing: apt-get install $$2" >&2; exit 1; }; \
command -v git >/dev/null || missing git git; \
command -v $(PYTHON) >/dev/null || missing $(PYTHON) "python3 python3-venv"; \
$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	echo "$(PYTHON) is $$($(PYTHON) --version 2>&1); Python 3.11, 3.12 or 3.13 is needed." \
		"Name another one: make PYTHON=python3.12" >&2; exit 1; }; \
$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || missing python3-venv python3-venv
endef

# uv installs several times faster than pip and reads the same hashed file. Its own pinned line is
# in the developers' file. Where uv finds no package index but pip does (pip.conf), pip does the work.
define install
{ $(RUN) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV); } && \
echo "Installing $(1) into $(VENV); this takes a minute or two the first time." && \
awk '/^uv==/ { inside = 1 } inside { print } inside && !/\\$$/ { exit }' requirements-dev.txt > $(VENV)/uv.txt && \
$(PIP) -r $(VENV)/uv.txt && \
{ $(RUN) -m uv pip install --quiet --system-certs --python $(RUN) --no-python-downloads --require-hashes -r $(1) || $(PIP) -r $(1); }
endef
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes
