"""Run a .sql file as the database's own client would (:func:`run_script`), or :func:`split` it."""

from __future__ import annotations

from envs.scripts.lexis import Dialect, Statement
from envs.scripts.run import run_script
from envs.scripts.split import split

__all__ = ["Dialect", "Statement", "run_script", "split"]
