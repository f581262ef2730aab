# One environment, .venv: `make demo` installs the package alone, the rest adds the developers' tools.

PYTHON ?= python3
WORKERS ?= auto
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install -q -c constraints.txt

.PHONY: help demo test check build browser docs bench bench-1m clean

help:  ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | awk -F '\t' '{printf "make %-8s %s\n", $$1, $$2}'

demo: .venv/.installed-core  ## install, then label 1,797 digits from 2 % of their labels
	@rm -rf runs/demo
	$(BIN)/manyview fit digits --label-ratio 0.02 --out runs/demo
	@echo "Open runs/demo/report.html in a browser."

test: .venv/.installed-dev  ## run all tests but the slow ones; real data from MANYVIEW_DATA
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --maxprocesses 4

check: .venv/.installed-dev  ## lint, formatting, spelling, imports, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/mypy

build: .venv/.installed-dev  ## make the wheel and the sdist in dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	@ls -l dist

browser:  ## install Chromium for the tests of our pages, where that is possible
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then \
	  echo "A browser for the tests is here."; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	    || echo "Chromium could not be installed; the tests of pages will be skipped."; \
	else \
	  echo "No Chromium here, so the tests of pages will be skipped; install it (Debian: sudo apt-get install chromium) to run them."; \
	fi

docs: .venv/.installed-dev  ## build the documentation into site/, without a network
	NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html in a browser."

bench: .venv/.installed-dev  ## measure speed, memory and growth; go on where it was stopped
	$(BIN)/python benchmarks/run.py all

bench-1m: .venv/.installed-dev  ## measure growth up to one million samples
	$(BIN)/python benchmarks/run.py growth --million

clean:  ## remove what make made: .venv, caches, builds, site, runs/demo
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site runs/demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.created:
	@command -v $(PYTHON) >/dev/null || { echo >&2 \
	  "manyview needs Python 3.11 to 3.14, but there is no '$(PYTHON)' here; name yours: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { echo >&2 \
	  "manyview needs Python 3.11 to 3.14, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1); name another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo >&2 \
	  "'$(PYTHON)' lacks the venv module; install it (Debian, Ubuntu: apt install python3-venv) and try again."; exit 1; }
	$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/.installed-core: .venv/.created pyproject.toml constraints.txt
	@echo "Installing manyview into .venv; the first time this takes a few minutes, most of it for PyTorch."
	$(INSTALL) -e .
	@touch $@

.venv/.installed-dev: .venv/.created pyproject.toml constraints.txt
	@echo "Installing manyview and its tools into .venv; the first time this takes a few minutes."
	$(INSTALL) -e '.[dev]'
	@touch .venv/.installed-core $@
