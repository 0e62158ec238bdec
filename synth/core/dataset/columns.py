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
    and are dictionary encoded. ``late`` columns, the last ones, are null in files and journals that
    were written before they were introduced.
    """

    name: str
    kind: Kind
    about: str
    null: bool = False
    volatile: bool = False
    low: bool = False
    late: bool = False


COLUMNS: Final[tuple[Col, ...]] = (
    Col("trajectory_id", "str", "Content address of the job: task, sample and seed."),
    Col("task_id", "str", "Content address of the task; samples of one task share it."),
    Col("job_index", "int64", "Position in the plan; rows are sorted by it."),
    Col("family", "str", "The task family.", low=True),
    Col(
        "case",
        "str",
        "The case of a family with cases, such as allow or refuse.",
        null=True,
        low=True,
    ),
    Col("env", "str", "Name of the world.", low=True),
    Col("env_digest", "str", "Digest of the world's files.", low=True),
    Col("split", "str", "The split that the task was planned for.", low=True),
    Col("universe", "int32", "Number of the world's seed data; 0 is seed.sql.", low=True),
    Col("sample_index", "int32", "Number of the attempt at the task, from 0.", low=True),
    Col("seed", "int64", "Seed of the rollout."),
    Col(
        "messages",
        "list<json>",
        "The conversation with the keys of OpenAI's API; tool call arguments are objects.",
    ),
    Col("tools", "list<json>", "Tools offered to the model, as function schemas.", low=True),
    Col("segments", "list<json>", "Each context sent to the model that differs from messages."),
    Col("events", "list<json>", "Raw completions and raw tool results, without times."),
    Col("outcome", "str", "success, failure or unscored.", low=True),
    Col("stop_reason", "str", "Reason for the end of the rollout.", low=True),
    Col(
        "reward",
        "float64",
        "Product of the gates times the weighted scores; null if unscored.",
        null=True,
    ),
    Col("verdicts", "list<json>", "Score and reason of every verifier."),
    Col(
        "state_diff",
        "list<json>",
        "Net row changes of the database from before to after the rollout.",
    ),
    Col("call_changes", "list<json>", "Row changes of each tool call."),
    Col("state_hash_before", "str", "Digest of the database before the first turn.", low=True),
    Col("state_hash_after", "str", "Digest of the database at the end."),
    Col("submitted", "json", "Arguments of the submit tool; null if it was not called.", null=True),
    Col("num_turns", "int32", "Number of completions.", low=True),
    Col("num_tool_calls", "int32", "Number of tool calls, executed or refused.", low=True),
    Col("num_tool_errors", "int32", "Number of tool calls with an error result.", low=True),
    Col("error_categories", "list<str>", "Category of each failed tool call, in order.", low=True),
    Col("blame", "str", "Party to blame for a failure, if known.", null=True, low=True),
    Col("injected_faults", "list<json>", "Faults injected into the environment on purpose."),
    Col("parent_id", "str", "Trajectory from which this one branched.", null=True),
    Col("branch_step", "int32", "Turn of the parent at which it branched.", null=True),
    Col(
        "token_ids",
        "list<list<int32>>",
        "Token ids of each completion, if the endpoint returned them.",
        null=True,
    ),
    Col("logprobs", "list<list<float64>>", "Log probability of each of those tokens.", null=True),
    Col(
        "provider_fields",
        "list<json>",
        "Other fields of the endpoint's responses, one object per completion.",
    ),
    Col("input_tokens", "int64", "Prompt tokens over all completions.", null=True),
    Col("output_tokens", "int64", "Generated tokens.", null=True),
    Col("cached_tokens", "int64", "Prompt tokens served from a cache.", null=True),
    Col("reasoning_tokens", "int64", "Generated tokens spent on reasoning.", null=True),
    Col("cost_usd", "float64", "Cost of the model; null if the price is unknown.", null=True),
    Col("latency_s", "float64", "Duration of the rollout in wall-clock seconds.", volatile=True),
    Col("user_model", "str", "Model that played the user; null if none did.", null=True, low=True),
    Col("user_input_tokens", "int64", "Prompt tokens of the user's model.", null=True),
    Col("user_output_tokens", "int64", "Generated tokens of the user's model.", null=True),
    Col("user_cost_usd", "float64", "Cost of the user's model.", null=True),
    Col(
        "approver_input_tokens",
        "int64",
        "Prompt tokens of the model that approves tool calls.",
        null=True,
    ),
    Col(
        "approver_output_tokens",
        "int64",
        "Generated tokens of the model that approves tool calls.",
        null=True,
    ),
    Col("approver_cost_usd", "float64", "Cost of the model that approves tool calls.", null=True),
    Col("model", "str", "Name of the model.", low=True),
    Col("sampling", "json", "Sampling parameters.", low=True),
    Col("config_digest", "str", "Digest of the run's config.", low=True),
    Col("synth_version", "str", "Version of synth that wrote the row.", low=True),
    Col("schema_version", "int32", "Version of these columns when the row was written.", low=True),
    Col(
        "sanitized",
        "bool",
        "True if values that break readers were replaced; events holds the originals, escaped.",
    ),
    Col("created_at", "timestamp", "End of the rollout, UTC.", volatile=True),
    Col(
        "executions",
        "list<json>",
        "Tool calls that reached the world: call id, tool, error category, milliseconds, rows"
        " changed.",
        null=True,
        volatile=True,
        late=True,
    ),
    Col(
        "judge_input_tokens",
        "int64",
        "Prompt tokens of the model that judges; null if none did.",
        null=True,
        late=True,
    ),
    Col(
        "judge_output_tokens",
        "int64",
        "Generated tokens of the model that judges.",
        null=True,
        late=True,
    ),
    Col("judge_cost_usd", "float64", "Cost of the model that judges.", null=True, late=True),
    Col(
        "renaming",
        "int32",
        "Number of the renaming that the model was shown; null for the world's own names.",
        null=True,
        low=True,
        late=True,
    ),
    Col(
        "renaming_names",
        "json",
        "Names of that variant by the world's own: tools, parameters, keys and words.",
        null=True,
        low=True,
        late=True,
    ),
    Col(
        "phrasing",
        "str",
        "Name of the wording in which the user asks, with the voice behind a slash; null for one"
        " without a name.",
        null=True,
        low=True,
        late=True,
    ),
    Col(
        "source_id",
        "str",
        "Trajectory whose calls these are, in a narrated row.",
        null=True,
        late=True,
    ),
    Col(
        "narrated_turns",
        "int32",
        "Number of turns into which the teacher wrote; null if the row is not narrated.",
        null=True,
        late=True,
    ),
    Col(
        "notes",
        "list<str>",
        "Kind of each note on the assistant's words, which costs no reward; the sentences are in"
        " verdicts.",
        null=True,
        low=True,
        late=True,
    ),
    Col(
        "middleware_tools",
        "list<str>",
        "Names of the tools that middlewares brought, which no environment has.",
        null=True,
        low=True,
        late=True,
    ),
    Col(
        "review",
        "str",
        "What people say of the row in `synth view --serve`: accept, reject or disputed.",
        null=True,
        volatile=True,
        late=True,
    ),
    Col("review_note", "str", "What they note beside it.", null=True, volatile=True, late=True),
    Col(
        "retries",
        "list<json>",
        "Attempts at requests to the agent's model that failed and were made again: reason, seconds"
        " waited.",
        null=True,
        volatile=True,
        late=True,
    ),
)

REVIEWED: Final = ("review", "review_note")
"""What people say of a row: no shard holds it, and a file beside them does."""

BY_NAME: Final = {col.name: col for col in COLUMNS}
VOLATILE: Final = tuple(col.name for col in COLUMNS if col.volatile)
LATE: Final = tuple(col.name for col in COLUMNS if col.late)
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
