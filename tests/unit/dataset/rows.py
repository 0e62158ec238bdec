"""Realistic rows for the tests of the dataset room, made from a job's index alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from synth.core.dataset.store.error_row import ErrorRow
from synth.core.dataset.store.run_info import RunIdentity
from synth.core.dataset.store.wire import encode, to_wire
from synth.core.foundation.hashing import digest

IDENTITY = RunIdentity("c0ffee", "beef", "f00d", env="ehr_db", model="scripted", seed=7)
WHEN = datetime(2026, 1, 1, 9, 0, 0, 123456, tzinfo=UTC)
TOOL = {
    "type": "function",
    "function": {
        "name": "record_vitals",
        "parameters": {"type": "object", "properties": {"patient_id": {"type": "integer"}}},
    },
}


def messages(index: int) -> list[dict[str, Any]]:
    arguments = {"patient_id": index, "note": f"O'Brien é {index}"} if index % 2 else {}
    call = {
        "id": "call_0",
        "type": "function",
        "function": {"name": "record_vitals", "arguments": arguments},
    }
    return [
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": f"Note {index}"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": "call_0",
            "name": "record_vitals",
            "content": '{"ok":true}',
        },
        {"role": "assistant", "content": "Noted."},
    ]


def values(index: int, **changes: Any) -> dict[str, Any]:
    """A row with JSON columns as Python values."""
    failed = index % 5 == 0
    row: dict[str, Any] = {
        "trajectory_id": digest("job", index),
        "task_id": digest("task", index // 2),
        "job_index": index,
        "family": "vitals" if index % 3 else "recall",
        "env": "ehr_db",
        "env_digest": "beef",
        "split": "train",
        "universe": 0,
        "sample_index": index % 2,
        "seed": 2**62 + index,
        "messages": messages(index),
        "tools": [TOOL],
        "segments": [],
        "events": [{"type": "result", "content": "ok"}],
        "outcome": "failure" if failed else "success",
        "stop_reason": "finished",
        "reward": 0.0 if failed else 1.0,
        "verdicts": [{"verifier": "state", "score": 1.0, "reason": "equal"}],
        "state_diff": [
            {"table": "vitals", "op": "insert", "key": {"id": index}, "after": {"bpm": 70}}
        ],
        "call_changes": [[]],
        "state_hash_before": "00",
        "state_hash_after": digest(index),
        "submitted": {"value": index} if index % 4 == 0 else None,
        "num_turns": 2,
        "num_tool_calls": 1,
        "num_tool_errors": 0,
        "error_categories": ["conflict"] if failed else [],
        "injected_faults": [],
        "token_ids": [[1, 2], []] if index % 7 == 0 else None,
        "logprobs": [[-0.5, -1.0], []] if index % 7 == 0 else None,
        "provider_fields": [{}],
        "input_tokens": 100 + index,
        "output_tokens": 10,
        "cost_usd": None,
        "latency_s": 0.25,
        "model": "scripted",
        "sampling": {"temperature": 0.7},
        "config_digest": "c0ffee",
        "synth_version": "0.1.0",
        "schema_version": 3,
        "sanitized": False,
        "created_at": WHEN,
    }
    return row | changes


def row(index: int, **changes: Any) -> bytes:
    return encode(to_wire(values(index, **changes)))


def error(
    index: int, *, retryable: bool = True, attempts: int | None = None, message: str = "reset"
) -> ErrorRow:
    return ErrorRow(
        trajectory_id=digest("job", index),
        task_id=digest("task", index // 2),
        job_index=index,
        family="vitals",
        sample_index=index % 2,
        seed=index,
        error_type="ModelError",
        message=message,
        retryable=retryable,
        model="scripted",
        created_at=WHEN,
        attempts=attempts,
    )
