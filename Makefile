# Everything that a person types. `make` alone lists it.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
# One database, and neither a browser nor jobs; `make quick` leaves out what is marked as slow, too.
QUICK := tests/architecture tests/core tests/ranking tests/gateway tests/selection tests/client tests/docs/test_reference.py
# The tests with random cases make fewer of them.
QUICK_CASES := RANKING_CASES=25
# Their databases need not outlive them: they are in memory, if a gigabyte of it is free as a file system.
MEMORY := $(shell df --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 1000000 { print "/dev/shm" }')
BIN := $(VENV)/bin
UV := $(BIN)/uv

.DEFAULT_GOAL := help
.PHONY: help install serve test quick coverage wheel check format bench lock clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

install: $(VENV)/.run ## Set everything up for serving

serve: $(VENV)/.run ## Set everything up and serve the whole product on this machine
	@exec $(BIN)/touchstone serve

test: $(VENV)/.dev ## Set everything up and run every test
	$(BIN)/python -m pytest $(ARGS)

quick: $(VENV)/.dev ## Run the tests that find most mistakes
	$(QUICK_CASES) $(if $(MEMORY),PYTEST_DEBUG_TEMPROOT=$(MEMORY)) $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow" --databases sqlite --topologies embedded $(QUICK) $(ARGS)

coverage: $(VENV)/.dev ## Run the folders of the quick tests, and report which branches they miss
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --databases sqlite --topologies embedded --cov=touchstone --cov-branch --cov-report=term:skip-covered $(QUICK) $(ARGS)

wheel: $(VENV)/.dev ## Build the wheel, and install it instead of the editable source
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel
	$(UV) pip install -q --python $(BIN)/python --no-deps --reinstall dist/touchstone-*.whl
	$(BIN)/python -m compileall -q $(VENV)/lib/python*/site-packages/touchstone

check: $(VENV)/.dev ## Format, lint, strict types, architecture
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/architecture

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## Run the benchmarks and print their tables
	$(BIN)/python -m benchmarks $(ARGS)

lock: $(VENV)/.dev ## Renew the lock files
	$(UV) pip compile pyproject.toml --extra postgres --extra lightgbm --extra onnx --group build --universal --python-version 3.11 --generate-hashes --no-header -q -o requirements/run.lock
	$(UV) pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes --no-header -q -o requirements/dev.lock
	$(UV) pip compile pyproject.toml --all-extras --group dev --group bench --universal --python-version 3.11 --generate-hashes --no-header -q -o requirements/bench.lock
	$(UV) pip compile --group clients --universal --python-version 3.11 --generate-hashes --no-header -q -o requirements/clients.lock

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build

$(UV):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/uv.lock

$(VENV)/.run: requirements/run.lock pyproject.toml | $(UV)
	$(call install,run)

$(VENV)/.dev: requirements/dev.lock pyproject.toml $(VENV)/.clients | $(UV)
	$(call install,dev,--compile-bytecode)
	@touch $(VENV)/.run

# What generates clients from the OpenAPI document has an environment of its own, with other releases than the product.
$(VENV)/.clients: requirements/clients.lock | $(UV)
	@$(UV) venv -q --clear --python $(BIN)/python $(VENV)/clients
	@$(UV) pip install -q --python $(VENV)/clients/bin/python --require-hashes -r requirements/clients.lock
	@touch $@

$(VENV)/.bench: requirements/bench.lock pyproject.toml | $(UV)
	$(call install,bench,--compile-bytecode)
	@touch $(VENV)/.run $(VENV)/.dev

# The locked packages by hash, then this project itself, editable, without resolving anything again. Tests start many
# processes, which import the packages faster if these are compiled, even where Python may not write what it compiles.
define install
	@echo "Installing the packages of requirements/$(1).lock into $(VENV)"
	@$(UV) pip install -q --python $(BIN)/python $(2) --require-hashes -r requirements/$(1).lock
	@$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@
endef
