"""Tools that let an agent read and write a database in SQL, for any world that switches them on.

    - builtin: [list_tables, describe_table, sample_rows, run_select_query, run_mutation_query, submit_sql]
      critic: true

The agent's SQL reaches the driver as it is: no parameters, no ``%`` and no ``:name`` in it mean anything. What it
may do, how long and how much is for the sandbox's guards to say.
"""

from envs.sql_tools.catalog import TABLES, Catalog
from envs.sql_tools.declared import BUILTIN, sql_tools, tools_of_entry

__all__ = ["BUILTIN", "TABLES", "Catalog", "sql_tools", "tools_of_entry"]
