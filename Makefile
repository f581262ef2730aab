# One environment, .venv: `make demo` installs the package, the other targets add the developer tools.

PYTHON ?= python3
WORKERS ?= auto
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install -q -c constraints.txt
# Some containers set it. Every command would then compile all that it imports again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --maxprocesses 4
CORE := layers graphs network self_training data # measured by `make coverage`

.PHONY: help demo test soak coverage check build browser docs bench bench-1m clean

help:  ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{printf "make %-9s %s\n", $$1, $$2}'

demo: .venv/.installed-core  ## install, then label 1,797 digits from 2% of their labels
	@rm -rf runs/demo
	$(BIN)/manyview fit digits --label-ratio 0.02 --out runs/demo
	@echo "Open runs/demo/report.html in a browser."

test: .venv/.installed-dev  ## run all tests except the slow ones; real data from MANYVIEW_DATA
	$(PYTEST)

soak: .venv/.installed-dev  ## attack it at length; SEED, COUNT (cases of each), RECORD=1 and ONLY="NAME ..."
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soak $(ONLY) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--cases $(COUNT)) $(if $(RECORD),--record)

coverage: .venv/.installed-dev  ## run the tests of the core and print their coverage
	$(PYTEST) $(CORE:%=tests/%) $(CORE:%=--cov=manyview.%) --cov-report=term

check: .venv/.installed-dev  ## lint, formatting, spelling, imports, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/codespell
	$(BIN)/lint-imports
	$(BIN)/mypy

build: .venv/.installed-dev  ## build the wheel and the sdist into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	@ls -l dist

browser:  ## install Chromium for the browser tests, where possible
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then \
	  echo "Found a browser for the tests."; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	    || echo "Chromium could not be installed; the browser tests will be skipped."; \
	else \
	  echo "Found no Chromium; the browser tests will be skipped. Install it to run them (Debian: sudo apt-get install chromium)."; \
	fi

docs: .venv/.installed-dev  ## build the documentation into site/, without a network
	NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html in a browser."

bench: .venv/.installed-dev  ## measure speed, memory and growth; continues where it stopped
	$(BIN)/python benchmarks/run.py all

bench-1m: .venv/.installed-dev  ## measure growth up to one million samples
	$(BIN)/python benchmarks/run.py growth --million

clean:  ## remove .venv, caches, builds, site and runs/demo
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist site runs/demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.created:
	@command -v $(PYTHON) >/dev/null || { echo >&2 \
	  "manyview needs Python 3.11 to 3.14, but '$(PYTHON)' was not found. Pass its path: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { echo >&2 \
	  "manyview needs Python 3.11 to 3.14, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Pass another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo >&2 \
	  "'$(PYTHON)' has no venv module. Install it (Debian, Ubuntu: apt install python3-venv) and try again."; exit 1; }
	$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/.installed-core: .venv/.created pyproject.toml constraints.txt
	@echo "Installing manyview into .venv. The first time this takes a few minutes, most of them for PyTorch."
	$(INSTALL) -e '.[tables]'
	@touch $@

.venv/.installed-dev: .venv/.created pyproject.toml constraints.txt
	@echo "Installing manyview and its tools into .venv. The first time this takes a few minutes."
	$(INSTALL) --no-compile -e '.[dev]' # compiling all of it takes minutes; Python does so on import
	@touch .venv/.installed-core $@
