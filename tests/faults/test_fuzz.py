"""Fuzzing of everything that reads text or bytes of others: it returns, or raises its own error.

The short form draws the same examples each time. The long form draws new ones for
``SYNTH_FUZZ_SECONDS`` per reader, an hour for all five; a crash belongs into a test of its own.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's tokens are full-width
from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonpath
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from envs.errors import EnvsError
from envs.scripts.split import split
from envs.tools.toolbox import parse_arguments
from synth.core.agent.completion_reading import repair
from synth.core.agent.text_calls import find_calls
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.tasks.yaml.saves import extract
from synth.core.tasks.yaml.source_map import load_yaml
from synth.errors import DatasetError, TaskError
from tests.faults.promises import promise
from tests.unit.dataset.rows import IDENTITY, row

SHORT = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SECONDS = float(os.environ.get("SYNTH_FUZZ_SECONDS", "720"))


def pieces(*words: str) -> st.SearchStrategy[str]:
    """Texts of the words that a reader looks for, and of anything else."""
    return st.lists(st.sampled_from(words) | st.text(max_size=8), max_size=25).map("".join)


CALLS = pieces(
    *("<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<think>", "</think>", "`", "```", "\n"),
    *('{"name": "find_items", "arguments": {', "}}", "<function=find_items>", "</function>"),
    *("<｜tool▁call▁begin｜>", "Action: find_items", "Action Input: ", "to=functions.find_items"),
    *("find_items(", ")", "\\ud800", "<|python_tag|>", ">>>find_items\n", '"', "> "),
)
SQL = pieces(
    *("SELECT ", "'", '"', "`", ";", "--", "/*", "*/", "$$", "$a$", "\\", "\n", "BEGIN", "END"),
    *(
        "CREATE TRIGGER t ",
        "DELIMITER //",
        "//",
        "COPY t FROM stdin;\n",
        "\\.\n",
        "E'",
        "\\connect",
    ),
)
PATHS = pieces("$", ".", "..", "[", "]", "*", "?", "@", "'", "0", "-1", ":", "name", "(", ")", "&&")
YAML = pieces(
    *("families:", "\n- ", "\n  ", "id: ", "gold:", "{", "}", "[", "]", "&a ", "*a", "!!python/x "),
    *("|", ">", "'", '"', ": ", "# ", "---", "<<: ", "1e400", "0x", "\t", "? "),
)
DIALECTS = ("sqlite", "postgresql", "mysql")


def read_calls(text: str) -> None:
    before, calls = find_calls(text, {"find_items"})
    assert text.startswith(before)
    assert all(call.raw in text for call in calls)
    parse_arguments(text)
    repair(text)


def read_sql(text: str) -> None:
    for dialect in DIALECTS:
        try:
            statements = list(split(text, dialect))
        except EnvsError:
            continue
        assert sum(len(statement.text) for statement in statements) <= 2 * len(text) + 100


def read_path(text: str) -> None:
    with contextlib.suppress(jsonpath.JSONPathError, LookupError):
        extract(text, {"name": [{"0": 1}, "x"]})


def read_yaml(text: str, file: Path) -> None:
    file.write_text(text, "utf-8", errors="replace")
    words = ""
    try:
        load_yaml(file)
    except TaskError as error:
        words = str(error)
    assert words == "" or str(file) in words


TEXTS: dict[str, tuple[st.SearchStrategy[str], Callable[[str, Path], None]]] = {
    "tool calls": (CALLS, lambda text, _: read_calls(text)),
    "SQL scripts": (SQL, lambda text, _: read_sql(text)),
    "JSONPath": (PATHS, lambda text, _: read_path(text)),
    "tasks.yaml": (YAML, read_yaml),
}
PROMISE = "Text and files of others are read, or refused in one typed sentence"


@promise(PROMISE)
@pytest.mark.parametrize("reader", TEXTS)
def test_texts(reader: str, tmp_path: Path) -> None:
    strategy, read = TEXTS[reader]
    SHORT(given(strategy)(lambda text: read(text, tmp_path / "tasks.yaml")))()


@pytest.mark.long
@promise(PROMISE)
@pytest.mark.parametrize("reader", TEXTS)
def test_texts_at_length(
    reader: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    strategy, read = TEXTS[reader]
    count = 0

    def once(text: str) -> None:
        nonlocal count
        count += 1
        read(text, tmp_path / "tasks.yaml")

    end, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        number += 1
        how = settings(SHORT, max_examples=2_000, derandomize=False)
        seed(number)(how(given(strategy)(lambda text: once(text))))()
    record_property("figure", f"{reader}: {count} texts")


def dataset(home: Path) -> Path:
    """A small shard."""
    run = home / "run"
    with RunWriter.create(run, Layout((("train", 4),), 4), IDENTITY) as writer:
        for index in range(4):
            writer.add_row(index, row(index))
        writer.seal("complete")
    return next((run / "data").glob("*.parquet"))


Edit = tuple[int, str, bytes]


def edits(size: int) -> st.SearchStrategy[list[Edit]]:
    """Places in a file that are cut, flipped, put in or taken out."""
    kinds = st.sampled_from(["flip", "flip", "flip", "cut", "insert", "take"])
    some = st.binary(min_size=1, max_size=9).filter(lambda found: found[0] != 0)
    return st.lists(st.tuples(st.integers(0, size - 1), kinds, some), min_size=1, max_size=3)


def damaged(whole: bytes, changes: list[Edit]) -> bytes:
    data = bytearray(whole)
    for place, kind, some in changes:
        if kind == "cut":
            del data[place:]
        elif kind == "flip" and place < len(data):
            data[place] ^= some[0]
        elif kind == "insert":
            data[place:place] = some
        else:
            del data[place : place + len(some)]
    return bytes(data)


def read_parquet(data: bytes, home: Path) -> bool:
    """Read a damaged file; return true if it was refused."""
    file = home / "damaged.parquet"
    file.write_bytes(data)
    words = ""
    try:
        with Dataset.open(file) as opened:
            list(opened.rows())
    except DatasetError as error:
        words = str(error)
    assert words == "" or str(file) in words
    return words != ""


def fuzz_parquet(home: Path, how: Any) -> list[bool]:
    whole = dataset(home).read_bytes()
    seen: list[bool] = []

    def once(changes: list[Edit]) -> None:
        seen.append(read_parquet(damaged(whole, changes), home))

    how(given(edits(len(whole)))(lambda changes: once(changes)))()
    return seen


@promise(PROMISE)
def test_parquet_files(tmp_path: Path) -> None:
    assert any(fuzz_parquet(tmp_path, SHORT))


@pytest.mark.long
@promise(PROMISE)
def test_parquet_files_at_length(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seen: list[bool] = []
    end, number = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        number += 1
        how = settings(SHORT, max_examples=500, derandomize=False)
        home = tmp_path / str(number)
        home.mkdir()
        seen += fuzz_parquet(home, lambda test, how=how, number=number: seed(number)(how(test)))
    record_property("figure", f"Parquet: {len(seen)} files, {sum(seen)} refused")
