# Everything a newcomer needs: `make demo` shows what the package does, `make test` checks it.
# Both build .venv on first use and reuse it afterwards, until pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FLOORS := .venv-floors
SPARK := .venv-spark
export NOISYPAIRS_DATA ?= $(if $(wildcard ../shared/data),$(abspath ../shared/data),)
# Small matrices on few cores: one thread per process is faster and repeatable.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types imports unit spark docs docs-quick dist mutants fuzz floors format bench fingerprint records clean

demo: $(VENV)/.app
	$(BIN)/noisypairs demo

test: lint types imports unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

# The tests of pair tables on a local Spark too; its environment has the extra, and needs Java.
# Without Java these tests are skipped and say so.
spark: $(SPARK)/.built
	$(SPARK)/bin/python -m pytest tests/tables

# The site in docs/_build/html, with every example of the gallery run; nothing is downloaded.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -j 2 docs docs/_build/html
	$(BIN)/python docs/building/links.py docs/_build/html
	$(BIN)/python docs/building/browser.py docs/_build/html
	cd docs && ../$(BIN)/python -m building.notebooks gallery

# The same without the gallery's longer examples: what CI builds.
docs-quick: $(VENV)/.docs
	DOCS_QUICK=1 $(BIN)/python -m sphinx -W --keep-going -q -j 2 docs docs/_build/quick
	$(BIN)/python docs/building/links.py docs/_build/quick
	$(BIN)/python docs/building/browser.py docs/_build/quick
	cd docs && DOCS_QUICK=1 ../$(BIN)/python -m building.notebooks gallery

# Wheel and sdist in dist/, checked, and the wheel tried in an environment of its own.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv --clear $(VENV)-dist
	$(VENV)-dist/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[app]"
	$(VENV)-dist/bin/python .ci/smoke.py

# Plant faults and print those that no test notices (docs/testing.md); MUTANTS='--only NAME' plants one.
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants $(MUTANTS)

# Damage files, pass them through every command, and keep what goes wrong (docs/testing.md).
MINUTES ?= 10
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ)

# All tests with the lowest versions that pyproject.toml allows; PYTHON=python3.13 tries another Python.
# Packages that nobody pins are new there, and warn about the old ones.
floors: $(FLOORS)/.built
	$(FLOORS)/bin/python -m pytest -n 2 --dist loadfile -W ignore::DeprecationWarning

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# BENCH=--quick tries every measurement at a small size.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/bench $(BENCH)

# Says which records behind the pages' figures are of this version, and how to renew the others.
records: $(VENV)/.dev
	$(BIN)/python benchmarks/stale.py

# Says which numbers a change alters: run it before and after.
fingerprint: $(VENV)/.dev
	$(BIN)/python benchmarks/fingerprint.py --compare benchmarks/records/fingerprint.json

clean:
	rm -rf $(VENV) $(VENV)-dist $(FLOORS) $(SPARK) dist docs/_build docs/gallery docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[app]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.app

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

$(FLOORS)/.built: pyproject.toml
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(FLOORS)/bin/uv pip install --quiet --python $(FLOORS) --resolution lowest-direct -e '.[dev]'
	@touch $@

$(SPARK)/.built: pyproject.toml
	$(PYTHON) -m venv --clear $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[app,spark]' 'pytest>=8.3'
	@touch $@
