PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test bench clean

run: .venv/installed  ## Train VIGOR on the planar reacher with generated demonstrations.
	$(BIN)/vigor train planar-reacher

test: .venv/installed-test  ## All checks: style, types, imports between rooms, tests.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal  # Else every process compiles all sources again.

bench: .venv/installed  ## Time of an iteration, its parts, and how it grows.
	$(BIN)/python benchmarks/speed.py --quick

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .[test] torch==2.13.0
	touch $@

clean:
	rm -rf .venv runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
