"""Conversations that go on from request to request: kept in memory, or in a file over restarts.

A conversation is found by its name, or by what its user has seen of it: the questions and the
answers, which a client of the OpenAI API sends again with each request. What is kept is more: the
agent's calls and their results, so that a later question can be about them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from envs.closing import Closing
from synth.core.foundation.hashing import digest
from synth.errors import OperatorError
from synth.task import Message

KEPT = 1_000
"""Answers after which a conversation may go on; of more, the oldest are forgotten."""

KEPT_S = 7 * 24 * 3600.0
"""Seconds after which an answer is forgotten."""


def seen(messages: Sequence[Message]) -> list[Message]:
    """The questions and the answers, in plain text: all that the user has seen."""
    return [
        {"role": message["role"], "content": message["content"]}
        for message in messages
        if message["role"] in ("user", "assistant") and not message.get("tool_calls")
    ]


class Conversations(Closing):
    """The messages of conversations, as they stood after each answer. Close it.

    Raises :class:`OperatorError` for a ``file`` that is something else, or cannot be written.
    """

    def __init__(self, file: Path | None = None) -> None:
        try:
            if file is not None:
                file.touch(mode=0o600)  # it holds rows of databases
            self._db = sqlite3.connect(file or ":memory:", isolation_level=None)
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS answers (number INTEGER PRIMARY KEY, name TEXT,"
                " seen TEXT, messages TEXT, at REAL)"
            )
            for column in ("name", "seen"):
                self._db.execute(
                    f"CREATE INDEX IF NOT EXISTS by_{column} ON answers ({column}, number)"
                )
        except (OSError, sqlite3.Error) as error:
            if hasattr(self, "_db"):
                self._db.close()
            raise OperatorError(f"--conversations: {file} cannot be used: {error}") from None

    def named(self, name: str) -> list[Message] | None:
        """The messages of the conversation; None if it is unknown, or forgotten."""
        return self._newest("name", name)

    def continued(self, shown: Sequence[Message]) -> list[Message] | None:
        """The messages of a conversation of which the user has seen exactly these."""
        return self._newest("seen", digest(list(shown)))

    def _newest(self, column: str, value: str) -> list[Message] | None:
        found = self._db.execute(
            f"SELECT messages FROM answers WHERE {column} = ? AND at > ? ORDER BY number DESC",
            (value, time.time() - KEPT_S),
        ).fetchone()
        return None if found is None else json.loads(found[0])

    def keep(self, name: str, shown: Sequence[Message], messages: Sequence[Message]) -> None:
        """Keep a conversation after an answer, and forget what is too old or too much.

        Raises :class:`OperatorError` if it cannot be stored.
        """
        now = time.time()
        try:
            self._db.execute(
                "INSERT INTO answers (name, seen, messages, at) VALUES (?, ?, ?, ?)",
                (name, digest(list(shown)), json.dumps(messages), now),
            )
            self._db.execute(
                "DELETE FROM answers WHERE at <= ?"
                " OR number <= (SELECT max(number) FROM answers) - ?",
                (now - KEPT_S, KEPT),
            )
        except sqlite3.Error as error:  # the disk
            raise OperatorError(f"the conversation was not kept: {error}") from None

    def close(self) -> None:
        self._db.close()
