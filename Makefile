# Two commands do all the set-up on a fresh machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
JOBS ?= 4 # more than cores: many tests wait for processes, sockets and clocks

.PHONY: demo test lint unit check test-slurm faults bench generated clean help

help: ## Say what there is to make.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(READY) ## Plan, apply, drift by hand, plan, apply, clean: on clusters.d, against the embedded emulator.
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash docs/demo.sh

test: lint unit ## Everything that can be tested without root.

lint: $(READY) ## Formatting, lint, types, import directions, workflows.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/actionlint
	$(BIN)/zizmor --offline --quiet --min-severity medium .github

unit: $(READY) ## All tests but those of a real Slurm's own set-up; with coverage, but for the faults, which would take longer.
	$(BIN)/pytest -n $(JOBS) --dist loadgroup -m "not slurm" --ignore tests/faults --cov --cov-report=term
	$(BIN)/python tests/coverage_gate.py
	$(BIN)/pytest -n $(JOBS) --dist loadgroup tests/faults

test-slurm: $(READY) ## Install Debian's Slurm (as root) and prove the whole chain on it.
	bash tests/slurm/install-slurm.sh
	$(BIN)/pytest -m slurm -n 0 tests/slurm

faults: $(READY) ## The fault matrix, kills, fuzzing and the soak, with their totals.
	$(BIN)/python -m tests.faults

bench: $(READY) ## Measure, as ratios to a floor in the same run.
	$(BIN)/python -m benchmarks

generated: $(READY) ## Write docs/ and schemas/ anew from tables, models and options.
	$(BIN)/python docs/generate.py

clean: ## Remove what was made.
	rm -rf .venv build dist *.egg-info .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
