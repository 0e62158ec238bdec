"""Rows as rollouts leave them: the material for the tests of readers, reports and exporters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.layout import Layout
from synth.core.dataset.store.run_info import RunIdentity
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.wire import encode, to_wire

Json = Any


def tool(name: str, description: str, /, **properties: Json) -> Json:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


TOOLS = [
    tool("find_patients", "Find patients by a part of their name.", name={"type": "string"}),
    tool(
        "record_vitals",
        "Note a heart rate.",
        patient_id={"type": "integer"},
        heart_rate={"type": "integer"},
    ),
    tool("stop_medication", "Stop a medication.", medication_id={"type": "integer"}),
]
SYSTEM = {"role": "system", "content": "You keep patients' charts.\n\nToday is 2026-03-02."}


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def call(call_id: str, name: str, /, **arguments: Json) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: Json, **more: Json) -> Json:
    return {"role": "assistant", "content": "", "tool_calls": list(calls), **more}


def result(call_id: str, name: str, value: Json) -> Json:
    content = (
        value
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    )
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def says(text: str, **more: Json) -> Json:
    return {"role": "assistant", "content": text, **more}


def verdict(name: str, score: float | None, reason: str, **detail: Json) -> Json:
    return {
        "verifier": name,
        "score": score,
        "reason": reason,
        "gate": True,
        "weight": 1.0,
        "detail": detail,
    }


def row(index: int, **columns: Json) -> dict[str, Json]:
    """A row that succeeded, with JSON columns as Python values; ``columns`` replace what it has."""
    plain: dict[str, Json] = {
        "trajectory_id": f"{index + 0xA0:02x}77c0ffee5eed{index:02x}",
        "task_id": f"7a5c{index:04x}",
        "job_index": index,
        "family": "record_vitals",
        "case": None,
        "env": "ehr_db",
        "env_digest": "0123456789abcdef",
        "split": "train",
        "universe": 0,
        "sample_index": 0,
        "seed": 1_000 + index,
        "messages": [
            SYSTEM,
            user("Heart rate 72 for Zoë O'Brien, please note it down."),
            asks(
                call("c1", "find_patients", name="O'Brien"),
                reasoning_content="Which patient is it?",
            ),
            result("c1", "find_patients", {"patients": [{"patient_id": 7, "name": "Zoë O'Brien"}]}),
            asks(call("c2", "record_vitals", patient_id=7, heart_rate=72)),
            result("c2", "record_vitals", {"vital_id": 301}),
            says("Noted: 72 bpm for Zoë O'Brien."),
        ],
        "tools": TOOLS,
        "segments": [],
        "events": [],
        "outcome": "success",
        "stop_reason": "finished",
        "reward": 1.0,
        "verdicts": [verdict("state", 1.0, "the end state is the expected one")],
        "state_diff": [
            {
                "table": "vitals",
                "op": "insert",
                "key": {"vital_id": 301},
                "after": {"vital_id": 301, "patient_id": 7, "heart_rate": 72, "note": None},
            }
        ],
        "call_changes": [],
        "state_hash_before": "aaaa",
        "state_hash_after": "bbbb",
        "submitted": None,
        "num_turns": 3,
        "num_tool_calls": 2,
        "num_tool_errors": 0,
        "error_categories": [],
        "blame": None,
        "injected_faults": [],
        "parent_id": None,
        "branch_step": None,
        "token_ids": None,
        "logprobs": None,
        "provider_fields": [],
        "input_tokens": 900,
        "output_tokens": 60,
        "cached_tokens": None,
        "reasoning_tokens": None,
        "cost_usd": None,
        "latency_s": 0.25,
        "user_model": None,
        "user_input_tokens": None,
        "user_output_tokens": None,
        "user_cost_usd": None,
        "approver_input_tokens": None,
        "approver_output_tokens": None,
        "approver_cost_usd": None,
        "judge_input_tokens": None,
        "judge_output_tokens": None,
        "judge_cost_usd": None,
        "renaming": None,
        "renaming_names": None,
        "phrasing": None,
        "model": "scripted",
        "sampling": {},
        "config_digest": "c0ffee",
        "synth_version": "0.1.0",
        "schema_version": 3,
        "sanitized": False,
        "created_at": datetime(2026, 11, 21, 9, 0, tzinfo=UTC),
        "executions": None,
        "source_id": None,
        "narrated_turns": None,
        "notes": None,
        "middleware_tools": [],
        "retries": [],
        "review": None,
        "review_note": None,
    }
    assert columns.keys() <= plain.keys()
    return plain | columns


def masked(index: int) -> dict[str, Json]:
    """A success on the way to which one call was malformed: that turn is not to be trained on."""
    return row(
        index,
        messages=[
            SYSTEM,
            user("Stop medication 12."),
            asks(call("c1", "stop_medication", __malformed__='{"medication_id": 12'), train=False),
            result(
                "c1",
                "stop_medication",
                {"status": "error", "category": "malformed_call", "message": "no JSON"},
            ),
            asks(call("c2", "stop_medication", medication_id=12)),
            result("c2", "stop_medication", "stopped"),
            says("Stopped."),
        ],
        num_tool_errors=1,
        error_categories=["malformed_call"],
    )


HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]not markup[/] \u202eesrever \x9b31m"


def failed(index: int) -> dict[str, Json]:
    """A failure that changed the wrong row, told in words that a terminal must not obey."""
    return row(
        index,
        family="stop_medication",
        outcome="failure",
        reward=0.0,
        messages=[
            SYSTEM,
            user("Stop the warfarin."),
            asks(
                call("c1", "stop_medication", medication_id=99),
                call("c2", "stop_medication", medication_id=5),
            ),
            result(
                "c1",
                "stop_medication",
                {"status": "error", "category": "not_found", "message": HOSTILE},
            ),
            result("c2", "stop_medication", {"stopped": 5, "chart": ["a long line of notes"] * 12}),
            says(f"Done. {HOSTILE}"),
        ],
        verdicts=[
            verdict("answer", 1.0, "no answer is asked for"),
            verdict(
                "state", 0.0, "collateral: medications\nmedication_id=5", missing=1, collateral=1
            ),
        ],
        state_diff=[
            {
                "table": "medications",
                "op": "update",
                "key": {"medication_id": 5},
                "before": {"stopped": None},
                "after": {"stopped": "2026-03-02"},
            },
            {
                "table": "notes",
                "op": "delete",
                "key": {"note_id": 1},
                "before": {"note_id": 1, "text": HOSTILE},
            },
        ],
        num_tool_errors=1,
        error_categories=["not_found"],
        submitted={"decision": "done"},
        cost_usd=0.002,
        latency_s=2.0,
    )


def truncated(index: int) -> dict[str, Json]:
    """Half a reward: it ran out of turns, so a tool result is the last message."""
    return row(
        index,
        messages=row(index)["messages"][:-1],
        reward=0.5,
        outcome="failure",
        stop_reason="max_turns",
        num_turns=2,
        sampling={"temperature": 0.7, "extra_body": {"parallel_tool_calls": False}},
    )


def unscored(index: int) -> dict[str, Json]:
    """The user was at fault, so there is no reward."""
    return row(
        index,
        outcome="unscored",
        reward=None,
        verdicts=[verdict("user", None, "the user gave the wrong date")],
        user_model="gpt-x",
        user_cost_usd=0.25,
        user_input_tokens=10,
        user_output_tokens=3,
    )


def all_kinds() -> list[dict[str, Json]]:
    """One row of each kind; the last one belongs to another split."""
    return [row(0), masked(1), failed(2), truncated(3), unscored(4), row(5, split="test")]


def error_row(index: int, **columns: Json) -> ErrorRow:
    """A rollout whose database went away."""
    sample = row(index)
    taken = {
        name: sample[name]
        for name in (
            "trajectory_id",
            "task_id",
            "job_index",
            "family",
            "sample_index",
            "seed",
            "model",
        )
    }
    broke = {
        "error_type": "ConnectionLost",
        "message": "the database went away",
        "retryable": True,
        "attempts": 3,
    }
    return ErrorRow(**{**taken, **broke, "created_at": sample["created_at"], **columns})


@contextmanager
def writing(
    path: Path,
    rows: Sequence[Mapping[str, Json]],
    errors: Sequence[ErrorRow] = (),
    jobs: int | None = None,
) -> Iterator[RunWriter]:
    """A run that is being written: contiguous splits as the rows have them, planned jobs without a
    row at the end.
    """
    planned = jobs if jobs is not None else len(rows) + len(errors)
    splits = {"train": 0, **Counter(row["split"] for row in rows)}
    last = rows[-1]["split"] if rows else "train"
    splits[last] += planned - len(rows)
    layout = Layout(
        tuple((name, size) for name, size in splits.items() if size), rows_per_shard=256
    )
    identity = RunIdentity("c0ffee", "0123456789abcdef", "9a11", env="ehr_db", model="scripted")
    with RunWriter.create(path, layout, identity) as writer:
        for each in rows:
            writer.add_row(each["job_index"], encode(to_wire(each)))
        for error in errors:
            writer.add_error(error.job_index, error)
        yield writer


def write_run(
    path: Path,
    rows: Sequence[Mapping[str, Json]],
    *,
    errors: Sequence[ErrorRow] = (),
    jobs: int | None = None,
    status: Literal["complete", "partial", "interrupted"] = "complete",
) -> Path:
    """A run directory with those rows; ``interrupted`` is one whose writer went away."""
    with writing(path, rows, errors, jobs) as writer:
        if status != "interrupted":
            writer.seal(status)
    return path


def actions_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """What the agent of a row did, as actions of an OpenEnv client."""
    actions: list[dict[str, Any]] = []
    for message in row["messages"]:
        if message["role"] != "assistant":
            continue
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        actions += [
            {"text": "", "tool": call["name"], "arguments": call["arguments"]} for call in calls
        ]
        if not calls:
            actions.append({"text": message["content"]})
    return actions
