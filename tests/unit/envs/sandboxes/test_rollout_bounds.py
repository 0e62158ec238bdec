"""A rollout's changes are bounded over all of its calls: its diff is made of them."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.mariadb import sandbox as mariadb_sandbox
from envs.sandboxes.postgres import sandbox as postgres_sandbox
from envs.sql_errors import classify
from envs.types import ErrorCategory, Limits, Pins
from tests.unit.envs.sandboxes.test_lost_connections import ENGINES, build


@pytest.mark.parametrize("engine", ENGINES)
def test_the_call_that_changes_too_much_is_refused(engine: str, monkeypatch: pytest.MonkeyPatch):
    """The bound is made small here; the calls before it stay."""
    for module in (mariadb_sandbox, postgres_sandbox):
        monkeypatch.setattr(module, "MAX_ROLLOUT_BYTES", 100)
    with build(engine) as made, made.open(Pins()) as sandbox:
        done = 0
        with pytest.raises(DBAPIError) as caught:
            for number in range(20):
                with sandbox.transaction(Limits()) as transaction:
                    transaction.connection.execute(
                        text("INSERT INTO t VALUES (:i, 'nineteen letters ok')"), {"i": number}
                    )
                done += 1
        assert classify(caught.value, sandbox.dialect) is ErrorCategory.LIMIT_EXCEEDED
        assert 2 < done < 10
        assert len(sandbox.diff().changes) == done
