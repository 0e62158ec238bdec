"""The contract of a verifier: evidence of a rollout in, one verdict out.

A verifier is named in a family's ``gates``: by the short name of a built-in, by an entry point of
the group ``synth.rewards``, or as ``package.module:Class``. A world's own gates and scores are
plain functions in its rewards.py (:mod:`synth.core.rewards.world_rewards`).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from envs.plugins import Contract
from envs.types import RowChange, Table, ToolResult
from synth.core.config.options import parse_options
from synth.errors import ConfigProblems, TaskError
from synth.task import Task
from synth.verdict import Verdict

if TYPE_CHECKING:
    from envs.world.query import QueryResult
    from synth.core.personal import People


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One executed tool call: its arguments, its outcome and the rows that it changed.

    ``arguments`` is None for a call whose arguments could not be read. ``category`` is the
    error's (None for a call that succeeded), ``result`` what the tool returned.
    """

    name: str
    arguments: Mapping[str, Any] | None
    ok: bool
    category: str | None
    read_only: bool
    changes: Sequence[RowChange] = ()
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn of the user. ``after`` is the number of tool calls executed before it.

    ``text`` is the turn's text, ``told`` names the topics that the user answered; ``fault`` says
    what the user did wrong. ``corrects`` is set if the user objects to a proposal. A yes licenses
    the tools that it ``covers``; none named stands for all. ``then`` is the number of the later
    wish that the turn brings. ``calls`` are the user's own, no acts of the agent.
    """

    after: int
    told: Sequence[str] = ()
    consents: bool = False
    declines: bool = False
    fault: str | None = None
    text: str = ""
    covers: Sequence[str] = ()
    corrects: bool = False
    then: int | None = None
    calls: Sequence[CallRecord] = ()


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of the assistant, to the user or beside tool calls. ``after`` is the number of tool
    calls executed before them, ``turns`` the number of the user's turns.
    """

    after: int
    text: str
    turns: int = 0


Ask = Callable[[str], "QueryResult | ToolResult"]
"""Executes a query on one database, read-only and under the limits of answers; returns a failed
result for a query that fails.
"""


@dataclass(frozen=True, slots=True)
class Databases:
    """The databases on which a submitted query is executed.

    ``own`` is the end state. ``turned`` is the task's database as it was before the rollout, with
    other random numbers and, on engines that can, the rows of every query without ORDER BY in
    reverse. ``others()`` are further databases of the same schema, the same ones each time; each is
    made when it is asked for, and ends the one before. ``copied``: all are copies of the own one.
    """

    own: Ask
    turned: Ask
    others: Callable[[], Iterator[Ask]]
    copied: bool = False


class Query(Protocol):
    """Asks the end state, read-only; ``:name`` in the SQL is bound to a value of ``values``.

    Returns rows as dicts of JSON values. Raises :class:`synth.errors.TaskError` for a query that
    fails.
    """

    def __call__(
        self, sql: str, values: Mapping[str, object] | None = None, /
    ) -> list[dict[str, Any]]: ...


def end_state_gone(sql: str, values: Mapping[str, object] | None = None, /) -> list[dict[str, Any]]:
    """The :class:`Query` of an end state that no longer exists: raises TaskError."""
    raise TaskError("the database is gone: its end state cannot be queried")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a finished rollout left behind, as verifiers and a world's rewards see it.

    - ``task``: what was asked, with its gold solution and its slots.
    - ``changes``: the net row changes between the task's database and the end state.
    - ``calls``: every executed tool call in order, with arguments, result and row changes.
    - ``submitted``: the arguments of the answer that was handed in by ``submit``, or None.
    - ``turns``: the turns of the user, in order.
    - ``said``: the assistant's last words.
    - ``utterances``: all of the assistant's words in order, those beside tool calls too.
    - ``tools``: the schemas of the tools that the assistant was offered, in OpenAI's form
      (``tools_json`` is their text); ``writers``: the names of those that may change rows.
    - ``people``: the people of the task's database; None if the world has no personal columns.
    - ``query(sql)``: rows of the end state as a list of dicts; read-only.
    - ``tables``: the schema by table name; ``engine``: the database engine, such as ``sqlite``.
    - ``databases``: where a submitted query is executed; None when they are gone.
    - ``before``: in a composed task, the evidence of the request before this one; ``beside``: the
      evidence of the other requests in the same message.

    Of a composed task, ``submitted`` maps the number of a request ("1") to the answer to it.
    """

    task: Task
    changes: Sequence[RowChange]
    calls: Sequence[CallRecord]
    submitted: Mapping[str, Any] | None
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])
    turns: Sequence[TurnRecord] = ()
    query: Query = end_state_gone
    engine: str = "sqlite"
    said: str = ""
    databases: Databases | None = None
    utterances: Sequence[Utterance] = ()
    tools_json: str = "[]"
    writers: frozenset[str] = frozenset()
    people: People | None = None
    before: Evidence | None = None
    beside: Sequence[Evidence] = ()

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of the tools that the assistant was offered, in OpenAI's form; a new list
        each time, kept as text until a reward asks for it.
        """
        return json.loads(self.tools_json)

    @property
    def so_far(self) -> Sequence[Evidence]:
        """The evidence of the requests of a composed task that the user has made by now, this one
        last.
        """
        earlier = () if self.before is None else self.before.so_far
        return [*earlier, *self.beside, self]

    @property
    def spoken(self) -> Sequence[Utterance]:
        """The assistant's words that are not blank; its last words if no others are known."""
        given = self.utterances or (Utterance(len(self.calls), self.said),)
        return [words for words in given if words.text.strip()]


class Verifier(Contract, ABC):
    """Judges one aspect of a rollout.

    A subclass sets ``name``, which its verdicts carry, and is constructed without arguments. A
    verifier with options sets ``options`` to their typed model, a dataclass or a pydantic model;
    ``verify`` then receives an instance of it. ``verify`` has no side effects and gives equal
    verdicts for equal evidence: :class:`synth.testing.RewardConformance` checks that.

    ``asks_databases`` is True if ``verify`` executes queries that the agent wrote, so that it is
    called in a thread. ``validation`` names the checks and attacks of the gate as
    ``package.module:Class``, a subclass of ``synth.core.validation.base.GateValidation``.
    """

    name: str
    options: ClassVar[type[Any] | None] = None
    asks_databases: ClassVar[bool] = False
    validation: ClassVar[str] = ""

    def parse_options(self, raw: Any) -> Any:
        """Check the options that a family's ``gates`` give to this verifier; None stands for none.

        It is called when tasks.yaml is read, so that a mistake is reported with file and line, and
        again before each judgement. Raises :class:`~synth.errors.ConfigProblems`, one line for each
        mistake, each beginning with the full key.
        """
        if self.options is not None:
            if raw is not None and not isinstance(raw, Mapping):
                raise ConfigProblems([f"{self.name}: the options must be a mapping, not {raw!r}"])
            return parse_options(self.options, cast("Mapping[str, Any]", raw or {}), self.name)
        if raw is not None:
            raise ConfigProblems([f"{self.name}: takes no options"])
        return None

    @abstractmethod
    def verify(self, evidence: Evidence, options: Any) -> Verdict:
        """Return the finding.

        ``score`` is 1.0 or 0.0 for a gate, anything from 0 to 1 for a weighted score
        (``gate=False``), and None if the evidence does not allow a judgement. Raises
        :class:`~synth.errors.TaskError` if a query of the task's own fails.
        """
