"""The set of SQL tools, which a world switches on by an entry ``builtin: sql`` in tools.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, get_args

from envs.plugins import resolve
from envs.tools.sql import BUILTIN, SqlToolName
from envs.tools.sql.findings import FindingKind
from envs.tools.sql.statements import MAX_ROWS
from envs.tools.sql.tools import NO_SQL, Critic, SqlRunner
from envs.tools.tool import OptionalPositiveInt, PositiveInt, Tool
from envs.types import Limits

_CRITIC = "envs.tools.sql.critic.critic:criticise_on"
"""Imported only for a world that asks for it, as sqlglot is heavy."""


CriticOption = Annotated[
    bool | Mapping[str, Sequence[FindingKind]],
    {
        "type": ["boolean", "object"],
        "properties": {
            "block": {
                "type": "array",
                "items": {"type": "string", "enum": list(get_args(FindingKind))},
            }
        },
        "required": ["block"],
        "additionalProperties": False,
        "description": "true, false or {block: [...]} with any of "
        + ", ".join(get_args(FindingKind)),
    },
]


def sql_tools(
    tools: Sequence[SqlToolName] = BUILTIN,
    *,
    critic: CriticOption = False,
    max_rows: PositiveInt = MAX_ROWS,
    statement_timeout_ms: OptionalPositiveInt = None,
    max_result_bytes: OptionalPositiveInt = None,
) -> list[Tool]:
    """The SQL tools of these names.

    ``max_rows`` is the number of rows that a result shows; ``statement_timeout_ms`` and
    ``max_result_bytes`` are limits of a call. With ``critic`` each statement is checked before it
    runs: the findings are in ``notes`` beside the result, or in the advice of an error. A critic
    with ``block`` also refuses statements with a finding of these kinds. Raises KeyError for an
    unknown name.
    """
    inspect: Critic | None = resolve(_CRITIC) if critic else None
    block = frozenset(critic["block"]) if isinstance(critic, Mapping) else frozenset[str]()
    runner = SqlRunner(max_rows, inspect, block)
    limits = Limits(False, statement_timeout_ms, None, max_result_bytes)
    chosen: list[Tool] = []
    for name in tools:
        own = replace(limits, read_only=name != "run_mutation_query")
        chosen.append(
            replace(NO_SQL[name], limits=own) if name in NO_SQL else runner.tool(name, own)
        )
    return chosen
