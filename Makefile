# make assess   set up, run the built-in example through the node and the host, print one report
# make picture  save that report as docs/report.svg
# make test     set up, check style and types, run every test
# make bench    print every figure beside its limit
# make instructions  count what every estimator costs on the node again, rewrite docs/instructions.md
# make clean    remove what was set up

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
RUNS := .venv/.runs
TESTS := .venv/.tests

.PHONY: help venv engines assess picture test lint bench instructions clean

help:
	@sed -n 's/^# make/make/p' Makefile

venv: $(TESTS)

# What a user needs, and what tests need besides: kept apart, so that an assessment does not wait for test tools.
$(RUNS): pyproject.toml
	@test -n "$(PYTHON)" || { echo "streamgauge needs Python 3.11 or newer; none was found. Install one, or say PYTHON=/path/to/python." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments. Install its venv package (Debian, Ubuntu: python3-venv), or say PYTHON=/path/to/another." >&2; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || "$(PYTHON)" -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(TESTS): $(RUNS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# With CI set, an engine that cannot be had is an error; otherwise one sentence, and work goes on without it.
engines: $(RUNS)
	@$(BIN)/python tools/fetch_engines.py $(if $(CI),,--optional)

assess: engines
	@$(BIN)/streamgauge assess --example --node auto

picture: engines
	@mkdir -p docs
	@$(BIN)/streamgauge assess --example --node arm --svg docs/report.svg > /dev/null

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: venv engines lint
	$(BIN)/pytest -n 2 --dist worksteal

bench: venv engines
	@for bench in tools/bench/*_bench.py; do echo "== $$bench"; $(BIN)/python $$bench || over="$$over $$bench"; done; \
	test -z "$$over" || { echo "not within every limit:$$over"; exit 1; }

instructions: venv engines
	@$(BIN)/python tools/bench/instructions.py

clean:
	rm -rf .venv .engines .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
