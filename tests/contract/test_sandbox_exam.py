"""Every engine's sandboxes sit the exam of envs.testing."""

from __future__ import annotations

from envs.sandboxes.sqlite import SqliteTemplate
from envs.testing import STATEMENTS, SandboxExam


class TestSqlite(SandboxExam):
    def template(self) -> SqliteTemplate:
        return SqliteTemplate.build(lambda connection: [connection.execute(each) for each in STATEMENTS])
