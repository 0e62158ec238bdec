"""A driver's error as category, SQLSTATE, the database's own words and advice.

:mod:`envs.sql_errors.classify` has the classification, which most calls do without.
"""

from envs.sql_errors.nearest import nearest
from envs.sql_errors.transient import is_transient, tells_of_transient

__all__ = ["is_transient", "nearest", "tells_of_transient"]
