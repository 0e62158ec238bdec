"""Tools that let an agent read and write a database in SQL, for any world that switches them on.

    - builtin: sql
      tools: [list_tables, describe_table, sample_rows, run_select_query, submit_sql]
      critic: true

``builtin: [list_tables, ...]`` says the same in short. The agent's SQL reaches the driver as it is:
no parameters, and neither ``%`` nor ``:name`` have a meaning. What a statement may do, how long it
may run and how much it may return is decided by the sandbox's guards.
"""

from typing import Literal, get_args

SqlToolName = Literal[
    "list_tables",
    "describe_table",
    "sample_rows",
    "run_select_query",
    "run_mutation_query",
    "submit_sql",
]

BUILTIN: tuple[SqlToolName, ...] = get_args(SqlToolName)
"""Names of the SQL tools, in the order in which a model is shown them."""

TABLES = "world_tables"
"""Execution option: an environment's tables for its executors, a mapping of name to Table."""
