# Each target sets up what it needs in .venv: Python 3.11 or newer and make are enough.
PYTHON ?= python3
UV_VERSION := 0.13.7
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := --require-hashes -r requirements.lock
PYTEST := $(BIN)/python -m pytest
# Some machines forbid it, and then every process that a test starts compiles all of Textual again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup run test coverage test-slow lint format kubo cluster bench faults screenshots snapshots lock release clean

help:  ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## Prepare .venv (every target does this by itself)

# The lock names every version and hash; uv only makes the same installation faster than pip does. Behind a company's
# proxy, only the system's certificates are right, and uv knows nothing of the index that pip was told to use.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'pinui needs Python 3.11 or newer: make PYTHON=/path/to/python3.x'; exit 1; }
	@echo 'Installing packages into $(VENV), once: this can take a minute.'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) uv==$(UV_VERSION) >/dev/null 2>&1 && \
	  $(BIN)/uv pip install --quiet --system-certs --compile-bytecode --python $(BIN)/python $(LOCKED) 2>/dev/null || \
	  { echo 'uv could not install the packages: pip does it, which takes longer'; $(PIP) $(LOCKED); }
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(READY)

run: $(READY)  ## Open pinui on the embedded node, ready to use
	@$(BIN)/pinui

# Most tests wait for a screen or a process, so four of them share two cores.
QUICK := $(PYTEST) -m 'not slow' -n 4 --dist loadgroup --ignore=tests/bench
test: $(READY)  ## Run the tests (a few minutes at most)
	$(QUICK) $(ARGS)

coverage: $(READY)  ## Find branches that no test takes, in the rooms without I/O
	$(QUICK) --cov --cov-report=term tests/unit tests/sdk tests/node $(ARGS)

test-slow: $(READY)  ## Run the long tests: kill loops, large files, fault storms
	$(PYTEST) -m slow -n 2 --dist loadgroup --ignore=tests/bench $(ARGS)

lint: $(READY)  ## Check style, types and the arrows between rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports --no-cache

format: $(READY)  ## Put the code in house style
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix --quiet .

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pinui
KUBO_VERSION := 0.41.0
KUBO := $(CACHE)/kubo-$(KUBO_VERSION)/ipfs
CLUSTER_VERSION := 1.1.6
CLUSTER := $(CACHE)/cluster-$(CLUSTER_VERSION)/ipfs-cluster-service
kubo: $(KUBO)  ## Build Kubo, a server for tests/real (needs Go and a few minutes)

cluster: $(CLUSTER)  ## Build IPFS Cluster, a server for tests/real (needs Go and a few minutes)

$(KUBO): MODULE := github.com/ipfs/kubo@v$(KUBO_VERSION)
$(KUBO): PACKAGE := github.com/ipfs/kubo/cmd/ipfs
$(CLUSTER): MODULE := github.com/ipfs-cluster/ipfs-cluster@v$(CLUSTER_VERSION)
$(CLUSTER): PACKAGE := github.com/ipfs-cluster/ipfs-cluster/cmd/ipfs-cluster-service

# A module of its own requires the version: `go install` asks for the list of versions, and some mirrors have none.
$(KUBO) $(CLUSTER):
	@mkdir -p $(@D)
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && cd "$$folder" && go mod init build && \
	  go mod edit -require=$(MODULE) && \
	  CGO_ENABLED=0 GOFLAGS='-mod=mod -buildvcs=false' go build -o $(@F) $(PACKAGE) && mv $(@F) $@

bench: $(READY) build/peers/.ready  ## Measure speed beside peers, in ten minutes, and write the table into README.md
	$(BIN)/python -m tests.bench $(ARGS)

build/peers/.ready: tests/bench/peers.txt
	$(PYTHON) -m venv build/peers
	build/peers/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

SEED ?= 1
COUNT ?= 400
faults: $(READY)  ## Replay a storm of network faults: make faults SEED=7 COUNT=500
	$(BIN)/python -m tests.faults.storm --seed $(SEED) --count $(COUNT)

screenshots: $(READY)  ## Draw screenshots/ with the tests' pilots
	$(BIN)/python -m tests.tui.screenshots

snapshots: $(READY)  ## Store the pictures of tests/tui/snapshots as the screens look now
	UPDATE_SNAPSHOTS=1 $(PYTEST) tests/tui/test_snapshots.py -n 2 $(ARGS)

lock: $(READY)  ## Regenerate requirements.lock from pyproject.toml
	$(BIN)/uv pip compile --quiet --system-certs --universal --generate-hashes --no-emit-index-url --no-header --no-annotate \
	  --python-version 3.11 --group dev -o requirements.lock pyproject.toml

release: $(READY)  ## Build wheel and sdist of a version that the changelog tells of; uploads nothing
	@$(BIN)/python -m tests.release

clean:  ## Remove .venv and everything else that was made
	rm -rf $(VENV) build dist .coverage .pytest_cache .ruff_cache .hypothesis
