"""A task to play: messages, tools, calls, a user to talk to, and a score that the player cannot reach into.

The rollout is built on it; so are notebooks, by ``call`` and ``say``, and adapters for reinforcement learning, by ``step``::

    with synth.open("ehr_db", family="record_heart_rate") as episode:
        outcome = await episode.call("find_patients", {"name": "Ada"})
        turn = await episode.say("Which Ada do you mean?")
        print(outcome.content, turn.text, episode.score().reward)

    with synth.open("ehr_db", index=7) as episode:
        while not episode.done:
            await episode.step(policy(episode.messages, episode.tools))  # an assistant message in, what follows out
        print(episode.score().reward)
"""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from types import TracebackType
from typing import Any, Self, TypeVar

from envs.asking import ANSWER_LIMITS, Answer, ask
from envs.audit import Audit, digest_of
from envs.database import DatabaseExecutableEnvironment
from envs.folder import World
from envs.metrics import Execution
from envs.sandboxes.base import Template
from envs.tool import Tool
from envs.toolbox import Toolbox
from envs.types import Limits, Pins, StateDiff, ToolCall, ToolOutcome, ToolResult
from synth.agent.acting import CalledOffError, Hands
from synth.agent.bus import EventBus
from synth.agent.middleware.base import AgentMiddleware
from synth.agent.react import ReactAgent
from synth.agent.run import AgentLimits
from synth.agent.state import Identity, ToolInfo
from synth.canonical import canonical
from synth.dataset.sanitize import sanitize
from synth.errors import OperatorError, TaskError
from synth.models.base import Model
from synth.tasks.queries import run_query
from synth.tasks.sql_question import sql_gate
from synth.tasks.words import SUBMIT
from synth.types import Message, Task, UserTurn, Verdict
from synth.users.base import User, UserConversation
from synth.users.scripted import ScriptedUser
from synth.verifiers import CallRecord, Databases, Evidence, judge, reward
from synth.verifiers.base import Ask, TurnRecord

Json = Any
T = TypeVar("T")

SUBMIT_DESCRIPTION = "Hand in the final answer, once, when the work is done. Then reply to the user in words."


@dataclass(frozen=True)
class Score:
    """The verdicts and what they come to; ``reward`` is None where a verifier could not judge."""

    verdicts: Sequence[Verdict]
    reward: float | None


class Episode:
    """One task on one fresh sandbox, with its user. Single use; close it, or use it as a context manager.

    ``messages`` begins with the opening and grows by :meth:`step`. ``done`` says that nothing more is to be played. A task that
    has a user is played with ``user`` under ``seed``, by default the scripted one under the task's own seed. ``audit`` logs each call.
    """

    def __init__(
        self,
        task: Task,
        world: World,
        template: Template,
        limits: Limits | None = None,
        *,
        unordered: bool = False,
        user: User | None = None,
        seed: int | None = None,
        audit: Audit | None = None,
    ) -> None:
        self.task = task
        self.done = False
        self.turns: list[TurnRecord] = []
        self.said = ""
        self.user = None if task.user is None else user or ScriptedUser()
        self._talk: UserConversation | None = None
        if self.user is not None and task.user is not None:
            self._talk = self.user.start(task.user, task.seed if seed is None else seed)
        self.messages: list[Message] = [{"role": "system", "content": task.system}] if task.system else []
        self.messages.append({"role": "user", "content": task.prompt})
        self.submitted: Mapping[str, Json] | None = None
        self.calls: list[CallRecord] = []
        self._call_ids: list[str] = []
        self._template = template
        timeout = ANSWER_LIMITS.statement_timeout_ms if limits is None else limits.statement_timeout_ms
        self._asking = ANSWER_LIMITS.tightened(Limits(True, timeout, None, None))
        self._environment: DatabaseExecutableEnvironment = world.environment(
            template, Pins(task.now, task.seed), limits, unordered=unordered, audit=audit
        )
        self._submit = None if task.answer is None else _submit_box(canonical(task.answer))
        shown: list[Tool] = [*self._environment.tools, *(self._submit.tools if self._submit else ())]
        self.tools: list[Json] = [each.to_openai() for each in shown]
        boxes = (self._environment.toolbox, *((self._submit,) if self._submit else ()))
        self.infos: Mapping[str, ToolInfo] = {name: info for box in boxes for name, info in _infos(box).items()}
        self.concurrent_reads = self._environment.concurrent_reads
        self.state_hash_before = self._environment.state_hash()

    def agent(
        self,
        model: Model,
        limits: AgentLimits | None = None,
        *,
        middlewares: Sequence[AgentMiddleware] = (),
        identity: Identity | None = None,
        bus: EventBus | None = None,
    ) -> ReactAgent:
        """An agent that works on the task with this model: ``await agent.run(episode.messages)``, or ``agent.stream(...)``.

        Where the task has a user, ``run`` and ``stream`` want ``episode.say`` beside the messages.
        """
        identity = identity or Identity(self.task.id, 0, self.task.seed, self.task.id)
        return ReactAgent(
            lambda tools: model.start(self.task, tools, identity.seed),
            Hands(self._act, self.tools, self.infos, self.check, self.concurrent_reads, self._settle),
            limits or AgentLimits(),
            middlewares=middlewares,
            identity=identity,
            bus=bus,
        )

    async def call(self, call: ToolCall | str, arguments: Mapping[str, Json] | None = None) -> ToolOutcome:
        """Execute a tool call, given as the model emitted it or as a name with arguments.

        Where it is cancelled, a call that runs in a thread is waited for first: nothing goes on in the sandbox behind anybody's
        back. Its limits bound that wait.

        Raises :class:`envs.errors.ExecutorError` for a bug of the world's author and
        :class:`envs.errors.SandboxError` for broken infrastructure.
        """
        if isinstance(call, str):
            call = ToolCall.of(call, arguments or {}, f"call_{len(self.calls)}")
        try:
            return await self._act(call)
        except CalledOffError:
            raise asyncio.CancelledError from None

    async def _act(self, call: ToolCall) -> ToolOutcome:
        """As :meth:`call`; raises :class:`CalledOffError` with the outcome where it was cancelled meanwhile."""
        called_off = False
        if self._submit is not None and call.name == SUBMIT:
            began = time.perf_counter()
            outcome, read_only = self._hand_in(call, self._submit), True
            if (audit := self._environment.audit) is not None:
                end = "ok" if outcome.result.ok else outcome.result.category or "unknown"
                ms = (time.perf_counter() - began) * 1000
                audit.call(call, SUBMIT, digest_of(call, outcome.arguments, ()), ms=ms, outcome=end)
        else:
            environment = self._environment
            known = call.name in environment.toolbox
            read_only = known and environment.toolbox[call.name].read_only
            if environment.inline(call.name):
                outcome = environment.call(call)
            else:
                outcome, called_off = await _to_its_end(partial(environment.call, call))
        result = outcome.result
        self.calls.append(
            CallRecord(call.name, outcome.arguments, result.ok, result.category, read_only, outcome.changes)
        )
        self._call_ids.append(call.id)
        if called_off:
            raise CalledOffError(outcome)
        return outcome

    def _settle(self, calls: Sequence[ToolCall], count: int) -> None:
        """Put calls that overlapped, the last ones, into their order, and forget those behind the first ``count``."""
        places = {call.id: at for at, call in enumerate(calls)}
        first = len(self.calls)
        while first and self._call_ids[first - 1] in places:
            first -= 1
        ended = zip(self._call_ids[first:], self.calls[first:], strict=True)
        kept = sorted((pair for pair in ended if places[pair[0]] < count), key=lambda pair: places[pair[0]])
        self.calls[first:] = [record for _, record in kept]
        self._call_ids[first:] = [call_id for call_id, _ in kept]

    def check(self, call: ToolCall) -> ToolResult | None:
        """What is wrong with a call itself (no JSON, no such tool, arguments off its schema); None for a sound one."""
        box = self._submit if self._submit is not None and call.name == SUBMIT else self._environment.toolbox
        parsed = box.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    async def say(self, text: str) -> UserTurn:
        """Speak to the user; its turn ``ends`` where nobody answers (any more). Raises what the user raises.

        The user hears what a record can hold, so that a replay tells it the same.
        """
        self.said = text = sanitize(text)[0]
        if self._talk is None or self.done:
            self.done = True
            return UserTurn(ends=True)
        turn = await self._talk.reply(text)
        self.done = turn.ends
        self.turns.append(TurnRecord(len(self.calls), turn.told, turn.consents, turn.declines, turn.fault))
        return turn

    async def step(self, message: Message) -> list[Message]:
        """Take an assistant message in OpenAI's form; returns, and appends to ``messages``, what follows it.

        Its calls are executed, each answered by a tool message; without calls its text goes to the user, who answers or
        ends the episode. Raises :class:`OperatorError` where the episode is over, or for a message that is not the assistant's.
        """
        if self.done:
            raise OperatorError("the episode is over: score() judges it, synth.open() starts another")
        calls, text = _parts_of(message, len(self.calls))
        follow: list[Message] = []
        for call in calls:
            outcome = await self.call(call)
            follow.append(
                {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": outcome.result.content()}
            )
        if not calls and not (turn := await self.say(text)).ends:
            follow.append({"role": "user", "content": turn.text})
        self.messages += [copy.deepcopy(message), *follow]
        return follow

    def _hand_in(self, call: ToolCall, box: Toolbox) -> ToolOutcome:
        parsed = box.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        arguments = parsed[1]
        if self.submitted is not None:
            result = ToolResult.failure("An answer was handed in already; the first one counts.", category="duplicate")
        else:
            self.submitted = copy.deepcopy(arguments)  # whoever keeps the outcome cannot change the answer
            result = ToolResult({"status": "received"})
        return ToolOutcome(call, result, result.content(), arguments)

    def diff(self) -> StateDiff:
        """The net row changes so far."""
        return self._environment.diff()

    @property
    def executions(self) -> Sequence[Execution]:
        """The calls so far that reached the world, in the order of their results: all but an answer that was handed in."""
        return self._environment.executions

    def state_hash(self) -> str:
        return self._environment.state_hash()

    def evidence(self) -> Evidence:
        """What the verifiers judge."""
        return Evidence(
            self.task,
            self.diff().changes,
            self.calls,
            self.submitted,
            self._template.tables,
            self.turns,
            self._query,
            self._template.engine,
            self.said,
            Databases(self._ask, self._ask_turned, self._ask_others),
        )

    def _ask(self, sql: str) -> Answer | ToolResult:
        """The answer of a query on the end state; only while the episode is open."""
        return ask(self._environment.sandbox, self._template.tables, sql, self._asking, self._environment.apart)

    def _ask_turned(self, sql: str) -> Answer | ToolResult:
        return self._ask_of(self._template, sql, unordered=True)

    def _ask_others(self, count: int) -> Iterator[Ask]:
        for template in self._template.siblings.first(count):
            yield partial(self._ask_of, template)

    def _ask_of(self, template: Template, sql: str, *, unordered: bool = False) -> Answer | ToolResult:
        with template.open(Pins(self.task.now, self.task.seed + 1), unordered=unordered) as sandbox:
            return ask(sandbox, template.tables, sql, self._asking, self._environment.apart)

    def _query(self, sql: str, binds: Mapping[str, Json]) -> list[dict[str, Json]]:
        """Rows of the end state, read-only; only while the episode is open."""
        return run_query(self._environment.sandbox, sql, binds, self._template, TaskError("", family=self.task.family))

    async def scored(self) -> Score:
        """As :meth:`score`. Where judging asks queries that somebody else wrote, or a server, it waits in a thread."""
        if self._environment.in_place and sql_gate(self.task) is None:
            return self.score()
        score, called_off = await _to_its_end(self.score)
        if called_off:
            raise asyncio.CancelledError
        return score

    def score(self) -> Score:
        """Judge the present state. Asking changes nothing, and nothing of it is shown to the player.

        What failed through the user's own fault has no reward.
        """
        verdicts = judge(self.evidence())
        faulty = any(turn.fault for turn in self.turns)
        return Score(verdicts, None if faulty else reward(verdicts))

    def close(self) -> None:
        self._environment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _parts_of(message: Json, place: int) -> tuple[list[ToolCall], str]:
    """The calls and the text of an assistant message; ``place`` numbers the calls that have no id.

    Raises :class:`OperatorError` for what is not a message in OpenAI's form; what its arguments hold is the tools' affair.
    """
    if not _is(message, Mapping):
        raise OperatorError(f"a step takes an assistant message as a mapping, not {type(message).__name__}")
    if message.get("role") != "assistant":
        raise OperatorError(f"a step takes a message of the role assistant, not {message.get('role')!r}")
    calls: Json = message.get("tool_calls") or ()
    if not _is(calls, list, tuple):
        raise OperatorError(f"tool_calls of an assistant message is a list or null, not {type(calls).__name__}")
    content: Json = message.get("content") or ""
    parts: Sequence[Json] = content if _is(content, list, tuple) else ({"text": content},)
    if not all(_is(part, Mapping) and _is(part.get("text"), str) for part in parts):
        raise OperatorError("content of an assistant message is a string, a list of text parts, or null")
    return [_call_of(each, at) for at, each in enumerate(calls, place)], "".join(part["text"] for part in parts)


def _call_of(entry: Json, at: int) -> ToolCall:
    """A call of an assistant message; its arguments are JSON text, as a model emits them, or an object."""
    function: Json = entry.get("function") if _is(entry, Mapping) else None
    if not _is(function, Mapping) or not _is(function.get("name"), str):
        raise OperatorError('an entry of tool_calls is {"id": ..., "function": {"name": ..., "arguments": ...}}')
    name: str = function["name"]
    arguments: Json = function.get("arguments", "")
    try:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise OperatorError(f"the arguments of {name} are JSON text or an object of JSON values") from error
    return ToolCall(str(entry.get("id") or f"call_{at}"), name, text)


async def _to_its_end(call: Callable[[], T]) -> tuple[T, bool]:
    """The outcome of a call that runs in a thread, and whether the caller was cancelled while it did."""
    running = asyncio.ensure_future(asyncio.to_thread(call))
    called_off = False
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            called_off = True
    return running.result(), called_off


def _is(value: Json, *kinds: type) -> bool:
    return isinstance(value, kinds)


@lru_cache(maxsize=64)
def _infos(box: Toolbox) -> Mapping[str, ToolInfo]:
    return {each.name: ToolInfo(each.name, each.read_only, each.risk == "destructive") for each in box.tools}


@lru_cache(maxsize=256)
def _submit_box(answer: str) -> Toolbox:
    """The submit tool of an answer's schema (as canonical JSON), its validator compiled once per family."""
    schema: dict[str, Json] = json.loads(answer)

    def never(arguments: dict[str, Json], db: object) -> ToolResult:
        raise AssertionError("submit is handled by the episode")

    return Toolbox([Tool(SUBMIT, SUBMIT_DESCRIPTION, schema, never, read_only=True)])
