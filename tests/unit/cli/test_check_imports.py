"""A mistake in a world or a path is named without imports that it does not need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
UNNEEDED = ("aiohttp", "duckdb", "hydra", "numpy", "openai", "pyarrow", "ray", "sqlglot")
CODE = (
    "import sys; from synth.__main__ import main; code = main(sys.argv[1:]);"
    f"print([name for name in {UNNEEDED!r} if name in sys.modules], code)"
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "world"), "tasks.yaml has no key 'familys'"),
        (("play", "world", "lend_book"), "tasks.yaml has no key 'familys'"),
        (("check", "no_such_world"), "no_such_world"),
    ],
)
def test_a_mistake_is_named_without_imports_that_it_does_not_need(
    tmp_path: Path, words: tuple[str, ...], message: str
):
    shutil.copytree(EXAMPLES / "library", tmp_path / "world")
    tasks = tmp_path / "world" / "tasks.yaml"
    tasks.write_text(tasks.read_text("utf-8").replace("families:", "familys:"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert message in done.stderr
    assert done.stdout == "[] 2\n"


def test_an_unknown_world_is_named_before_the_databases_are_imported(tmp_path: Path):
    """Issue 38: `check nowhere` took twice the bound that was set for it."""
    unneeded = ("sqlalchemy", "jsonschema", "synth.core.validation", "synth.agent")
    code = CODE.replace(repr(UNNEEDED), repr(unneeded))
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "nowhere"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "unknown world 'nowhere'" in done.stderr
    assert done.stdout == "[] 2\n"


def test_inspect_imports_neither_databases_nor_validation(tmp_path: Path):
    unneeded = ("sqlalchemy", "hydra", "ray", "synth.core.validation", "synth.rewards")
    code = CODE.replace(repr(UNNEEDED), repr(unneeded))
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect", "no_such_run"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "no_such_run" in done.stderr
    assert done.stdout == "[] 2\n"
