"""The presentation of the rows of a textual statement, computed once.

SQLAlchemy computes it for ``text()`` at each execution, a good part of the cost of a small query,
since the columns of ``SELECT *`` may differ the next time. It is a function of the statement and of
the columns that the driver names: here it is cached under both. The cache belongs to the compiled
statement, and goes with it when SQLAlchemy's cache drops it.
"""

# pyright: reportPrivateUsage=false
# ruff: noqa: SLF001 SQLAlchemy caches the same thing for its own constructs, in an attribute of the
# compiled statement.

from __future__ import annotations

import copy
from typing import Any

from sqlalchemy.dialects.sqlite.base import SQLiteExecutionContext

KEPT = 8
"""So many sets of columns of one statement; tables of one name in several worlds make several."""

_KEPT = "_envs_by_columns"


class SandboxContext(SQLiteExecutionContext):
    """One execution of a statement in a sandbox."""

    def _setup_result_proxy(self) -> Any:
        compiled: Any = self.compiled
        columns: Any = self.cursor.description
        if (
            columns is None
            or compiled is None
            or not self.is_text
            or compiled._result_columns
            or self.execution_options
        ):
            return super()._setup_result_proxy()
        kept: dict[Any, Any] = compiled.__dict__.setdefault(_KEPT, {})
        known = kept.get(columns)
        if known is not None:
            self.compiled = known
            return super()._setup_result_proxy()
        result = super()._setup_result_proxy()
        if len(kept) < KEPT:
            known = copy.copy(compiled)
            known._cached_metadata = result._metadata
            kept[columns] = known
        return result
