# What a developer or a first-time user does, one word each. `make` alone lists the words.

# the first interpreter that is new enough; another one: make PYTHON=/path/to/python test
PYTHON ?= $(shell for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# uv installs in a third of pip's time; where it cannot, for want of an index that only pip is told of, pip does
INSTALL = { $(PIP) uv && $(BIN)/python -m uv pip install -q --python $(BIN)/python $(COMPILE) -e '.[$(EXTRAS)]'; } 2>/dev/null || $(PIP) -e '.[$(EXTRAS)]'
# what to test, and further options: make test TESTS=tests/kernels ARGS="-x -k cover"
TESTS ?= tests
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test lint coverage fuzz seeds mutants matrix docs wheel clean browser servers
.DELETE_ON_ERROR:

help:  ## list these words
	@sed -n 's/^\([a-z]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r word text; do \
		printf '  make %-10s %s\n' "$$word" "$$text"; done

demo: $(VENV)/.demo  ## anonymize the built-in hospital register; writes into shoal-demo/
	@$(BIN)/shoal warm-up demo
	@$(BIN)/shoal demo --force
	@echo "  $(BIN)/shoal serve shoal-demo        # the same in the browser"

# a worker that died is not replaced: xdist would give the test that killed it to the next one, for hours
# kernels are compiled ahead, once for both workers: a test of the web interface would wait for minutes
test: $(VENV)/.dev browser servers  ## run all tests; skipped ones are listed with their reasons
	@$(BIN)/shoal warm-up
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart=0 $(ARGS) $(TESTS)

lint: $(VENV)/.dev  ## check style, types and the layers
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo

coverage: $(VENV)/.dev  ## run the tests that need no compiled kernels with numba off; print the lines never run
	@$(BIN)/coverage erase
	@NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -q -n auto --dist loadfile --max-worker-restart=0 -m "not compiled" --ignore=tests/engines/spark $(ARGS) $(TESTS); \
		tests=$$?; $(BIN)/coverage combine --quiet && $(BIN)/coverage report --show-missing --skip-covered && exit $$tests

fuzz: $(VENV)/.dev  ## attack shoal with fresh tables and signals; more with ARGS="--tables 5000 --signals 300"
	@$(BIN)/python -m tests.fuzz $(ARGS)
	@$(BIN)/python -m pytest -q -n auto --hypothesis-profile=explore $(TESTS)

# every seed in turn; the tests without hypothesis know no seed. Another range: make seeds SEEDS="21 22 23"
SEEDS ?= 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
seeds: $(VENV)/.dev  ## run the tests of generated tables once more for each of twenty seeds
	@for seed in $(SEEDS); do echo "seed $$seed"; \
		$(BIN)/python -m pytest -q -n auto -m hypothesis --hypothesis-profile=seeds --hypothesis-seed=$$seed $(ARGS) $(TESTS) || exit 1; done

mutants: $(VENV)/.dev  ## break each guard a little and ask that a test notices
	@$(BIN)/python -m tests.tools.mutants $(ARGS)

matrix: | $(VENV)/pyvenv.cfg  ## run the tests with the oldest and the newest dependencies; one of them: ARGS=oldest
	@$(PYTHON) -m tests.tools.matrix $(ARGS)

docs: $(VENV)/.docs  ## build the documentation as a site in build/site/, without network; warnings are errors
	@$(BIN)/python -m sphinx -q -W --keep-going -c docs -b html . build/site && echo "build/site/index.html"

wheel: $(VENV)/.demo  ## build into dist/ a wheel with compiled kernels for this Python, numba and kind of processor
	@rm -rf build/wheel
	@$(BIN)/python -m pip wheel -qq --disable-pip-version-check --no-deps -w build/wheel .
	@$(BIN)/python -m shoal.compiling.warm_up.shipping build/wheel/*.whl --output dist

clean:  ## remove the environment and everything made by the other words
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.* htmlcov build dist shoal-demo .matrix
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "shoal needs Python 3.11 or later; name one with: make PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: EXTRAS := report,web
$(VENV)/.demo: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing shoal into $(VENV)"
	@$(INSTALL)
	@touch $@

$(VENV)/.docs: EXTRAS := pandas,docs
$(VENV)/.docs: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing shoal and what its documentation is built with into $(VENV)"
	@$(INSTALL)
	@touch $@

$(VENV)/.dev: EXTRAS := dev
$(VENV)/.dev: COMPILE := --compile-bytecode  # Python's remarks on the sources of others, made when they are compiled, fail no test
$(VENV)/.dev: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing shoal and the tools of its developers into $(VENV)"
	@$(INSTALL)
	@touch $@ $(VENV)/.demo $(VENV)/.docs

# tests look at rendered pages with Chromium; where it cannot be installed they are skipped, and say so
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium"; \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; } \
			>/dev/null 2>&1 || echo "Chromium could not be installed"; \
	fi

# tests write into real databases, each a server of its own, run Spark, which needs Java, and read releases with R; where they cannot be installed these tests are skipped, and say so
servers:
	@{ ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; } && command -v mariadbd >/dev/null && command -v java >/dev/null && Rscript -e 'library(haven); library(readr)' >/dev/null 2>&1 || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing PostgreSQL, MariaDB, Java and R"; \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql mariadb-server openjdk-17-jre-headless r-base-core r-cran-haven r-cran-readr; } \
			>/dev/null 2>&1 || echo "The databases, Java and R could not be installed"; \
	fi
