"""What a buyer of training rows counts, for the successful rows of any runs.

    python -m tests.bench.buyer out/shop out/ehr_db

A token is four characters of what is trained on (words and calls of the assistant), or of all that
a chat template writes: every text, every call and the tools. Near-duplicates are those of the
manifest (Jaccard 0.8); "masked" compares requests without the task's values.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.task_table import read_tasks
from synth.core.foundation.near_duplicates import NearDuplicates, masked, shingles, words
from synth.task import Task

CHARACTERS = 4
"""Characters of a token."""
WORDS = 4
"""Words of an opening."""

Row = Mapping[str, Any]


def main(runs: Sequence[str]) -> None:
    columns = [figures(Path(run)) for run in runs]
    print(f"| | {' | '.join(runs)} |\n|---|{'---|' * len(runs)}")
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")


def figures(run: Path) -> dict[str, str]:
    """The figures of a run, by name."""
    with Dataset.open(run) as dataset:
        rows = [row for row in dataset.rows() if row["outcome"] == "success"]
    tasks = {raw["id"]: Task.from_json(raw) for raw in read_tasks(run / "tasks.parquet")}
    trained, whole = [trained_tokens(row) for row in rows], [whole_tokens(row) for row in rows]
    turns = [_count(row, "user") for row in rows]
    calling = [one for row in rows for one in assistant(row) if one.get("tool_calls")]
    beside = [str(one["content"]) for one in calling if str(one.get("content") or "").strip()]
    parallel = [one for one in calling if len(one["tool_calls"]) > 1]
    submits = sum(tokens(one) for row in rows for one in calls(row) if "submit" in one["name"])
    last = [str(assistant(row)[-1].get("content") or "") for row in rows]
    openings = Counter(" ".join(text.split()[:WORDS]) for text in last)
    first = sum(count for _, count in openings.most_common(5))
    sequences = {row["trajectory_id"]: sequence(row) for row in rows}
    train = {sequences[row["trajectory_id"]] for row in rows if row["split"] == "train"}
    test = [row for row in rows if row["split"] != "train"]
    known = [row for row in test if sequences[row["trajectory_id"]] in train]
    chosen: list[Task] = [tasks[row["task_id"]] for row in rows]
    return {
        "rows": f"{len(rows)}",
        "trained tokens a row; share": f"{mean(trained):.0f}; {sum(trained) / sum(whole):.1%}",
        "submit in the trained tokens": f"{submits / sum(trained):.1%}",
        "turns of the user, median; rows with one": (
            f"{median(turns):.0f}; {turns.count(1) / len(turns):.0%}"
        ),
        "turns with calls and words; distinct": (
            f"{len(beside) / len(calling):.0%}; {len(set(beside))}"
        ),
        "rows with words beside a call": _share(
            any(one.get("tool_calls") and one.get("content") for one in assistant(row))
            for row in rows
        ),
        "parallel turns": f"{len(parallel) / len(calling):.1%}",
        "tool sequences": f"{len(set(sequences.values()))}",
        "openings of last replies; commonest five": f"{len(openings)}; {first / len(last):.0%}",
        "last replies equal to another": f"{1 - len(set(last)) / len(last):.1%}",
        "near-duplicate requests; masked": (
            f"{near_duplicates([words(task.prompt) for task in chosen]):.1%};"
            f" {near_duplicates([masked(words(task.prompt), task.slots) for task in chosen]):.1%}"
        ),
        "test rows whose tool sequence is in train": (
            f"{len(known) / len(test):.0%}" if test else "no test rows"
        ),
    }


def assistant(row: Row) -> list[dict[str, Any]]:
    return [message for message in row["messages"] if message["role"] == "assistant"]


def calls(row: Row) -> list[dict[str, Any]]:
    return [
        call["function"] for message in assistant(row) for call in message.get("tool_calls") or ()
    ]


def sequence(row: Row) -> tuple[str, ...]:
    return tuple(call["name"] for call in calls(row))


def near_duplicates(texts: Sequence[Sequence[str]]) -> float:
    """The share of texts, as words, that are near-duplicates of an earlier one."""
    seen, repeated = NearDuplicates(), 0
    for own in map(shingles, texts):
        repeated += seen.find(own) is not None
        seen.add(own)
    return repeated / len(texts)


def trained_tokens(row: Row) -> float:
    return _texts(assistant(row)) + sum(map(tokens, calls(row)))


def whole_tokens(row: Row) -> float:
    return _texts(row["messages"]) + sum(map(tokens, calls(row))) + tokens(row["tools"])


def _texts(messages: Sequence[Row]) -> float:
    return sum(len(str(message.get("content") or "")) for message in messages) / CHARACTERS


def tokens(value: object) -> float:
    return len(json.dumps(value, ensure_ascii=False)) / CHARACTERS


def _count(row: Row, role: str) -> int:
    return sum(message["role"] == role for message in row["messages"])


def _share(found: Any) -> str:
    held = list(found)
    return f"{sum(held) / len(held):.0%}"


if __name__ == "__main__":
    main(sys.argv[1:])
