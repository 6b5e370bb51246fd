# `make help` lists the targets. Each sets up what it needs; the second time that is quick.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(RUN),$(RUN) -m pip install --quiet --disable-pip-version-check)
READY := $(VENV)/.ready
PEERS := deepagents harness
COMPILE := uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-emit-index-url \
	--no-emit-find-links --upgrade

.PHONY: help setup demo test check lint types proof soak fuzz bench bench-peers docs lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## Make .venv from the lock file

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sonde needs Python 3.11 or newer: make PYTHON=python3.12"; exit 2; }
	@$(if $(UV),$(UV) venv --quiet --allow-existing --python $(PYTHON),$(PYTHON) -m venv) $(VENV)
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## A real run without a key, on a small model in this process
	@$(RUN) demo/classify.py

test: $(READY) ## Run the whole offline suite
	@$(RUN) -m pytest -n auto

lint: $(READY) ## Style, size caps and the import law
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(VENV)/bin/lint-imports --no-cache

types: $(READY) ## Types, strictly
	@$(VENV)/bin/basedpyright

check: lint types test ## What CI runs

proof: $(READY) ## All that takes long: many kills, soaks, whole hostile suites
	@$(RUN) -m pytest -m "proof or sampled" -rP

soak: $(READY) ## A quarter of an hour of faults, kills, cancels and resumes
	@$(RUN) -m tests.soak 900

fuzz: $(READY) ## Ten minutes of frames that no interpreter should send, guided by coverage
	@$(RUN) -c 'import atheris' 2>/dev/null || $(INSTALL) --require-hashes -r requirements-fuzz.lock
	@$(RUN) -m tests.fuzz 600

bench: $(READY) ## Measure, and print JSON lines with ratios
	@$(RUN) -m bench

bench-peers: $(PEERS:%=.venv-peers/%/.ready) ## Install what `make bench` compares Sonde with

.venv-peers/%/.ready: bench/peers/%.txt
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

docs: $(READY) ## Check that every fence in the docs runs
	@$(RUN) -m pytest tests/docs

lock: ## Renew the lock files (needs uv)
	@$(COMPILE) pyproject.toml --group dev --all-extras -o requirements.lock
	@$(COMPILE) --group fuzz -o requirements-fuzz.lock

clean: ## Remove what setup and tests made
	@rm -rf $(VENV) .venv-peers .pytest_cache .ruff_cache .hypothesis dist
