"""A driver's error as category, SQLSTATE, the database's own words and advice."""

from envs.sql_errors.advice import nearest
from envs.sql_errors.classify import ErrorClassifier, classify, to_result
from envs.sql_errors.codes import is_transient, tells_of_transient

__all__ = [
    "ErrorClassifier",
    "classify",
    "is_transient",
    "nearest",
    "tells_of_transient",
    "to_result",
]
