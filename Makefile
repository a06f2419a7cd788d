# Two commands for a fresh machine with Python 3.11 or newer: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types tests clean

demo: $(VENV)/installed
	@mkdir -p demo
	$(BIN)/python examples/tune_svm.py demo/study.db
	$(BIN)/hyperlens explain demo/study.db --html demo/report.html --json demo/report.json
	@echo "Open it in a browser: $(CURDIR)/demo/report.html"

test: lint types tests

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

tests: $(VENV)/installed-dev
	$(BIN)/pytest -n 2

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Hyperlens needs Python 3.11 or newer; name one with make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) demo build dist
