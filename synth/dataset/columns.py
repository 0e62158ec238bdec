"""The columns of a trajectory: the one list that the wire form, the Arrow schema, the card and the README share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

SCHEMA_VERSION: Final = 1
"""Goes up with every change of :data:`COLUMNS` that an old reader would misread."""

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
    """One column. ``volatile`` ones may differ between two equal runs; ``low`` ones hold few values (dictionary encoded).
    ``late`` ones, the last of all, are null in files and journals from before there were such columns.
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
    Col("job_index", "int64", "Place in the plan; rows are sorted by it."),
    Col("family", "str", "The task family.", low=True),
    Col("branch", "str", "The branch of a family with twins, such as allow or refuse.", null=True, low=True),
    Col("env", "str", "Name of the world.", low=True),
    Col("env_digest", "str", "Digest of the world's files.", low=True),
    Col("split", "str", "The split that the task was planned for.", low=True),
    Col("universe", "int32", "Which seed data of the world: 0 is seed.sql.", low=True),
    Col("sample_index", "int32", "The k-th attempt at the task.", low=True),
    Col("seed", "int64", "Seed of the rollout."),
    Col("messages", "list<json>", "The conversation with OpenAI's keys; tool call arguments are objects."),
    Col("tools", "list<json>", "The tools that the model was offered, as function schemas.", low=True),
    Col("segments", "list<json>", "Each context as it was sent, wherever it differs from messages."),
    Col("events", "list<json>", "What the model emitted and what the tools returned, raw, without times."),
    Col("outcome", "str", "success, failure or unscored.", low=True),
    Col("stop_reason", "str", "Why the rollout ended.", low=True),
    Col("reward", "float64", "Product of the gates times the weighted scores; null where unscored.", null=True),
    Col("verdicts", "list<json>", "Every verifier's score and its reason."),
    Col("state_diff", "list<json>", "Net row changes of the database against its template."),
    Col("call_changes", "list<json>", "Row changes of each tool call."),
    Col("state_hash_before", "str", "Digest of the database before the first turn.", low=True),
    Col("state_hash_after", "str", "Digest of the database at the end."),
    Col("submitted", "json", "What the submit tool was given; null where it was not called.", null=True),
    Col("num_turns", "int32", "Completions of the model.", low=True),
    Col("num_tool_calls", "int32", "Tool calls that were executed or refused.", low=True),
    Col("num_tool_errors", "int32", "Tool calls that ended in an error result.", low=True),
    Col("error_categories", "list<str>", "Category of each failed tool call, in order.", low=True),
    Col("blame", "str", "Whose fault a failure was, where it is known.", null=True, low=True),
    Col("injected_faults", "list<json>", "Faults that were put into the environment on purpose."),
    Col("parent_id", "str", "The trajectory that this one branched from.", null=True),
    Col("branch_step", "int32", "The turn of the parent where it branched.", null=True),
    Col("token_ids", "list<list<int32>>", "Token ids of each completion, where the endpoint gave them.", null=True),
    Col("logprobs", "list<list<float64>>", "Log probability of each of those tokens.", null=True),
    Col("provider_fields", "list<json>", "What else the endpoint said, one object a completion."),
    Col("input_tokens", "int64", "Prompt tokens over all completions.", null=True),
    Col("output_tokens", "int64", "Generated tokens.", null=True),
    Col("cached_tokens", "int64", "Prompt tokens served from a cache.", null=True),
    Col("reasoning_tokens", "int64", "Generated tokens that were reasoning.", null=True),
    Col("cost_usd", "float64", "Cost of the model; null where the price is unknown.", null=True),
    Col("latency_s", "float64", "Wall-clock seconds of the rollout.", volatile=True),
    Col("user_model", "str", "The model that played the user, if one did.", null=True, low=True),
    Col("user_input_tokens", "int64", "Prompt tokens of the user's model.", null=True),
    Col("user_output_tokens", "int64", "Generated tokens of the user's model.", null=True),
    Col("user_cost_usd", "float64", "Cost of the user's model.", null=True),
    Col("policy_input_tokens", "int64", "Prompt tokens of the model that approves tool calls.", null=True),
    Col("policy_output_tokens", "int64", "Generated tokens of the model that approves tool calls.", null=True),
    Col("policy_cost_usd", "float64", "Cost of the model that approves tool calls.", null=True),
    Col("model", "str", "The model that was asked.", low=True),
    Col("sampling", "json", "Its sampling parameters.", low=True),
    Col("config_digest", "str", "Digest of the run's config.", low=True),
    Col("synth_version", "str", "Version of the software that made the row.", low=True),
    Col("schema_version", "int32", "Version of these columns.", low=True),
    Col(
        "sanitized", "bool", "Whether values that break readers were replaced; the originals stand in events, escaped."
    ),
    Col("created_at", "timestamp", "When the rollout ended, UTC.", volatile=True),
    Col(
        *("executions", "list<json>"),
        "Each tool call that reached the world: call id, tool, error category, milliseconds, rows changed.",
        null=True,
        volatile=True,
        late=True,
    ),
)

BY_NAME: Final = {col.name: col for col in COLUMNS}
VOLATILE: Final = tuple(col.name for col in COLUMNS if col.volatile)
LATE: Final = tuple(col.name for col in COLUMNS if col.late)
JSON_COLUMNS: Final = tuple(col.name for col in COLUMNS if col.kind in {"json", "list<json>"})
