# make help says what there is. Everything runs in .venv, which is made once, from constraints.txt.

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
SUBMISSION ?= handout
BACKEND ?= gloo
BUDGET ?= local
SEED ?= 0
RESULTS ?=
ISOLATE ?=

RUN := .venv/bin/python
MARK := .venv/.complete
EXTRAS :=

.DEFAULT_GOAL := help
.PHONY: help setup grade clean

# What only who changes the assignment needs; students do not have it.
-include Makefile.dev

help: ## these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  options:  make grade SUBMISSION=folder-or-zip ONLY=all_reduce BACKEND=gloo|nccl BUDGET=local|full SEED=n ISOLATE=yes|no RESULTS=results.json"

setup: $(MARK) ## the environment alone (.venv; torch is the large part)

# The mark comes last: an interrupted set-up goes on where it stopped.
$(MARK): constraints.txt pyproject.toml
	@echo "setting up .venv, once"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 2; }
	@test -x $(RUN) || $(PYTHON) -m venv .venv
	@$(RUN) -m pip install -qq --disable-pip-version-check --constraint $(CONSTRAINTS) --editable '.$(EXTRAS)'
	@touch $(MARK)

grade: $(MARK) ## grade handout/, or SUBMISSION=..., and say where it stands
	@$(RUN) -m autograder grade "$(SUBMISSION)" $(foreach id,$(ONLY),--only "$(id)") --backend $(BACKEND) --budget $(BUDGET) --seed $(SEED) $(if $(ISOLATE),$(if $(filter no,$(ISOLATE)),--no-isolate,--isolate)) $(if $(RESULTS),--results "$(RESULTS)")

clean: ## remove .venv, dist and caches
	rm -rf .venv dist .pytest_cache .hypothesis .strength .mypy_cache .ruff_cache .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
