.PHONY: check fix test test-long
RUN = uv run --frozen --all-extras

check:
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) pyright
	$(RUN) pytest -n 2 --dist loadfile

fix:
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

test:
	$(RUN) pytest -n 2 --dist loadfile

test-long:
	$(RUN) pytest -m long
