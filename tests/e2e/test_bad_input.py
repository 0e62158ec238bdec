"""Bad input: one clear message, exit code 2, no traceback, before any rollout starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import synth
from tests.unit import small_world

EHR = Path(__file__).parents[2] / "examples" / "ehr_db"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A copy of the shipped world to break."""
    shutil.copytree(EHR, tmp_path / "world", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "world"


def refused(cwd: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    """What a refused ``synth run`` says; there must be no dataset afterwards."""
    done = synth("run", "runtime=inline", *arguments, cwd=cwd, env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not list(cwd.rglob("*.parquet"))
    return done.stderr


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text, f"{file.name} does not hold {old!r}"
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_all_config_problems_come_together(tmp_path: Path):
    said = refused(
        tmp_path,
        "tasks.cuont=5",
        "model.temperature=hot",
        "agent.max_turns=-1",
        "runtime.kind=spark",
    )
    assert "did you mean tasks.count" in said
    for key in ("model.temperature", "agent.max_turns", "runtime.kind"):
        assert key in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["env=ehr"], ["ehr_db"]),
        (["env.path=nowhere"], ["nowhere"]),
        (["tasks.families=[record_heart_rat]"], ["record_heart_rate"]),
        (
            ["tasks.count=500", "tasks.families=[double_the_dose]"],
            ["500 is more than the families can supply", "double_the_dose 77"],
        ),
        (["seed=1,2"], ["-m"]),
        (["model=openai", "model.name=m"], ["OPENAI_API_KEY"]),
        (
            ["database=postgres", "database.dsn_env_var=NOT_SET_AT_ALL"],
            ["database.dsn_env_var", "NOT_SET_AT_ALL"],
        ),
        (["database=mariadb", "database.sandbox=pooling"], ["database.sandbox", "pooled"]),
        (["database.dsn_env_var=MY_DSN"], ["database.dsn_env_var: SQLite has no server"]),
        (
            [
                "model=openai",
                "model.name=m",
                "model.base_url=http://127.0.0.1:9/v1",
                "model.api_key_env=null",
            ],
            ["127.0.0.1:9"],
        ),
        (["model.api_key=sk-123"], ["api_key_env"]),
    ],
)
def test_a_wrong_argument_is_refused_by_name(
    tmp_path: Path, arguments: list[str], words: list[str]
):
    said = refused(tmp_path, *arguments, env={"OPENAI_API_KEY": ""})
    for word in words:
        assert word in said
    assert "sk-123" not in said


def break_schema(world: Path) -> None:
    edit(world / "schema.sql", "CREATE TABLE", "CREATE TABEL")


def break_seed(world: Path) -> None:
    with (world / "seed.sql").open("a", encoding="utf-8") as file:
        file.write("\nINSERT INTO no_such_table VALUES (1);\n")


def remove_seed(world: Path) -> None:
    (world / "seed.sql").unlink()


def break_code(world: Path) -> None:
    with (world / "executors.py").open("a", encoding="utf-8") as file:
        file.write("\nimport no_such_module_at_all\n")


def break_slot(world: Path) -> None:
    edit(world / "tasks.yaml", '"{name}: {bpm} bpm just now."', '"{name}: {bmp} bpm just now."')


def break_tool_name(world: Path) -> None:
    edit(
        world / "tasks.yaml",
        "- record_vitals: {patient_id: $pid, heart_rate:",
        "- record_vital: {patient_id: $pid, heart_rate:",
    )


def break_gold(world: Path) -> None:
    edit(
        world / "tasks.yaml",
        "- record_vitals: {patient_id: $pid, heart_rate:",
        "- record_vitals: {patient_id: 999999, heart_rate:",
    )


def break_tools_yaml(world: Path) -> None:
    (world / "tools.yaml").write_text(
        "- {name: extra, description: An extra tool., executor: executors.no_such_function}\n",
        "utf-8",
    )


def break_tool_schema(world: Path) -> None:
    (world / "tools.yaml").write_text(
        "- name: extra\n  description: An extra tool.\n  executor: executors.get_patient\n"
        "  parameters: {type: object, properties: {x: {type: whatever}}}\n",
        "utf-8",
    )


def break_yaml(world: Path) -> None:
    edit(world / "tasks.yaml", "families:", "families: [")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (break_schema, ["schema.sql:", "syntax error"]),
        (break_seed, ["seed.sql:", "no_such_table"]),
        (remove_seed, ["seed.sql"]),
        (break_code, ["executors.py:", "no_such_module_at_all"]),
        (break_slot, ["tasks.yaml:", "record_heart_rate", "bmp", "did you mean 'bpm'"]),
        (break_tool_name, ["tasks.yaml:", "record_vital", "record_vitals"]),
        (break_gold, ["record_heart_rate", "the gold call record_vitals fails"]),
        (break_tools_yaml, ["tools.yaml", "no_such_function"]),
        (break_tool_schema, ["extra", "must be a JSON Schema"]),
        (break_yaml, ["tasks.yaml:", "not valid YAML"]),
    ],
)
def test_a_broken_world_is_refused_with_its_place(
    tmp_path: Path, world: Path, spoil: Callable[[Path], None], words: list[str]
):
    spoil(world)
    said = refused(tmp_path, f"env.path={world}", "tasks.count=200")
    for word in words:
        assert word in said


def test_a_directory_that_holds_a_run_is_refused_with_the_way_out(tmp_path: Path):
    assert (
        synth("run", "runtime=inline", "tasks.count=3", "output.dir=run", cwd=tmp_path).returncode
        == 0
    )
    done = synth("run", "runtime=inline", "tasks.count=3", "output.dir=run", cwd=tmp_path)
    assert done.returncode == 2
    assert "--resume" in done.stderr
    assert "output.dir" in done.stderr


def test_resume_refuses_another_config_and_another_world(tmp_path: Path, world: Path):
    made = synth(
        "run",
        "runtime=inline",
        f"env.path={world}",
        "tasks.count=4",
        "output.dir=run",
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    done = synth("run", "--resume", "run", "tasks.count=9", cwd=tmp_path)
    assert done.returncode == 2
    assert "tasks.count: 4 -> 9" in done.stderr
    edit(world / "policy.md", "\n", "\nAnother rule.\n")
    next((tmp_path / "run").rglob("*-of-*.parquet")).unlink()  # something is left to resume
    done = synth("run", "--resume", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "policy.md" in done.stderr


def test_a_refused_launch_leaves_its_directory_free(tmp_path: Path):
    refused(
        tmp_path,
        "model=openai",
        "model.name=m",
        "model.base_url=http://127.0.0.1:9/v1",
        "model.api_key_env=null",
        "output.dir=run",
    )
    assert (
        synth("run", "runtime=inline", "tasks.count=3", "output.dir=run", cwd=tmp_path).returncode
        == 0
    )


def test_debug_shows_the_traceback(tmp_path: Path):
    done = synth("--debug", "run", "env.path=nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr


def test_a_task_that_cannot_be_proved_names_the_worlds_own_file_and_the_universe(tmp_path: Path):
    """A worker unpacks the world to a scratch folder, which nobody could open afterwards."""
    rows = "def rows(universe, random):\n    for n, name in enumerate(['Box 2', 'Box']):\n"
    row = "        yield 'items', {'item_id': 100 + n, 'name': name, 'price': n}\n"
    (small_world.make(tmp_path / "world") / "seed.py").write_text(rows + row, "utf-8")
    said = refused(
        tmp_path, "env.path=world", "tasks.families=[price]", "tasks.universes=2", "tasks.count=4"
    )
    assert (
        "error: universe 1: world/tasks.yaml:16: family price: the oracle price says 1, gold"
        " submits"
    ) in said


@pytest.mark.parametrize("engine", ["postgresql", "mysql"])
def test_a_server_that_is_not_there(tmp_path: Path, engine: str):
    config = "postgres" if engine == "postgresql" else engine
    place = {"MY_DSN": f"{engine}://somebody:hunter2@127.0.0.1:9/"}
    said = refused(tmp_path, f"database={config}", "database.dsn_env_var=MY_DSN", env=place)
    assert "cannot connect to" in said
    assert "hunter2" not in said
