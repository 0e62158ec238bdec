"""Columns of a trajectory: the only list, shared by the wire form, the Arrow schema, the card and
the documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from synth.errors import DatasetError

SCHEMA_VERSION: Final = 3
"""Version of :data:`COLUMNS`; it rises with every change that another version would misread."""

PAYERS: Final = ("", "user_", "approver_", "judge_")
"""Prefixes of the columns of the models of agent, user, approver and judge: each has
``input_tokens``, ``output_tokens`` and ``cost_usd``.
"""

Kind = Literal[
    "str",
    "int32",
    "int64",
    "float64",
    "bool",
    "timestamp",
    "json",
    "list<json>",
    "list<str>",
    "list<list<int32>>",
    "list<list<float64>>",
]


@dataclass(frozen=True, slots=True)
class Col:
    """One column.

    ``volatile`` columns may differ between two equal runs. ``low`` columns have few distinct values
    and are dictionary encoded.
    """

    name: str
    kind: Kind
    about: str
    null: bool = False
    volatile: bool = False
    low: bool = False


def _col(name: str, kind: Kind, about: str, traits: str = "") -> Col:
    """A column; ``traits`` names the flags of :class:`Col` that are true, such as "null low"."""
    return Col(name, kind, about, **dict.fromkeys(traits.split(), True))


COLUMNS: Final[tuple[Col, ...]] = (
    _col("trajectory_id", "str", "Content address of the job: task, sample and seed."),
    _col("task_id", "str", "Content address of the task; samples of one task share it."),
    _col("job_index", "int64", "Position in the plan; rows are sorted by it."),
    _col("family", "str", "The task family.", "low"),
    _col("case", "str", "The case of a family with cases, such as allow or refuse.", "null low"),
    _col("env", "str", "Name of the world.", "low"),
    _col("env_digest", "str", "Digest of the world's files.", "low"),
    _col("split", "str", "The split that the task was planned for.", "low"),
    _col("universe", "int32", "Number of the world's seed data; 0 is seed.sql.", "low"),
    _col("sample_index", "int32", "Number of the attempt at the task, from 0.", "low"),
    _col("seed", "int64", "Seed of the rollout."),
    _col(
        "messages",
        "list<json>",
        "The conversation with the keys of OpenAI's API; tool call arguments are objects.",
    ),
    _col("tools", "list<json>", "Tools offered to the model, as function schemas.", "low"),
    _col("segments", "list<json>", "Each context sent to the model that differs from messages."),
    _col("events", "list<json>", "Raw completions and raw tool results, without times."),
    _col("outcome", "str", "success, failure or unscored.", "low"),
    _col("stop_reason", "str", "Reason for the end of the rollout.", "low"),
    _col(
        "reward",
        "float64",
        "Product of the gates times the weighted scores; null if unscored.",
        "null",
    ),
    _col("verdicts", "list<json>", "Score and reason of every verifier."),
    _col(
        "state_diff",
        "list<json>",
        "Net row changes of the database from before to after the rollout.",
    ),
    _col("call_changes", "list<json>", "Row changes of each tool call."),
    _col("state_hash_before", "str", "Digest of the database before the first turn.", "low"),
    _col("state_hash_after", "str", "Digest of the database at the end."),
    _col("submitted", "json", "Arguments of the submit tool; null if it was not called.", "null"),
    _col("num_turns", "int32", "Number of completions.", "low"),
    _col("num_tool_calls", "int32", "Number of tool calls, executed or refused.", "low"),
    _col("num_tool_errors", "int32", "Number of tool calls with an error result.", "low"),
    _col("error_categories", "list<str>", "Category of each failed tool call, in order.", "low"),
    _col("blame", "str", "Party to blame for a failure, if known.", "null low"),
    _col("injected_faults", "list<json>", "Faults injected into the environment on purpose."),
    _col("parent_id", "str", "Trajectory from which this one branched.", "null"),
    _col("branch_step", "int32", "Turn of the parent at which it branched.", "null"),
    _col(
        "token_ids",
        "list<list<int32>>",
        "Token ids of each completion, if the endpoint returned them.",
        "null",
    ),
    _col("logprobs", "list<list<float64>>", "Log probability of each of those tokens.", "null"),
    _col(
        "provider_fields",
        "list<json>",
        "Other fields of the endpoint's responses, one object per completion.",
    ),
    _col("input_tokens", "int64", "Prompt tokens over all completions.", "null"),
    _col("output_tokens", "int64", "Generated tokens.", "null"),
    _col("cached_tokens", "int64", "Prompt tokens served from a cache.", "null"),
    _col("reasoning_tokens", "int64", "Generated tokens spent on reasoning.", "null"),
    _col("cost_usd", "float64", "Cost of the model; null if the price is unknown.", "null"),
    _col("latency_s", "float64", "Duration of the rollout in wall-clock seconds.", "volatile"),
    _col("user_model", "str", "Model that played the user; null if none did.", "null low"),
    _col("user_input_tokens", "int64", "Prompt tokens of the user's model.", "null"),
    _col("user_output_tokens", "int64", "Generated tokens of the user's model.", "null"),
    _col("user_cost_usd", "float64", "Cost of the user's model.", "null"),
    _col(
        "approver_input_tokens",
        "int64",
        "Prompt tokens of the model that approves tool calls.",
        "null",
    ),
    _col(
        "approver_output_tokens",
        "int64",
        "Generated tokens of the model that approves tool calls.",
        "null",
    ),
    _col("approver_cost_usd", "float64", "Cost of the model that approves tool calls.", "null"),
    _col("model", "str", "Name of the model.", "low"),
    _col("sampling", "json", "Sampling parameters.", "low"),
    _col("config_digest", "str", "Digest of the run's config.", "low"),
    _col("synth_version", "str", "Version of synth that wrote the row.", "low"),
    _col("schema_version", "int32", "Version of these columns when the row was written.", "low"),
    _col(
        "sanitized",
        "bool",
        "True if values that break readers were replaced; events holds the originals, escaped.",
    ),
    _col("created_at", "timestamp", "End of the rollout, UTC.", "volatile"),
    _col(
        "executions",
        "list<json>",
        "Tool calls that reached the world: call id, tool, error category, milliseconds, rows"
        " changed.",
        "null volatile",
    ),
    _col(
        "judge_input_tokens",
        "int64",
        "Prompt tokens of the model that judges; null if none did.",
        "null",
    ),
    _col("judge_output_tokens", "int64", "Generated tokens of the model that judges.", "null"),
    _col("judge_cost_usd", "float64", "Cost of the model that judges.", "null"),
    _col(
        "renaming",
        "int32",
        "Number of the renaming that the model was shown; null for the world's own names.",
        "null low",
    ),
    _col(
        "renaming_names",
        "json",
        "Names of that variant by the world's own: tools, parameters, keys and words.",
        "null low",
    ),
    _col(
        "phrasing",
        "str",
        "Name of the wording in which the user asks, with the voice behind a slash; null for one"
        " without a name.",
        "null low",
    ),
    _col("source_id", "str", "Trajectory whose calls these are, in a narrated row.", "null"),
    _col(
        "narrated_turns",
        "int32",
        "Number of turns into which the teacher wrote; null if the row is not narrated.",
        "null",
    ),
    _col(
        "notes",
        "list<str>",
        "Kind of each note on the assistant's words, which costs no reward; the sentences are in"
        " verdicts.",
        "null low",
    ),
    _col(
        "middleware_tools",
        "list<str>",
        "Names of the tools that middlewares brought, which no environment has.",
        "null low",
    ),
    _col(
        "review",
        "str",
        "What people say of the row in `synth view --serve`: accept, reject or disputed.",
        "null volatile",
    ),
    _col("review_note", "str", "What they note beside it.", "null volatile"),
    _col(
        "retries",
        "list<json>",
        "Attempts at requests to the agent's model that failed and were made again: reason, seconds"
        " waited.",
        "null volatile",
    ),
)

REVIEWED: Final = ("review", "review_note")
"""The columns of reviews by people: a file beside the shards holds them, and no shard."""

BY_NAME: Final = {col.name: col for col in COLUMNS}
VOLATILE: Final = tuple(col.name for col in COLUMNS if col.volatile)
JSON_COLUMNS: Final = tuple(col.name for col in COLUMNS if col.kind in {"json", "list<json>"})


def check_version(version: object, source: Path) -> None:
    """Raise :class:`~synth.errors.DatasetError` for another schema version than the present one."""
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DatasetError(f"{source} has no valid schema version: {version!r}")
    if version != SCHEMA_VERSION:
        advice = "upgrade synth" if version > SCHEMA_VERSION else "record the run again"
        raise DatasetError(
            f"{source} has schema version {version}, but this version of synth reads schema version"
            f" {SCHEMA_VERSION}; {advice}"
        )
