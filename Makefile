.PHONY: check fix test test-all test-long test-trixie test-sid test-mysql train-proof train-curve train-ablations train-renamings train-second-round train-grpo coverage house docs notebooks picture
UV := $(or $(wildcard .venv/bin/uv),uv)
RUN = $(UV) run --frozen --all-extras
PYTEST = $(RUN) pytest -n 2 --dist loadfile --no-loadscope-reorder
QUICK = env -u SYNTH_TEST_POSTGRES_URL -u SYNTH_TEST_MYSQL_URL -u SYNTH_REQUIRE_DATABASES

# Format, lint, types, structure, quick tests: what to run before a commit.
check:
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) pyright
	$(RUN) pytest tests/test_architecture.py tests/test_house.py
	$(MAKE) test

fix:
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

# Unit and contract tests, without servers, Ray or `datasets`: under 90 seconds on two cores.
test:
	$(QUICK) $(PYTEST) -m "not long and not ray and not slow" tests/unit tests/contract

# Everything that CI runs; server tests want SYNTH_TEST_POSTGRES_URL and SYNTH_TEST_MYSQL_URL.
test-all:
	$(RUN) pytest -n 4 --dist loadfile --no-loadscope-reorder

# The quick tests on Debian 13 (Python 3.13) and on sid (3.14); wants root and debootstrap.
test-trixie test-sid: test-%:
	.ci/debian $*

# The tests of attached databases on MySQL; wants root and debootstrap.
test-mysql:
	.ci/mysql

test-long:
	$(RUN) pytest -m long

# Studies with a small model (examples/training/studies), in out/; each goes on where it was stopped.
# STUDY="--scale 0.05 --tasks 4 --seeds 0" makes one small.
train-proof train-curve train-ablations train-renamings train-second-round: train-%:
	$(RUN) python examples/training/study.py examples/training/studies/$*.yaml out/$* $(STUDY)

# GRPO on a toy family, in out/grpo.
train-grpo:
	$(UV) venv -q --allow-existing out/grpo-venv
	$(UV) pip install -q --python out/grpo-venv/bin/python -r examples/training/requirements.txt -e .
	HF_HUB_OFFLINE=1 out/grpo-venv/bin/python examples/training/grpo.py out/grpo

# The share of lines and branches that the quick tests reach, with the processes that they start.
coverage:
	@mkdir -p out
	$(RUN) coverage erase
	$(QUICK) $(RUN) coverage run -m pytest -p no:xdist -m "not long and not ray and not slow" tests/unit tests/contract
	$(RUN) coverage combine -q
	$(RUN) coverage report > out/coverage.txt
	@cat out/coverage.txt

# The shape of the code base in figures; tests/test_house.py holds the bounds.
house:
	$(RUN) python -m tests.house

# The site in out/site, with the pages that are made from the code; a link that leads nowhere is an error.
docs:
	$(RUN) python docs/site/build.py

# Execute the notebooks in place, so that their outputs are those of now.
notebooks:
	$(RUN) python docs/site/notebooks.py

# The picture of a transcript in README.md.
picture:
	$(RUN) python docs/site/picture.py
