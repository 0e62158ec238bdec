"""Exceptions of `envs`, sorted by their reader.

    EnvsError
    ├── WorldError            the author of a world: which file, line or tool, and why
    │   ├── ScriptError       a statement of schema.sql or seed.sql that the database refused
    │   └── ExecutorError     an executor that broke its contract: a bug, never retried
    ├── DatabaseConfigError   the operator: a connection that cannot be described
    └── SandboxError          infrastructure: a sandbox that was lost; worth another attempt
        └── SandboxBusyError  the server still computes a statement that was ended

    ToolError                 the model: raised by an executor, becomes a tool result

To add one: derive it from the branch whose reader it has, and pass every argument on to
``super().__init__`` by position, so that it survives pickling between processes.
"""

from __future__ import annotations

import traceback
from pathlib import Path


class EnvsError(Exception):
    """Root of everything that `envs` raises on purpose."""

    retryable = False


class WorldError(EnvsError):
    """A world that its author has to mend; ``file`` and ``line`` say where, as far as known."""

    def __init__(
        self, message: str, file: str | Path | None = None, line: int | None = None
    ) -> None:
        super().__init__(message, file, line)
        self.message = message
        self.file = str(file) if file is not None else None
        self.line = line

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{where}: {self.message}" if where else self.message


class ScriptError(WorldError):
    """A statement of a .sql file failed; the message holds the database's own words."""


class ExecutorError(WorldError):
    """A tool's code broke its contract (crash, wrong result type, result off its output schema)."""


class DatabaseConfigError(EnvsError):
    """A connection that is described wrongly; nothing was tried yet."""


class SandboxError(EnvsError):
    """The sandbox itself failed, not the agent's statement."""

    retryable = True


class NoRoomError(SandboxError):
    """The database has as many sessions as it allows, or another transaction holds the rows."""


class SandboxBusyError(SandboxError):
    """The server still computes a statement of the sandbox that was ended for its time. To a tool
    call it is a timeout, which the model reads.
    """


class ToolError(Exception):
    """Raise it in an executor to speak to the model: the call becomes an error result, its writes
    are undone.

    ``category`` is a short machine-readable word, for example ``conflict`` or ``not_found``.
    """

    def __init__(self, message: str, category: str = "refused") -> None:
        super().__init__(message, category)
        self.message = message
        self.category = category

    def __str__(self) -> str:
        return self.message


def last_place(error: BaseException, within: str) -> tuple[str, int] | None:
    """The file and line that an error came through last, of the files whose names begin so."""
    frames = traceback.walk_tb(error.__traceback__)
    places = [(frame.f_code.co_filename, line) for frame, line in frames]
    return next((place for place in reversed(places) if place[0].startswith(within)), None)
