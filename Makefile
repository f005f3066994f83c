# Two entry points: `make dataset` and `make test`. Both set up .venv from requirements.lock; a second call skips what is done.
# uv, itself from the lock, installs the rest in a tenth of pip's time; pip does it where uv cannot, as with an index that only pip is told of.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export DVC_NO_ANALYTICS := 1
# Nothing is compiled when it is installed; without caches, each of the tests' many processes would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE
# Where CI is set, pytest writes a difference in full: of two parquet files, for an hour.
unexport CI BUILD_NUMBER

PYTEST := $(BIN)/pytest --dist worksteal --durations=15
# A third of the slow proofs' time is waiting, for servers that hang and processes that are killed: half as many workers more than cores.
WAITING = $(shell $(PYTHON) -c 'import os; cores = os.cpu_count() or 1; print(cores + cores // 2)')

EXTRAS := .venv-extras
BROWSER := .venv-browser

.PHONY: dataset test unit test-slow test-extras test-browser check style types imports templates generated lexicon lock advisories clean

dataset: $(STAMP)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro
	@$(BIN)/cxgen report sizes

# The checks run beside the tests, one at a time: a sixth of the tests' time is waiting.
test: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 unit check

unit: $(STAMP)
	$(PYTEST) -n auto -m "not slow"

# Proofs of what is shipped: datasets, the snapshot's rebuild, every pseudoword, kinds of faults and damage. Of many alike a sample is tried;
# CXGEN_PROOFS=all tries them all.
test-slow: $(STAMP)
	$(PYTEST) -n $(WAITING) -m slow

# Models of one's own machine, recipes, evaluation harnesses and a Ray cluster: torch, transformers, peft, minicons, lm-eval, inspect-ai and
# ray, in an environment of their own.
test-extras: $(EXTRAS)/.installed
	$(EXTRAS)/bin/python -m pytest -n 0 -m "hf or ray"

# The page and the form in headless Chromium: this machine's (apt-get install chromium), or CXGEN_BROWSER=PATH. Playwright, and axe-core, which looks
# for what keeps people out (where there is npm), stay out of the environment.
test-browser: $(BROWSER)/.installed
	PYTHONPATH=$(BROWSER) $(BIN)/pytest -n 0 -m browser -rs tests/test_browser.py

check: templates types imports style

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

templates: $(STAMP)
	$(BIN)/cxgen check

# For maintainers: the table of columns in docs/data.md.
generated: $(STAMP)
	$(BIN)/python -m tests.data_columns

# For maintainers: rebuild the committed lexicon snapshot from WordNet 3.0.
lexicon: $(STAMP)
	$(BIN)/cxgen lexicon build

# For maintainers. The second lock is for `make test-extras` and `make test-browser`; its packages cannot all be those of the first.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header
lock: $(STAMP)
	$(COMPILE) --extra dev pyproject.toml -o requirements.lock
	$(COMPILE) --extra dev --extra harness --extra ray --extra recipes --extra browser pyproject.toml -o requirements-extras.lock

# For maintainers: what the Python Packaging Advisory Database knows about the versions in both locks.
advisories: $(STAMP)
	$(BIN)/uv tool run pip-audit --disable-pip --require-hashes -r requirements.lock
	$(BIN)/uv tool run pip-audit --disable-pip --require-hashes -r requirements-extras.lock

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "cxgen needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r $(VENV)/uv.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock || \
	  $(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(EXTRAS)/.installed: requirements-extras.lock $(STAMP)
	$(PYTHON) -m venv $(EXTRAS)
	$(BIN)/uv pip install --quiet --python $(EXTRAS)/bin/python --require-hashes -r requirements-extras.lock || \
	  $(EXTRAS)/bin/python -m pip install --quiet --no-compile --require-hashes -r requirements-extras.lock
	$(EXTRAS)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(BROWSER)/.installed: requirements-extras.lock $(STAMP)
	mkdir -p $(BROWSER)
	sed -n '/^\(greenlet\|playwright\|pyee\|typing-extensions\)==/,/[^\]$$/p' requirements-extras.lock > $(BROWSER)/browser.txt
	$(BIN)/python -m pip install --quiet --upgrade --no-deps --require-hashes --target $(BROWSER) -r $(BROWSER)/browser.txt
	if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix $(BROWSER) axe-core@4; fi
	touch $@

clean:
	rm -rf $(VENV) $(EXTRAS) $(BROWSER)
