# lookalike: every target has a line of help; `make` prints them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PEER   := .venvs/pycanon
SEEN   := $(VENV)/.browser
JAVA   := $(VENV)/.java
SERVER := $(VENV)/.postgresql
JOBS   ?= 2
BYTES  := $(VENV)/.bytecode
# Bytecode is compiled afterwards, on all cores and without the tests of other packages: pip would take three times as long.
PIP    := -m pip install --quiet --disable-pip-version-check --no-compile
COMPILE := -m compileall -q -j 0 -x '/tests?/'

.DEFAULT_GOAL := help
.PHONY: help setup fmt lint types test test-fast test-long test-nojit notebooks peer docs studio-fuzz audit-exam audit-mutants fuzz faults bench check demo dist known-flaws clean

help: ## show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) $(BYTES) ## make the virtual environment; leaves the command at .venv/bin/lookalike

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lookalike needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -f $@; echo "The venv module is missing (on Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }

$(BIN)/lookalike: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing lookalike and what it needs into $(VENV), which takes some minutes the first time ..."
	$(BIN)/python $(PIP) -e .
	@$(BIN)/python $(COMPILE) $(VENV)/lib > /dev/null || true
	@touch $@

# PySpark comes as a source package, of which pip makes a wheel first: unpacked at once, so packing it is time lost.
$(STAMP): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing lookalike, what it needs and what its checks need into $(VENV), which takes some minutes ..."
	-$(BIN)/python $(PIP) --config-settings=--build-option=--compression=stored 'pyspark>=4.0,<5'
	$(BIN)/python $(PIP) -e '.[dev]'
	@$(BIN)/python $(COMPILE) $(VENV)/lib > /dev/null || true
	@touch $(BIN)/lookalike $@

# Where Python writes no bytecode itself (PYTHONDONTWRITEBYTECODE, usual in containers), every command would compile anew.
$(BYTES): $(shell find src -name '*.py') | $(VENV)/pyvenv.cfg
	@$(BIN)/python $(COMPILE) src
	@touch $@

demo: $(BIN)/lookalike $(BYTES) ## publish the bundled sample; leaves release and report in ./demo
	$(BIN)/lookalike demo --out demo --overwrite

fmt: $(STAMP) ## format the code
	$(BIN)/ruff format src tests benchmarks fuzz notebooks scripts
	$(BIN)/ruff check --fix src tests benchmarks fuzz notebooks scripts

lint: $(STAMP) ## style and import layers
	$(BIN)/ruff format --check src tests benchmarks fuzz notebooks scripts
	$(BIN)/ruff check src tests benchmarks fuzz notebooks scripts
	$(BIN)/lint-imports

types: $(STAMP) ## mypy, strict, on the package
	$(BIN)/mypy

notebooks: $(STAMP) ## run the notebooks and store what comes out
	$(BIN)/python notebooks/refresh.py

peer: $(PEER)/.tried ## pyCANON in an environment of its own, for the test that compares audits

# pyCANON pins old releases of NumPy and pandas: it gets its own environment, and the tests talk to it by files.
$(PEER)/.tried: tests/peers/requirements.txt
	@mkdir -p $(PEER)
	@if $(PYTHON) -m venv $(PEER) && $(PEER)/bin/python $(PIP) -r $<; then \
	  touch $@; \
	else \
	  rm -f $(PEER)/bin/python; touch $@; \
	  echo "pyCANON could not be installed here; the test that compares audits with it will be skipped."; \
	fi

# A browser of the Chromium family drives the studio in its tests and prints reports. As root on Debian it is installed.
$(SEEN): | $(STAMP)
	@if $(BIN)/python -c 'from lookalike.evaluation.report import find_browser; raise SystemExit(find_browser() is None)'; then \
	  touch $@; \
	elif command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ] && \
	  { apt-get install -y -q chromium || { apt-get update -q && apt-get install -y -q chromium; }; } > /dev/null 2>&1; then \
	  touch $@; \
	else \
	  echo "No Chromium, Chrome or Edge was found (on Debian: apt-get install chromium); the studio's tests in a browser will be skipped."; \
	fi

# Spark's tests need Java 17. As root on Debian it is installed; after the browser, since apt-get runs once at a time.
FIND_JAVA := $(BIN)/python -c 'from lookalike.pipeline.backends.spark_sessions import require_java; require_java()' 2> /dev/null
$(JAVA): | $(STAMP) $(SEEN)
	@if $(FIND_JAVA); then touch $@; exit 0; fi; \
	if command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	  for package in default-jre-headless openjdk-17-jre-headless; do \
	    { apt-get install -y -q $$package || { apt-get update -q && apt-get install -y -q $$package; }; } > /dev/null 2>&1; \
	    if $(FIND_JAVA); then touch $@; exit 0; fi; \
	  done; \
	fi; \
	echo "No Java 17 or newer was found (on Debian: apt-get install default-jre-headless; JAVA_HOME may name one); Spark's tests will be skipped."

# Tests of databases start a PostgreSQL of their own. As root on Debian it is installed; after Java, since apt-get runs once at a time.
FIND_SERVER := command -v postgres > /dev/null || ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1
$(SERVER): | $(STAMP) $(JAVA)
	@if $(FIND_SERVER); then touch $@; exit 0; fi; \
	if command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
	  { apt-get install -y -q postgresql || { apt-get update -q && apt-get install -y -q postgresql; }; } > /dev/null 2>&1; \
	  if $(FIND_SERVER); then touch $@; exit 0; fi; \
	fi; \
	echo "No PostgreSQL server was found (on Debian: apt-get install postgresql); its tests will be skipped."

test: $(STAMP) $(BYTES) $(PEER)/.tried $(SEEN) $(JAVA) $(SERVER) ## all tests
	@$(BIN)/lookalike warm-up
	$(BIN)/python -m pytest -n $(JOBS) --durations=25 --durations-min=2 --doctest-modules src tests

test-fast: $(STAMP) $(BYTES) ## unit and property tests in less than two minutes, with a quarter of the random examples: no browser, Spark, exams
	LOOKALIKE_EXAMPLES=0.25 $(BIN)/python -m pytest -n $(JOBS) --durations=10 --durations-min=2 -m "not slow" tests

test-long: $(STAMP) $(BYTES) ## all tests, with EXAMPLES (20) times as many random examples
	LOOKALIKE_EXAMPLES=$(or $(EXAMPLES),20) $(BIN)/python -m pytest -n $(JOBS) tests

test-nojit: $(STAMP) ## kernels as plain Python, under coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest tests/kernels tests/algorithms
	$(BIN)/python -m coverage report --include 'src/lookalike/kernels/*'

studio-fuzz: $(STAMP) ## try to break the studio's API, for minutes (the checks do it for seconds)
	LOOKALIKE_FUZZ=500 $(BIN)/python -m pytest -n $(JOBS) tests/apps/studio/test_fuzz.py

audit-exam: $(STAMP) peer ## thousands of true and tampered releases: the audit against an oracle (CASES=300 of each form) and pyCANON
	$(BIN)/python scripts/audit_exam.py $(or $(CASES),300)
	LOOKALIKE_PEER_CASES=$(or $(CASES),300) $(BIN)/python -m pytest -q tests/peers/test_pycanon.py

audit-mutants: $(STAMP) ## small mistakes put into the audit: does its exam notice each?
	$(BIN)/python scripts/audit_mutants.py

# Atheris is for this alone: the checks do without.
FUZZER := $(VENV)/.atheris
$(FUZZER): | $(STAMP)
	$(BIN)/python $(PIP) -r fuzz/requirements.txt
	@touch $@

SECONDS ?= 60
fuzz: $(FUZZER) ## hostile input on every door, for SECONDS each (60); prints inputs tried and faults found
	$(BIN)/python -m fuzz --seconds $(SECONDS)

FAULTS ?= 2000
faults: $(STAMP) ## kill, starve and refuse runs, and look at what they leave, for forty minutes or so (FAULTS=number)
	d=$$(mktemp -d) && $(BIN)/python tests/faults/folder_kills.py $$d; e=$$?; rm -rf $$d; exit $$e
	$(BIN)/python tests/faults/runs.py --count $(FAULTS) --jobs $(JOBS)

bench: $(STAMP) ## measure time, memory and loss (pass DATA=folder for your own tables)
	$(BIN)/python benchmarks/foundation.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/groups.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/studio.py

docs: $(STAMP) ## build the documentation as a site in ./site; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

dist: $(STAMP) ## build wheel and sdist twice, compare the bytes, install both in a clean environment
	$(BIN)/python scripts/check_dist.py dist

# pip-audit asks a service on the network about every package that is installed; it gets an environment of its own.
AUDIT := .venvs/pip-audit
$(AUDIT)/bin/pip-audit:
	@$(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/python $(PIP) 'pip-audit>=2.7,<3'

# Strict: a package that the service does not know counts as a failure, not as free of flaws.
known-flaws: $(STAMP) $(AUDIT)/bin/pip-audit ## ask for known vulnerabilities of all that is installed (needs a network)
	@$(BIN)/python -m pip freeze --exclude-editable > $(AUDIT)/installed.txt
	@$(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps -r $(AUDIT)/installed.txt || \
	  { echo "There are known flaws, or not every package could be asked about: see above. Without a network there is no answer."; exit 1; }

# Side by side what waits for nothing else: both environments; types and documents beside the tests.
check: ## everything that must pass before a merge
	@$(MAKE) --no-print-directory -j 2 setup peer
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 2 test types docs dist

clean: ## remove environments, caches and the demo
	rm -rf $(VENV) .venvs dist build site demo "demo PRIVATE" .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
