"""A mistake in a world or a path is named without imports that it does not need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
PARSING = ("aiohttp", "duckdb", "hydra", "numpy", "openai", "pyarrow", "ray", "sqlglot")
FINDING = ("sqlalchemy", "jsonschema", "synth.core.validation", "synth.agent")
READING = ("sqlalchemy", "hydra", "ray", "synth.core.validation", "synth.rewards")


@pytest.mark.parametrize(
    ("words", "message", "unneeded"),
    [
        (("check", "world"), "tasks.yaml has no key 'familys'", PARSING),
        (("play", "world", "lend_book"), "tasks.yaml has no key 'familys'", PARSING),
        (("check", "nowhere"), "unknown world 'nowhere'", (*PARSING, *FINDING)),
        (("inspect", "no_such_run"), "no_such_run", READING),
    ],
)
def test_a_mistake_is_named_without_imports_that_it_does_not_need(
    tmp_path: Path, words: tuple[str, ...], message: str, unneeded: tuple[str, ...]
):
    shutil.copytree(EXAMPLES / "library", tmp_path / "world")
    tasks = tmp_path / "world" / "tasks.yaml"
    tasks.write_text(tasks.read_text("utf-8").replace("families:", "familys:"), "utf-8")
    code = (
        "import sys; from synth.__main__ import main; code = main(sys.argv[1:]);"
        f"print([name for name in {unneeded!r} if name in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert message in done.stderr
    assert done.stdout == "[] 2\n"
