PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test docs bench clean

run: .venv/installed  ## Train VIGOR on the planar reacher with generated demonstrations.
	$(BIN)/vigor train planar-reacher
	@echo "The command is here as $(BIN)/vigor."

test: .venv/installed-test  ## All checks: style, types, imports between rooms, tests.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal  # Else every process compiles all sources again.

docs: .venv/installed-docs  ## The documentation site, without a network: examples run, a notebook, warnings as errors.
	$(BIN)/python docs/site/gallery.py
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going docs docs/_build
	$(BIN)/python docs/site/links.py docs/_build

bench: .venv/installed  ## Time of an iteration, its parts, and how it grows.
	$(BIN)/python benchmarks/speed.py --quick

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/installed-test: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .[test] torch==2.13.0
	touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .[docs]
	touch $@

clean:
	rm -rf .venv docs/_build docs/gallery docs/jupyter_execute runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
