# make help says what there is. Everything runs in .venv, which is made once, from constraints.txt.

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
SUBMISSION ?= handout
BACKEND ?= gloo
BUDGET ?= local
SEED ?= 0
RESULTS ?=
ISOLATE ?=
TESTS ?=
JOBS ?= 2
# of each function's mutants, make strength takes one in so many
EVERY ?= 5
SEEDS ?= 5

RUN := .venv/bin/python
MARK := .venv/.complete

.PHONY: help setup grade test test-all mutants strength seeds bench handout release clean

help: ## these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  options:  make grade SUBMISSION=folder-or-zip ONLY=all_reduce BACKEND=gloo|nccl BUDGET=local|full SEED=n ISOLATE=yes|no RESULTS=results.json"

setup: $(MARK) ## the environment alone (.venv; torch is the large part)

# The mark comes last: an interrupted set-up goes on where it stopped.
$(MARK): constraints.txt pyproject.toml
	@echo "setting up .venv, once"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 2; }
	@test -x $(RUN) || $(PYTHON) -m venv .venv
	@$(RUN) -m pip install -qq --disable-pip-version-check --constraint $(CONSTRAINTS) $$($(RUN) autograder/requirements.py)
	@touch $(MARK)

grade: $(MARK) ## grade handout/, or SUBMISSION=..., and say where it stands
	@$(RUN) -m autograder grade "$(SUBMISSION)" $(foreach id,$(ONLY),--only "$(id)") --backend $(BACKEND) --budget $(BUDGET) --seed $(SEED) $(if $(ISOLATE),$(if $(filter no,$(ISOLATE)),--no-isolate,--isolate)) $(if $(RESULTS),--results "$(RESULTS)")

test: $(MARK) ## the kit's own tests
	@$(RUN) -m pytest -n $(JOBS) $(TESTS)

test-all: $(MARK) ## the same, with every wrong submission and every schedule (long)
	@$(RUN) -m pytest -n $(JOBS) -m "" $(TESTS)

mutants: $(MARK) ## which small changes of the solutions no check notices (ONLY=problem-or-function; half an hour or more, goes on where it stopped)
	@$(RUN) -m autograder.authoring.strength mutants $(foreach id,$(ONLY),--only "$(id)")

strength: $(MARK) ## what each check catches, and what only it does (ONLY=problem; an hour or so, likewise)
	@$(RUN) -m autograder.authoring.strength matrix $(foreach id,$(ONLY),--only "$(id)") --every $(EVERY) $(if $(RESULTS),--results "$(RESULTS)")

seeds: $(MARK) ## whether wrong submissions are caught whatever the seed (ONLY=problem SEEDS=5; likewise)
	@$(RUN) -m autograder.authoring.strength seeds $(foreach id,$(ONLY),--only "$(id)") --seeds $(SEEDS)

bench: $(MARK) ## speed, as ratios measured in one run
	@$(RUN) tests/benchmarks/bench.py
	@$(RUN) tests/benchmarks/bench_all_reduce.py 64
	@$(RUN) tests/benchmarks/bench_simulator.py

handout: $(MARK) ## cut the stubs in handout/ out of solutions/
	@$(RUN) -m autograder handout

release: $(MARK) ## dist/handout.zip, what students receive
	@$(RUN) -m autograder release

clean: ## remove .venv, dist and caches
	rm -rf .venv dist .pytest_cache .hypothesis .strength
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
