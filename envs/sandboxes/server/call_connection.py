"""A tool call on a server (see :mod:`envs.sandboxes.contained`)."""

from __future__ import annotations

from typing import Any

from envs.errors import SandboxError
from envs.sandboxes.contained import ContainedCall, ContainedTransactions


class ServerCall(ContainedCall):
    """A call over a session with a server."""

    def rollback_to(self, savepoint: str) -> None:
        if not isinstance(self.broken, SandboxError):
            self.speak(f"ROLLBACK TO SAVEPOINT {savepoint}")
            self.broken = None


class ServerTransactions(ContainedTransactions):
    """Dialect mixin for a server: its transactions, and no opinion about lost connections."""

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        return False  # a session that is lost is the sandbox's affair
