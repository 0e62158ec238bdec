"""A driver's error as category, SQLSTATE, the database's own words and advice."""

from envs.sql_errors.advice import nearest
from envs.sql_errors.classify import ErrorClassifier, classify, to_result

__all__ = ["ErrorClassifier", "classify", "nearest", "to_result"]
