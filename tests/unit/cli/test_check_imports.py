"""Help, a plan, and a mistake in a world or a path cost no imports that they do not need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample_rows import row, write_run

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
PARSING = ("aiohttp", "duckdb", "hydra", "numpy", "openai", "pyarrow", "ray", "sqlglot")
FINDING = ("sqlalchemy", "jsonschema", "synth.core.validation", "synth.agent")
LAUNCHING = ("aiohttp", "duckdb", "faker", "openai", "pyarrow", "ray", "sqlalchemy", "synth.launch")
PLANNING = ("aiohttp", "duckdb", "openai", "pyarrow", "ray")
READING = ("sqlalchemy", "hydra", "ray", "synth.core.validation", "synth.rewards")


@pytest.mark.parametrize(
    ("words", "code", "message", "unneeded"),
    [
        ("--help", 0, "commands:", ("hydra", "omegaconf", *LAUNCHING)),
        ("run --help", 0, "best_of_4", ("hydra", *LAUNCHING)),
        ("run sed=3", 2, "did you mean seed?", LAUNCHING),
        ("run --resume no/such/run", 2, "directory not found", ("hydra", *LAUNCHING)),
        ("run --resume complete", 0, "complete already", ("synth.launch",)),
        ("run --dry-run env=library tasks.count=2", 0, "2 rollouts", PLANNING),
        ("run env=library tasks.count=2 runtime=inline", 0, "2 of 2", ("pandas", "ray")),
        ("check world", 2, "tasks.yaml has no key 'familys'", PARSING),
        ("play world lend_book", 2, "tasks.yaml has no key 'familys'", PARSING),
        ("check nowhere", 2, "unknown world 'nowhere'", (*PARSING, *FINDING)),
        ("inspect --help", 0, "synth inspect out/ehr --failed", READING),
        ("inspect no_such_run", 2, "no_such_run", READING),
    ],
)
def test_a_command_imports_nothing_that_it_does_not_need(
    tmp_path: Path, words: str, code: int, message: str, unneeded: tuple[str, ...]
):
    shutil.copytree(EXAMPLES / "library", tmp_path / "world")
    write_run(tmp_path / "complete", [row(0)])
    tasks = tmp_path / "world" / "tasks.yaml"
    tasks.write_text(tasks.read_text("utf-8").replace("families:", "familys:"), "utf-8")
    script = (
        "import sys; from synth.__main__ import main; code = main();"
        f"print([name for name in {unneeded!r} if name in sys.modules], code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words.split()],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert message in done.stdout + done.stderr
    assert done.stderr.endswith(f"[] {code}\n"), done.stderr
