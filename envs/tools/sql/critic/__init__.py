"""Find likely mistakes in a statement before it runs, in sentences that an agent can act on.

The critic advises, the guards enforce: a statement is refused only where a world says so
(``critic: {block: [...]}``). It reads the statement with sqlglot
against the tables and views that the database really has, and would rather be silent than wrong:
what it cannot read, and what it does not know the columns of, yields no finding.
"""

from envs.tools.sql.critic.critic import Relation, criticise
from envs.tools.sql.critic.doubts import doubts, likely_mistakes
from envs.tools.sql.critic.open_order import settled
from envs.tools.sql.critic.reading import QueryReading, read_query, read_view
from envs.tools.sql.critic.weakened import weakened
from envs.tools.sql.findings import Finding, FindingKind

__all__ = [
    "Finding",
    "FindingKind",
    "QueryReading",
    "Relation",
    "criticise",
    "doubts",
    "likely_mistakes",
    "read_query",
    "read_view",
    "settled",
    "weakened",
]
