.PHONY: check fix test test-long
RUN = uv run --frozen --all-extras

check:
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) pyright
	$(RUN) pytest

fix:
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

test:
	$(RUN) pytest

test-long:
	$(RUN) pytest -m long
