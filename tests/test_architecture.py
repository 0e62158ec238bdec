"""The house keeps its shape: floors, wings, one door per dependency, light imports. Read by AST, nothing is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# From the ground up. A module imports from floors below its own only; a room is a folder or a file, named without its wing.
FLOORS: dict[str, list[set[str]]] = {
    "envs": [
        {"json_text"},
        {"errors", "types", "clock"},
        {
            "acceptance",
            "tool",
            "metrics",
            "audit",
            "sql_errors",
            "connection",
            "sql_script",
            "guard",
            "state",
            "processes",
        },
        {"toolbox", "sandboxes", "base", "seed_rows", "sql_critic"},
        {"executable", "sql_tools"},
        {"database", "databases"},
        {"folder", "asking"},
        {"reseed", "templates", "testing", "apart"},
    ],
    "synth": [
        {"errors", "types", "audit", "canonical", "nearest", "credentials", "scratch", "mistaken"},
        {"config_rules", "config_types", "shipped", "archive", "places"},
        {"config_agent"},
        {"config"},
        {"tasks", "dataset"},
        {"models", "verifiers", "run_files", "limits"},
        {"agent", "users"},
        {"episode"},
        {"admission", "rollout", "plan"},
        {"worker", "opening", "testing"},
        {"runtime", "progress", "report"},
        {"dispatch", "budget", "preparation"},
        {"session", "recording"},
        {"driver", "replay", "present_tasks", "serving"},
        {"grade"},
        {"cli", "__main__"},
    ],
}

DOORS = {
    "hydra": ["synth/cli/"],
    "omegaconf": ["synth/cli/"],
    "ray": ["synth/runtime/ray.py"],
    "openai": ["synth/models/openai.py"],
    "pyarrow": ["synth/dataset/"],
    "duckdb": ["synth/dataset/"],
    "faker": ["synth/tasks/fake.py"],
    "re2": ["synth/agent/middleware/grep.py"],
    "sqlglot": ["envs/sql_critic/"],
    "apsw": ["envs/sandboxes/", "envs/guard.py", "envs/apart.py", "envs/sql_script/engines.py"],
    "psycopg": ["envs/connection.py", "envs/sandboxes/"],
    "pymysql": ["envs/connection.py", "envs/sandboxes/"],
}

HEAVY = (
    "hydra",
    "omegaconf",
    "ray",
    "openai",
    "pyarrow",
    "duckdb",
    "apsw",
    "sqlalchemy",
    "sqlglot",
    "pydantic",
    "faker",
    "rich",
)


def modules(wing: str) -> list[Path]:
    return [each for each in sorted((ROOT / wing).rglob("*.py")) if "_shipped" not in each.parts]


def imports(file: Path) -> Iterator[tuple[str, ast.stmt, bool]]:
    """Every imported module, its statement, and whether it stands inside a function."""
    tree = ast.parse(file.read_text("utf-8"))
    inside = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield f"{node.module}", node, id(node) in inside


def room(file: Path) -> str:
    return file.relative_to(ROOT).parts[1].removesuffix(".py")


def floor(wing: str, name: str) -> int:
    found = [at for at, rooms in enumerate(FLOORS[wing]) if name in rooms]
    assert len(found) == 1, f"{wing}/{name} stands on no floor; give it one in this test"
    return found[0]


@pytest.mark.parametrize("wing", FLOORS)
def test_modules_import_only_from_floors_below(wing: str):
    wrong = []
    for file in modules(wing):
        own = room(file)
        if own == "__init__":
            continue
        for target, node, _ in imports(file):
            head, _, rest = target.partition(".")
            other = rest.split(".")[0]
            if head == wing and other and other != own and floor(wing, other) >= floor(wing, own):
                wrong.append(f"{file.relative_to(ROOT)}:{node.lineno} imports {target}")
    assert not wrong


def test_the_world_wing_knows_nothing_of_the_pipeline():
    wrong = [
        f"{file}:{node.lineno}"
        for file in modules("envs")
        for target, node, _ in imports(file)
        if target.split(".")[0] == "synth"
    ]
    assert not wrong


def test_every_dependency_has_one_door():
    wrong = []
    for file in [*modules("envs"), *modules("synth")]:
        place = file.relative_to(ROOT).as_posix()
        for target, node, _ in imports(file):
            doors = DOORS.get(target.split(".")[0])
            if doors is not None and not any(place.startswith(door) for door in doors):
                wrong.append(f"{place}:{node.lineno} imports {target}")
    assert not wrong


def test_no_import_hides_inside_a_function():
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno} imports {target}"
        for file in [*modules("envs"), *modules("synth")]
        for target, node, inside in imports(file)
        if inside
    ]
    assert not wrong


def test_no_room_has_a_name_that_says_nothing():
    nothing = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [file for file in [*modules("envs"), *modules("synth")] if nothing & {*file.parts, file.stem}]


@pytest.mark.parametrize("wing", FLOORS)
def test_importing_a_wing_stays_light(wing: str):
    code = f"import {wing}, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
