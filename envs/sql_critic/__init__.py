"""What looks wrong about a statement before it runs, in sentences that an agent can act on.

The critic advises, the guards enforce: nothing is refused here. It reads the statement with sqlglot against the tables
and views that the database really has, and would rather be silent than wrong: what it cannot read, and what it does not
know the columns of, yields no finding.
"""

from envs.sql_critic.critic import Relation, criticise
from envs.sql_critic.reading import Reading, read_query
from envs.sql_critic.weakened import weakened

__all__ = ["Reading", "Relation", "criticise", "read_query", "weakened"]
