# For GNU make 3.81 and newer. `make` alone lists the targets.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

VENV_STAMP := $(VENV)/venv.stamp
RUN_STAMP := $(VENV)/run.stamp
DEV_STAMP := $(VENV)/dev.stamp
# Thousands of small stores are written, each to the disk: memory takes less time, where it has room.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print $$6}')
C_SOURCE := tracekit/compiled/tracekit.c
PYTEST = $(if $(MEMORY),TMPDIR=$(MEMORY)) $(BIN)/python -m pytest -n auto
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := build/lock/bin/uv pip compile --quiet --universal --upgrade --generate-hashes \
  --no-annotate --no-emit-index-url --python-version 3.11 --custom-compile-command 'make lock'
STORE := build/demo-store
H100 := fixtures/h100
TRACES := fixtures/torch_profiler

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep lint pytest fuzz smoke bench docs lock sbom clean
.NOTPARALLEL:

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*  ## /\1: /p' Makefile | awk -F ': ' '{printf "make %-9s %s\n", $$1, $$2}'

demo: $(RUN_STAMP)  ## read recordings of an H100 and of a CPU, and ask about them
	@rm -rf $(STORE)
	$(BIN)/tracekit ingest $(H100)/lstm/trace.json.gz --run lstm --store $(STORE)
	$(BIN)/tracekit ingest $(H100)/lstm/raw.csv.gz --run lstm-counted --store $(STORE)
	$(BIN)/tracekit ingest $(H100)/conv2d-tf32-b64/raw.csv.gz --run tf32 --store $(STORE)
	$(BIN)/tracekit ingest $(H100)/conv2d-fp16-b64/raw.csv.gz --run fp16 --store $(STORE)
	$(BIN)/tracekit ingest $(TRACES)/cpu-training/trace.json.gz --run cpu --store $(STORE)
	$(BIN)/tracekit runs --store $(STORE)
	$(BIN)/tracekit summary lstm --store $(STORE)
	$(BIN)/tracekit kernels --run lstm --top 10 --store $(STORE)
	$(BIN)/tracekit kernels --run lstm-counted --top 10 --store $(STORE)
	$(BIN)/tracekit query reported_op_time --run cpu --store $(STORE) | head -n 9
	$(BIN)/tracekit roofline tf32 fp16 --by class --store $(STORE)
	@echo
	@echo 'What to type next, with a trace of your own in place of these:'
	@echo '  $(BIN)/tracekit advise lstm --store $(STORE)'
	@echo '  $(BIN)/tracekit query gpu_utilization --run lstm --store $(STORE)'
	@echo '  $(BIN)/tracekit query launch_overhead --run lstm-counted --store $(STORE)'
	@echo '  $(BIN)/tracekit roofline fp16 --model hierarchical --store $(STORE) -o build/roofline.svg'
	@echo '  $(BIN)/tracekit sql "SELECT stream_id, count(*) AS kernel_count FROM kernel GROUP BY ALL" --store $(STORE)'
	@echo '  $(BIN)/tracekit queries'
	@echo '  $(BIN)/tracekit ingest YOUR-TRACE.json.gz'

test: lint pytest smoke  ## what each change must pass, up to the first failure

lint: $(DEV_STAMP)  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/sqlfmt --check --quiet queries
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/clang-format --dry-run --Werror $(C_SOURCE)
	command -v cc >/dev/null || exit 0; $(BIN)/clang-tidy --quiet $(C_SOURCE) -- -std=c11 -Wall -Wextra

# Tests start hundreds of processes: without bytecode, each would compile all modules anew.
pytest test-deep: export PYTHONDONTWRITEBYTECODE :=
pytest: $(DEV_STAMP)  ## the tests alone, without the deep ones; ARGS="-k name" picks some
	$(PYTEST) -m 'not deep' $(ARGS)

test-deep: $(DEV_STAMP)  ## the tests that explore (damage, kills, whole corpora), which CI runs, too
	$(PYTEST) -m deep $(ARGS)

fuzz: $(DEV_STAMP)  ## damaged inputs to every format; MINUTES=60 for an hour
	$(if $(MEMORY),TMPDIR=$(MEMORY)) $(BIN)/python -m tests.fuzz.run --minutes $(or $(MINUTES),1) $(ARGS)

smoke: $(DEV_STAMP)  ## build the wheel, install it in a clean place and use it
	$(BIN)/python tests/smoke/wheel_smoke.py

bench: $(DEV_STAMP)  ## time and memory on large inputs
	$(BIN)/python tests/benchmarks/run.py $(ARGS)

docs: $(DEV_STAMP)  ## check that the documentation says what the code does
	$(BIN)/python -m pytest tests/test_docs.py $(ARGS)

lock:  ## write the lock files anew: the newest versions of all packages, with their hashes
	'$(PYTHON)' -m venv build/lock && build/lock/bin/python -m pip install --quiet uv
	$(COMPILE) --extra dev pyproject.toml -o requirements-dev.lock
	$(COMPILE) --constraints requirements-dev.lock pyproject.toml -o requirements.lock

sbom:  ## write build/sbom.cdx.json: what tracekit is installed with, in CycloneDX
	'$(PYTHON)' -m venv build/sbom && build/sbom/bin/python -m pip install --quiet cyclonedx-bom
	build/sbom/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml \
	  --of JSON -o build/sbom.cdx.json

clean:  ## remove what make made, the virtual environment included
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find tracekit parsers queries tests fixtures -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps are redone when pyproject.toml or the C library changes. The demo needs no developer tools.
$(RUN_STAMP): pyproject.toml $(C_SOURCE) | $(VENV_STAMP)
	$(PIP) --editable .
	@touch $@

# What tests run with is what the lock says, to the byte. It has all dependencies: to look for them again, pip
# would take a newer coverage for coverage[toml] on the day one is released, and refuse it for its hash.
$(DEV_STAMP): pyproject.toml requirements-dev.lock $(C_SOURCE) | $(VENV_STAMP)
	$(PIP) --no-deps --require-hashes --requirement requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(RUN_STAMP) $@

$(VENV_STAMP):
	@command -v '$(PYTHON)' >/dev/null || { \
	  echo 'No $(PYTHON) here. Name a Python 3.11 or newer: make PYTHON=/path/to/python3 ...' >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "tracekit needs Python 3.11 or newer; $(PYTHON) is `'$(PYTHON)' -V 2>&1`. Name another: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@'$(PYTHON)' -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo 'This $(PYTHON) has no venv module: install it (Debian, Ubuntu: python3-venv), or name another: make PYTHON=/path/to/python3 ...' >&2; exit 1; }
	'$(PYTHON)' -m venv $(VENV)
	@touch $@
