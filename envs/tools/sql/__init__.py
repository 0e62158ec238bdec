"""Tools that let an agent read and write a database in SQL, for any world that switches them on.

    - builtin: sql
      tools: [list_tables, describe_table, sample_rows, run_select_query, submit_sql]
      critic: true

``builtin: [list_tables, ...]`` says the same in short. The agent's SQL reaches the driver as it is:
no parameters, and neither ``%`` nor ``:name`` have a meaning. What a statement may do, how long it
may run and how much it may return is decided by the sandbox's guards.
"""

from envs.tools.sql.catalog import TABLES, Catalog
from envs.tools.sql.tool_set import BUILTIN, sql_tools

__all__ = ["BUILTIN", "TABLES", "Catalog", "sql_tools"]
