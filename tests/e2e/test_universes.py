"""Several universes, several splits: each task in its own database, and nothing of one split in
another.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from envs.types import Limits, Pins
from envs.world.loader import load_world
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import TaskTable
from synth.core.foundation.shipped import find_world
from tests.documents import marked
from tests.e2e.command import synth
from tests.unit import small_world

SEED = """\
WHAT = ["Bench", "Shelf", "Stool"]


def rows(universe, random):
    for n in range(12):
        yield "items", {
            "item_id": universe * 1000 + n,
            "name": f"{random.choice(WHAT)} {universe}{n:02}",
            "price": random.randrange(100, 9000) / 100,
            "colour": "red",
        }
"""
SPLITS = {"train": [0, 1, 2], "test": [3]}
OPTIONS = ("tasks.universes=4", "tasks.splits={train:[0,1,2],test:[3]}", "runtime=inline")
SHARES = (150, 50)
HELD_OUT = "stock_count"

Table = set[tuple[Any, ...]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small world of our own in it, ``world``."""
    made = tmp_path_factory.mktemp("universes")
    (small_world.make(made / "world") / "seed.py").write_text(SEED, "utf-8")
    return made


@pytest.fixture(scope="module")
def run(home: Path) -> Path:
    """A finished run over three universes to train on and one to test on."""
    synth(
        "run", "env=shop", *OPTIONS, f"tasks.held_out={HELD_OUT}", f"tasks.count={sum(SHARES)}",
        "seed=3", "output.rows_per_shard=64", "output.dir=runs/shop", cwd=home, timeout=900,
    )  # fmt: skip
    return home / "runs" / "shop"


@pytest.fixture(scope="module")
def databases() -> dict[int, dict[str, Table]]:
    """Every row of every table of every universe of the run's world."""
    world = load_world(find_world("shop"))
    out: dict[int, dict[str, Table]] = {}
    for universe in range(4):
        with (
            world.template(universe=universe) as template,
            template.open(Pins()) as sandbox,
            sandbox.transaction(Limits(max_rows=None)) as transaction,
        ):
            ask = transaction.connection.exec_driver_sql
            out[universe] = {
                name: {tuple(row) for row in ask(f'SELECT * FROM "{name}"')}
                for name in template.tables
            }
    return out


def entities(databases: Mapping[int, Mapping[str, Table]]) -> set[str]:
    """The tables that hold rows of a universe's own; the others are reference data and equal in all
    of them.
    """
    return {
        name
        for name in databases[0]
        if any(databases[0][name] != each[name] for each in databases.values())
    }


def test_no_task_and_no_name_of_one_split_is_in_the_other(
    run: Path, databases: dict[int, dict[str, Table]]
):
    """Whoever is in the database that is tested on stands in no transcript that is trained on, and
    the other way round.
    """
    said = {"train": "", "test": ""}
    ids: dict[str, set[str]] = {"train": set(), "test": set()}
    for row in Dataset.open(run).rows(columns=["split", "task_id", "messages"]):
        said[row["split"]] += json.dumps(
            [each for each in row["messages"] if each["role"] != "system"], ensure_ascii=False
        )
        ids[row["split"]].add(row["task_id"])
    assert not ids["train"] & ids["test"]
    checked = 0
    for split, universes in SPLITS.items():
        (other,) = set(SPLITS) - {split}
        for name in names(databases, universes):
            assert re.search(rf"\b{re.escape(name)}\b", said[other]) is None, (
                f"{name} of {split} is spoken of in {other}"
            )
            checked += 1
    assert checked > 15


def names(databases: dict[int, dict[str, Table]], universes: list[int]) -> set[str]:
    """The names of the people in those universes."""
    assert "customers" in entities(databases)
    return {row[1] for universe in universes for row in databases[universe]["customers"]}


def test_files_counts_and_card_tell_the_splits_apart(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    train, test = SHARES
    manifest = json.loads((run / "manifest.json").read_text())
    counts = {
        name: (split["jobs"], split["rows"]) for name, split in manifest["counts"]["splits"].items()
    }
    assert counts == {"train": (train, train), "test": (test, test)}
    files = [each.name for each in sorted((run / "data").glob("*.parquet"))]
    of = {name: -(-size // 64) for name, size in (("test", test), ("train", train))}
    assert files == [
        f"{name}-{n:05d}-of-{size:05d}.parquet" for name, size in of.items() for n in range(size)
    ]
    tasks = list(TaskTable(run / "tasks.parquet").rows())
    assert [task["split"] for task in tasks] == ["train"] * train + ["test"] * test
    assert all(task["universe"] in SPLITS[task["split"]] for task in tasks)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    loaded = datasets.load_dataset(str(run), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in loaded.items()} == {"train": train, "test": test}
    assert set(loaded["test"]["universe"]) == {3}


def test_a_held_out_family_is_tested_and_never_trained(run: Path):
    of = {"train": set[str](), "test": set[str]()}
    for row in Dataset.open(run).rows(columns=["split", "family"]):
        of[row["split"]].add(row["family"])
    assert of["test"] - of["train"] == {HELD_OUT}
    assert of["train"] < of["test"]


def test_the_seed_py_of_the_docs_makes_universes(tmp_path: Path):
    """On the library that ships, with its members taken from the data as the page says."""
    world = tmp_path / "library"
    world.mkdir()
    for name in ("schema.sql", "seed.sql", "policy.md", "executors.py", "tools.yaml", "tasks.yaml"):
        shutil.copy(find_world("library") / name, world / name)
    tasks = (world / "tasks.yaml").read_text("utf-8")
    listed = "{name: {choice: [Ada Kern, Ben O'Hara, Chloé Ruiz]}}"
    assert listed in tasks
    (world / "tasks.yaml").write_text(
        tasks.replace(listed, "{name: {sql: SELECT name FROM members}}"), "utf-8"
    )
    (world / "seed.py").write_text(marked("universes", "seed.py"), "utf-8")
    done = synth(
        "run", "env.path=./library", *OPTIONS, "tasks.count=40", "output.dir=out", cwd=tmp_path
    )
    assert "100.0% successful" in done.stdout
    of = {
        row["split"]: row
        for row in Dataset.open(tmp_path / "out").rows(columns=["split", "universe"])
    }
    assert {split: row["universe"] for split, row in of.items()} == {"train": 2, "test": 3}


def test_an_episode_by_hand_in_another_universe(home: Path):
    import synth as library

    with library.open(home / "world", family="plan", universe=2) as episode:
        assert episode.task.universe == 2
        assert re.search(r"\b2\d\d\b", episode.task.prompt)
