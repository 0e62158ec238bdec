"""Questions of one's own, answered by the model of a live world with queries on the databases.

Conversations go on from request to request: kept in memory, or in a file over restarts. One is
found by its name, or by what its user has seen of it: the questions and the answers, which a client
of the OpenAI API sends again with each request. What is kept is more: the agent's calls and their
results, so that a later question can be about them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from envs.closing import Closing
from synth.agent import ReactAgent
from synth.core.agent.events import AgentEvent
from synth.core.agent.state import RolloutIdentity
from synth.core.dataset.sanitize import sanitize
from synth.core.foundation.hashing import digest
from synth.core.models.openai.wire import canonical_message
from synth.core.models.scripted.expert import ScriptedModel
from synth.core.tasks.system_prompt import system_prompt
from synth.errors import ModelRefusedRequest, OperatorError
from synth.ext.serving.live.session import SessionError
from synth.ext.serving.live.world import LiveWorld
from synth.ext.serving.questions.databases import QuestionDatabases
from synth.middleware import start
from synth.model import Completion, Usage
from synth.task import Message, Task
from synth.verdict import StopReason

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


POLICY = """\
You answer questions about databases, with tools that only read.
- find_tables says which tables of which databases a question may be about, likeliest first.
- Look at the columns (describe_table) and at some rows (sample_rows) before you write a query.
- Answer from the results of queries, never from memory.
- If a query fails or finds nothing, check the values and try another.
- End with the answer in plain words, and name the database. Say so if no database has it."""

_log = logging.getLogger(__name__)

NO_MODEL = (
    "the scripted expert plays tasks only: start the server with --model NAME to ask questions of"
    " your own"
)


@dataclass(frozen=True)
class QuestionAnswer:
    """The end of a turn. ``finished`` is false if a limit, or the model's refusal, ended it
    instead; then it is not kept.
    """

    conversation: str
    text: str
    stop_reason: str
    finished: bool
    usage: Usage

    def to_json(self) -> dict[str, Any]:
        return {"event": "answer", **asdict(self)}


@dataclass(frozen=True)
class _QuestionTurn:
    """A question, after the messages that the agent knows (``known``); of them its user has seen
    ``shown``. ``rules`` follow the system prompt, ``database`` is the only one to ask.
    """

    conversation: str
    known: Sequence[Message]
    shown: Sequence[Message]
    question: str
    rules: Sequence[str] = ()
    database: str | None = None


class Questions:
    """Answers questions; at most ``at_once`` together, and the others wait."""

    def __init__(
        self, live: LiveWorld, databases: QuestionDatabases, kept: Conversations, *, at_once: int
    ) -> None:
        self._live, self._databases, self._kept = live, databases, kept
        self._room = asyncio.Semaphore(at_once)
        self._busy: set[str] = set()
        self._now = live.run.plan.task(0).now

    @property
    def model(self) -> str:
        return self._live.context.model.name

    @property
    def about(self) -> list[str]:
        """The databases that can be asked about; none without a model that could answer."""
        return [] if self._scripted else self._databases.names

    @property
    def _scripted(self) -> bool:
        return isinstance(self._live.context.model, ScriptedModel)

    @contextmanager
    def asked(
        self, question: str, conversation: str | None = None, database: str | None = None
    ) -> Generator[_QuestionTurn]:
        """The turn that answers a question, the first of a conversation or the next one.

        Raises :class:`SessionError` without a model that could answer, for an unknown database,
        and for a conversation that is unknown, or is being answered.
        """
        if self._scripted:
            raise SessionError("bad_request", NO_MODEL)
        if database is not None and database not in self.about:
            raise SessionError("bad_request", f"database is one of {', '.join(self.about)}")
        name, known = conversation or secrets.token_urlsafe(9), list[Message]()
        if conversation is not None:
            if conversation in self._busy:
                raise SessionError("busy", "this conversation is being answered: wait")
            found = self._kept.named(conversation)
            if found is None:
                raise SessionError("not_found", "unknown conversation: the server forgot it")
            known = found
        self._busy.add(name)
        try:
            yield _QuestionTurn(name, known, seen(known), sanitize(question)[0], (), database)
        finally:
            self._busy.discard(name)

    async def complete(self, request: dict[str, Any]) -> Completion:
        """The answer to a chat-completions request. Its last message is the question; those before
        it are the conversation, with what the agent did in it where that is known.

        Raises :class:`~synth.errors.ModelError`.
        """
        messages = [sanitize(canonical_message(one))[0] for one in request["messages"]]
        if self._scripted:
            raise ModelRefusedRequest(NO_MODEL, False)
        if request.get("tools"):
            raise ModelRefusedRequest("the agent has tools of its own: send none", False)
        if messages[-1]["role"] != "user":
            raise ModelRefusedRequest("the last message is the question, of the role user", False)
        *shown, question = seen(messages)
        rules = [one["content"] for one in messages if one["role"] in ("system", "developer")]
        known = self._kept.continued(shown) if shown else []
        name = secrets.token_urlsafe(9)
        turn = _QuestionTurn(
            name, shown if known is None else known, shown, question["content"], rules
        )
        async with aclosing(self.run(turn)) as events:
            async for event in events:
                if isinstance(event, QuestionAnswer):
                    finish = "stop" if event.finished else "length"
                    return Completion(event.text, finish_reason=finish, usage=event.usage)
        raise AssertionError("a turn ends with its answer")

    async def run(self, turn: _QuestionTurn) -> AsyncGenerator[AgentEvent | QuestionAnswer]:
        """Play a turn: the agent's events, and the answer last.

        Raises :class:`~synth.errors.ModelError`, and :class:`~envs.errors.EnvsError` for an
        environment that breaks.
        """
        context = self._live.context
        rules = "\n\n".join([system_prompt(POLICY, self._now, None), *turn.rules])
        task = Task(f"question-{turn.conversation}", "question", "questions", turn.question, ())
        task = replace(task, now=self._now, gates=(), system=rules)
        messages = [
            {"role": "system", "content": rules},
            *(message for message in turn.known if message["role"] != "system"),
            {"role": "user", "content": turn.question},
        ]
        async with self._room:
            with self._databases.tools(task, turn.database) as tools:
                agent = ReactAgent(
                    lambda offered: context.model.start(task, offered, 0),
                    tools.interface,
                    context.agent,
                    middlewares=[start(name, maker) for name, maker in context.middlewares],
                    identity=RolloutIdentity(turn.conversation, 0, 0, task.id),
                )
                async with aclosing(agent.stream(messages)) as events:
                    async for event in events:
                        yield event
        assert agent.done is not None, "a stream that ended has a result"
        done = self._live.scrubber.value(agent.done.messages)
        finished = agent.done.stop_reason is StopReason.FINISHED
        text = str(done[-1]["content"]) if finished else ""
        if finished:
            asked = {"role": "user", "content": turn.question}
            shown = [*turn.shown, asked, {"role": "assistant", "content": text}]
            try:
                self._kept.keep(turn.conversation, shown, done)
            except OperatorError as full:  # the disk: the answer is there all the same
                _log.warning("%s", full)
        yield QuestionAnswer(
            turn.conversation, text, str(agent.done.stop_reason), finished, agent.done.usage
        )
