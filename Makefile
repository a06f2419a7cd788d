# Two commands for a fresh machine with Python 3.11 or newer: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

MINUTES ?= 10
SEED ?= 0

# a test or more of every package that a bound is given for
OLDEST_TESTS := $(patsubst %,tests/test_%.py,additive cli dashboard forest gp importers_optuna importers_table \
	plots report run_plots shapley space stills words)

.PHONY: demo test test-all lint types tests oldest botorch fuzz pages browser docs dist try-dist clean

demo: $(VENV)/installed
	@mkdir -p demo
	$(BIN)/python examples/tune_svm.py demo/study.db
	$(BIN)/hyperlens explain demo/study.db --html demo/report.html --json demo/report.json
	@echo "Open it in a browser: $(CURDIR)/demo/report.html"

test: lint types tests

test-all: export HYPERLENS_INSTALL := yes
test-all: test # the same, and as root it installs the browser that some tests need

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

unexport PYTHONDONTWRITEBYTECODE # hundreds of short processes: compile once
tests: export OMP_NUM_THREADS := 1 # two workers have two cores
tests: export OPENBLAS_NUM_THREADS := 1
tests: $(VENV)/installed-dev browser
	$(BIN)/pytest -n 2 --dist worksteal $(PYTEST)

OLDEST := .venv-oldest
# what two versions of Numba compile of one source they keep in files of one name
oldest: export NUMBA_CACHE_DIR := $(CURDIR)/$(OLDEST)/compiled
oldest: # the oldest versions that pyproject.toml allows, with Python 3.11, for which all of them were built
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check -c $(OLDEST)/oldest.txt \
		-e '.[parquet,stills]' hypothesis pytest
	$(OLDEST)/bin/pytest -W default $(or $(PYTEST),$(OLDEST_TESTS)) # old packages warn of newer ones

BOTORCH := .venv-botorch
botorch: # models of BoTorch as surrogates, in an environment of its own: its packages are large
	$(PYTHON) -m venv $(BOTORCH)
	$(BOTORCH)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e . botorch hypothesis pytest
	$(BOTORCH)/bin/pytest -W default tests/botorch_models.py

fuzz: $(VENV)/installed-dev # odd studies against every analysis; what is wrong is written to fuzz/
	$(BIN)/python tests/odd_studies.py --minutes $(MINUTES) --seed $(SEED) --corpus fuzz

pages: $(VENV)/installed-dev # what docs/architecture.md and docs/references.md show of the source
	$(BIN)/python tests/house_pages.py

docs: $(VENV)/installed-docs # the documentation as a site in site/, with pictures drawn now; needs no network
	$(BIN)/python examples/gallery.py docs/gallery
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open it in a browser: $(CURDIR)/site/index.html"

dist: $(VENV)/installed-dev # wheel and sdist in dist/, and what is in them checked
	rm -rf dist build src/*.egg-info/SOURCES.txt
	$(BIN)/python -m build --no-isolation --outdir dist . >dist.log 2>&1 || { cat dist.log; exit 1; }
	@rm -f dist.log
	$(BIN)/python tests/delivered.py

try-dist: dist # the wheel in an empty environment
	$(BIN)/python tests/delivered.py --try

browser: # the pages are tested in a real one; it is installed only where HYPERLENS_INSTALL is set
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ [ -n "$$HYPERLENS_INSTALL" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		echo "Installing chromium for the browser tests" && \
		apt-get install --yes --quiet --quiet --no-install-recommends chromium >/dev/null; } || \
		echo "There is no chromium, so the browser tests will be skipped; as root, 'make test-all' installs it"

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

$(VENV)/installed-docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs,stills]'
	@touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) $(OLDEST) $(BOTORCH) demo build dist site docs/gallery
