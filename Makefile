# `make demo` and `make test` are all a newcomer needs; each builds its own virtual environment from nothing.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
# Folders that some day hold no Python file would make mypy stop, so only those that do are named.
TYPED := langgraph_prefetch tests scripts $(sort $(dir $(wildcard examples/*.py benchmarks/*.py evals/*.py)))
PYTEST_ARGS ?=
DEMO_ARGS ?=

.PHONY: help
help:
	@echo "make demo         the agent bare and wrapped, side by side (DEMO_ARGS=... is passed on)"
	@echo "make demo-aws     the same across processes: Bedrock, SQS, DynamoDB and workers, all on this machine"
	@echo "make test         everything CI checks: lint, types, wheel, tests (PYTEST_ARGS=... is passed on)"
	@echo "make test-fast    the tests alone, without the slow ones"
	@echo "make lint         ruff: style and formatting     make format     apply what ruff can"
	@echo "make types        mypy, strictly, on everything that is Python"
	@echo "make docs-test    every snippet of the documentation and every example"
	@echo "make build        sdist and wheel into dist/     make wheel-test the built wheel, in an empty environment"
	@echo "make eval-smoke   every evaluation suite, small, on scripted models and the embedded database"
	@echo "make bench        the benchmarks                 make clean      remove all that the above made"

# ---- environment: made once, brought up to date when pyproject.toml changes; `make clean` first to change Python

$(VENV)/.made: pyproject.toml scripts/find-python.sh
	python=$$(PYTHON='$(PYTHON)' scripts/find-python.sh) && "$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made
	scripts/install.sh $(VENV) --editable '.[demo]'
	@touch $@

$(VENV)/.demo-aws: $(VENV)/.made
	scripts/install.sh $(VENV) --editable '.[aws,demo]'
	@touch $@ $(VENV)/.demo

$(VENV)/.dev: $(VENV)/.made
	scripts/install.sh $(VENV) --editable '.[aws,demo,dask,embedded,ingest,judges,minilm,serving,wordllama]' --group dev
	@touch $@ $(VENV)/.demo $(VENV)/.demo-aws

.PHONY: venv
venv: $(VENV)/.dev

# ---- use

.PHONY: demo
demo: $(VENV)/.demo
	$(BIN)/langgraph-prefetch demo $(DEMO_ARGS)

# The local queue and table have an environment of their own, which the script makes.
.PHONY: demo-aws
demo-aws: $(VENV)/.demo-aws
	server=$$(scripts/aws-server.sh ministack) && $(BIN)/python -m langgraph_prefetch.demo.aws --server "$$server" $(DEMO_ARGS)

.PHONY: bench
bench: $(VENV)/.dev
	@set -e; for file in $(sort $(wildcard benchmarks/*.py)); do echo "== $$file"; $(BIN)/python $$file; done

# ---- checks; pytest comes last so that its closing line ends the output

.PHONY: test
test: lint types wheel-test eval-smoke pytest

# Two local servers of SQS and DynamoDB, each in an environment of its own.
.tools/.aws: scripts/aws-server.sh
	scripts/aws-server.sh ministack >/dev/null
	scripts/aws-server.sh moto >/dev/null
	@touch $@

.PHONY: pytest
pytest: $(VENV)/.dev .tools/.aws
	$(BIN)/python -m pytest $(PYTEST_ARGS)

.PHONY: test-fast
test-fast: $(VENV)/.dev .tools/.aws
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

.PHONY: docs-test
docs-test: $(VENV)/.dev
	$(BIN)/python -m pytest tests/docs $(PYTEST_ARGS)

.PHONY: lint
lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: format
format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: types
types: $(VENV)/.dev
	$(BIN)/mypy $(TYPED)

SUITES := speed study quality cost intent

.PHONY: eval-smoke
eval-smoke: $(VENV)/.dev
	rm -rf build/eval-smoke && mkdir -p build/eval-smoke
	@set -e; for suite in $(SUITES); do echo "== $$suite"; \
		$(BIN)/langgraph-prefetch eval $$suite --smoke --out build/eval-smoke/$$suite \
			2>build/eval-smoke/$$suite.log || { cat build/eval-smoke/$$suite.log; exit 1; }; done

.PHONY: build
build: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --quiet >/dev/null

.PHONY: wheel-test
wheel-test: build
	scripts/test-wheel.sh "$$(ls dist/*.whl)"

.PHONY: clean
clean:
	rm -rf $(VENV) .tools dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
