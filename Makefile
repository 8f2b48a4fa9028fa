# make demo   install, build the embedded snapshot, print its results      make test   install, run the tests
# make lint   style, types and workflow checks                            make bench  the benchmarks
# make test-long     the tests that take minutes  make test-cluster  the workflow on a real two-node Slurm, started here
# make pull   download the data of this commit, ready to use      make help   this list
# make site   the pages of docs as one site with a search, in site/index.html
# make full   the rest of the demo: the other tables and figures of AToMiC, a second collection, releases
# make witnesses     which tests notice when a record of docs/fidelity is made false
# make rehearsal     a twentieth of enwiki through all phases, killed and resumed, measured (SHARE=0.01: less)
# The newest of the tested Pythons, of which the first is that of an environment which is there.
TESTED := 3.14 3.13 3.12 3.11
PYTHON ?= $(or $(wildcard .venv/bin/python),$(shell .ci/find-python $(TESTED)))
BIN := .venv/bin
TESTS := tests/workflow tests/lib tests/sql workflow/plugins
FOLDERS := workflow/lib workflow/plugins workflow/scripts tests benchmarks docs .ci
LIBRARY := conftest.py $(FOLDERS)
export PATH := $(CURDIR)/$(BIN):$(PATH)
# The make of macOS looks for programs on this PATH only by a shell that it is told of.
SHELL := $(or $(wildcard /bin/bash),/bin/sh)
# Every job starts Python, which takes twice as long without compiled modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help venv demo full test test-long test-exhaustive test-library test-network test-cluster witnesses \
    lint lint-style lint-sql lint-types format java lock bench rehearsal pull pull-dvc docs site system

help:
	@head -8 Makefile | cut -c3-

# In a recipe this stops make before it runs the first line. 3.11.2 is Debian 12's.
PRINT := import sys, ensurepip; print("%d.%d.%d" % sys.version_info[:3])
VERSION = $(if $(PYTHON),$(shell $(PYTHON) -c '$(PRINT)' 2>/dev/null))
MINOR = $(basename $(VERSION))
FITTING = $(filter-out 3.11.0 3.11.1,$(filter $(TESTED:=.%),$(VERSION)))
SUPPORTED = $(if $(FITTING),,$(error $(or $(PYTHON),python3) \
    $(if $(VERSION),is Python $(VERSION),does not run or has no venv); \
    install Python 3.11.2 or later, 3.12, 3.13 or 3.14 (Debian and Ubuntu: apt install python3-venv; \
    macOS: brew install python@3.13), or name its path: make PYTHON=/path/to/python3.13))
# An environment of another Python is made anew.
CLEAR = $(if $(wildcard .venv/lib/python$(MINOR)),,--clear)
# Whatever is installed, its installer and what builds it included, has a hash in the lock.
HASHED := --preview-features build-dependency-hashes --require-build-hashes \
    --build-constraints requirements.lock

.venv/installed: requirements.lock pyproject.toml
	$(SUPPORTED)$(PYTHON) -m venv $(CLEAR) .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --require-hashes --requirement .venv/uv.lock
	@echo "installing what requirements.lock names for Python $(VERSION) in .venv"
	@$(BIN)/python .ci/uv.py $(BIN)/uv pip sync --compile-bytecode --python $(BIN)/python \
	    --require-hashes $(HASHED) requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(HASHED) --editable .
	# Of an earlier installation: releases are known to ir_datasets by an import.
	rm -f .venv/lib/python$(MINOR)/site-packages/isotope_ir_datasets.pth
	# Of a wheel that was built here, and before what is installed on some paths.
	rm -rf workflow/lib/isotope_ir.egg-info
	touch $@

venv: .venv/installed

demo: .venv/installed
	snakemake --cores all
	isotope report

full: .venv/installed
	snakemake --cores all --configfile params/full.yaml -- full
	isotope report

test: .venv/installed
	pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 \
	    $(TESTS)

# What a Python beside the oldest is tried with, after the demo that .ci/pythons builds.
test-library: .venv/installed
	pytest -n 2 --dist loadfile --no-loadscope-reorder --quiet tests/lib tests/sql workflow/plugins

# With the package index: what would be installed elsewhere, and the linter of .github.
test-network: .venv/installed
	pytest --quiet -m network tests/workflow

# Runs of the workflow beside the demo: with 1 and 16 shards, of two months and two collections, of
# other corpora and snapshots, by DVC, with 20,000 faults and kills, interrupted in every rule;
# trainings by two processes or stopped at more steps; and all pages in Chromium by eye and by keys.
test-long: .venv/installed
	pytest -n 2 --dist loadfile -m long --durations=10 $(TESTS)

# 10^5 changed pictures, 10^4 archives and replies, each poison of a server, 2,000 changed files of
# each other format: what other tests have a part of.
test-exhaustive: .venv/installed
	pytest -n 2 --dist load -m exhaustive --durations=10 $(TESTS)

# An hour: only what has changed is broken again, or all of it with AGAIN=--again.
witnesses: .venv/installed
	python tests/witnesses.py $(AGAIN)
	python docs/fidelity.py

# Chromium for the tests of pages, WordNet for those of failures; if they can't be installed, tests skip.
system:
	@{ command -v chromium-headless-shell && test -e /usr/share/wordnet/data.noun; } >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update \
	&& DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends \
	    chromium-headless-shell wordnet-base >/dev/null; } \
	|| echo "no way to install Chromium and WordNet here: their tests will skip"

# Side by side; what each prints stays together.
lint: .venv/installed
	@$(MAKE) --no-print-directory --jobs=2 \
	    $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) lint-style lint-types lint-sql

lint-style: .venv/installed
	ruff check $(LIBRARY)
	ruff format --check $(LIBRARY)
	snakefmt --check Snakefile workflow/rules workflow/plugins
	snakemake --lint
	lint-imports --no-cache
	deptry workflow/lib workflow/scripts workflow/plugins --extend-exclude 'workflow/plugins/.*/tests'
	deptry $(FOLDERS) --non-dev-dependency-groups dev,docs,bench
	python tests/typed_params.py
	python tests/names.py
	python tests/literal_paths.py
	python tests/prose.py
	python .ci/licences.py

lint-sql: .venv/installed
	sqlfluff lint --disable-progress-bar workflow/sql workflow/plugins

lint-types: .venv/installed
	pyright --stats

format: .venv/installed
	ruff check --fix $(LIBRARY)
	ruff format $(LIBRARY)
	snakefmt Snakefile workflow/rules workflow/plugins

# The runtime has no compiler, so the classes are in git; javac 17 makes the bytes that a test expects.
java: .venv/installed
	javac -g:none --release 17 -d workflow/lib/isotope/java \
	    -cp "$$(python -c 'from isotope.core import lucene; print(lucene.jar())')" \
	    workflow/lib/isotope/java/*.java

# For the platforms that .ci/lock.py names; the versions that are locked stay where they resolve.
# To upgrade, take them out of requirements.lock first.
lock: .venv/installed
	mkdir -p .isotope
	python .ci/lock.py --constraints requirements.lock > .isotope/locked.txt
	uv pip compile pyproject.toml --extra all --extra zim --group dev --group docs \
	    --format pylock.toml --python-version 3.11.2 --universal \
	    --constraints .isotope/locked.txt --no-header --no-annotate --quiet \
	    --output-file .isotope/pylock.toml
	python .ci/lock.py .isotope/pylock.toml > .isotope/requirements.lock
	mv .isotope/requirements.lock requirements.lock

bench: .venv/installed
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group bench
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv/pisa
	-$(BIN)/uv pip install --quiet --python .venv/pisa/bin/python pyterrier-pisa==0.4.9
	ISOTOPE_PISA=.venv/pisa/bin/python python benchmarks/run.py
	python docs/benchmarks.py
	python workflow/plugins/isotope_estimate/docs/full_size.py

# After an interruption of any kind the same command goes on: docs/rehearsal.md.
SHARE ?= 1
rehearsal: .venv/installed
	python benchmarks/rehearsal.py $(SHARE)

# Through DVC if it has a remote, else from the remote of ISOTOPE_REMOTE or params.yaml: docs/dvc.md.
pull: .venv/installed
	@if [ -n "$$(dvc config core.remote 2>/dev/null)" ]; then $(MAKE) --no-print-directory pull-dvc; \
	else isotope pull; fi

# Sets the times of the sources, then of every output in the order of the graph: docs/dvc.md.
pull-dvc: .venv/installed
	dvc pull
	git ls-files -z workflow runs judgements | xargs -0 touch -c
	snakemake --cores 1 --touch --forceall --quiet all -- full

# The pictures are of the demo's report, and taken by Chromium: after `make demo` and `make system`.
docs: .venv/installed
	python docs/parameters.py
	python docs/stages.py
	python docs/benchmarks.py
	python workflow/plugins/isotope_estimate/docs/full_size.py
	python docs/fidelity.py
	python .ci/licences.py --write
	python docs/images.py

# Of README and docs in site/index.html, without a network; the report of the demo with it, where that has run.
site: .venv/installed
	python docs/website.py

# A real Slurm of two nodes on this machine, for one test; if it can't be installed, the test skips.
test-cluster: .venv/installed
	@{ command -v munged && PATH=$$PATH:/usr/sbin command -v slurmctld; } >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get -qq update \
	&& DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 install \
	    --no-install-recommends slurm-wlm munge >/dev/null; } \
	|| echo "no way to install Slurm here: its test will skip"
	pytest -m slow tests/cluster
