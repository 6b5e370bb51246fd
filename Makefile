# `make help` lists the targets. Each sets up what it needs; the second time that is quick.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: help setup demo test check lint types proof bench docs lock clean

help: ## List the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## Make .venv from the lock file

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sonde needs Python 3.11 or newer: make PYTHON=python3.12"; exit 2; }
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
		uv pip install --quiet --python $(RUN) --require-hashes -r requirements.lock && \
		uv pip install --quiet --python $(RUN) --no-deps --no-build-isolation -e .; \
	else \
		$(PYTHON) -m venv $(VENV) && \
		$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock && \
		$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $(READY)

demo: $(READY) ## Show the main job without a key (not built yet: says so)
	@echo "The demo is not built yet. The README shows a first use with a local test server, without a key."

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

bench: $(READY) ## Measure, and print JSON lines with ratios
	@$(RUN) -m bench

docs: $(READY) ## Check that every fence in the docs runs
	@$(RUN) -m pytest tests/docs

lock: $(READY) ## Renew requirements.lock (needs uv)
	@uv pip compile pyproject.toml --group dev --universal --generate-hashes --python-version 3.11 \
		--no-header --no-emit-index-url --no-emit-find-links --upgrade -q -o requirements.lock

clean: ## Remove what setup and tests made
	@rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist
