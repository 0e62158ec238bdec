"""An episode: one task to play, with messages, tools, calls, a user, and a score that the player
cannot influence.

Rollouts are built on it; so are notebooks, by ``call`` and ``say``, and adapters for reinforcement
learning, by ``step``::

    with synth.open("ehr_db", family="record_heart_rate") as episode:
        outcome = await episode.call("find_patients", {"name": "Ada"})
        turn = await episode.say("Which Ada do you mean?")
        print(outcome.content, turn.text, episode.score().reward)

    with synth.open("ehr_db", index=7) as episode:
        while not episode.done:
            # An assistant message in, the messages that follow it out.
            await episode.step(policy(episode.messages, episode.tools))
        print(episode.score().reward)
"""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from envs.closing import Closing
from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import SandboxError
from envs.metrics import Execution
from envs.sandboxes.base import Sandbox, Template
from envs.tools.toolbox import Toolbox
from envs.types import (
    ANSWER_LIMITS,
    ErrorStyle,
    Limits,
    Pins,
    StateDiff,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from envs.world.loader import World
from synth.agent import ReactAgent
from synth.core.agent.assistant_message import parse_assistant_message
from synth.core.agent.rollout_result import AgentLimits
from synth.core.agent.state import RolloutIdentity, ToolInfo
from synth.core.agent.submit_tool import due_answer, submit_toolbox
from synth.core.agent.turn import CalledOffError, ToolInterface
from synth.core.dataset.sanitize import sanitize
from synth.core.personal import people_of
from synth.core.renaming.opening import layer_of, opening_of
from synth.core.tasks.queries import run_query
from synth.core.tasks.setup_calls import open_environment
from synth.core.tasks.shown_texts import ShownTexts
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.types.reply import Act
from synth.core.users import AbsentUser
from synth.core.users.scripted.user import ScriptedUser
from synth.errors import OperatorError, TaskError
from synth.evidence import Ask, TurnRecord, Utterance
from synth.middleware import AgentMiddleware
from synth.model import Model
from synth.plugins import resolve
from synth.rewards import (
    CallRecord,
    Databases,
    Evidence,
    asks_databases,
    judge,
    solved,
    total_reward,
    world_rewards,
)
from synth.task import Message, Task
from synth.user import User, UserConversation, UserTurn
from synth.verdict import Verdict

if TYPE_CHECKING:
    from envs.audit import Audit
    from envs.world.query import QueryResult
    from synth.core.agent.event_stream import EventStream
    from synth.core.renaming.translator import RenamingLayer

T = TypeVar("T")

MOST_USER_CALLS = 20
"""The most calls that the user may make before it speaks."""

_DUPLICATE = ToolResult.failure(
    "An answer was handed in already; the first one counts.", category="duplicate"
)


@dataclass(frozen=True)
class Score:
    """The verdicts and their reward; ``reward`` is None if a verifier could not judge."""

    verdicts: Sequence[Verdict]
    reward: float | None

    @property
    def solved(self) -> bool:
        """True if the rollout has a reward and passes every gate."""
        return self.reward is not None and solved(self.verdicts)


class Episode(Closing):
    """One task on one fresh sandbox, with its user. Single use; close it, or use it as a context
    manager.

    ``messages`` begins with the opening and grows by :meth:`step`. ``done`` is true once the
    conversation is over. The task is played with ``user`` under ``seed``, by default with the
    scripted one under the task's own seed; its ``role`` is the task's with the world's tools. With
    :class:`~synth.core.users.AbsentUser`, ``user`` is None afterwards. ``audit`` logs each
    call.
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
        self.error_style: ErrorStyle = "advice"
        """The form of errors in the messages of :meth:`step`."""
        self.done = False
        self.turns: list[TurnRecord] = []
        self.said = ""
        self.utterances: list[Utterance] = []
        used = (
            {**tool.to_openai()["function"], "read_only": tool.read_only}
            for tool in world.user_toolbox.tools
        )
        self.role = replace(task.role, tools=tuple(used))
        self.user = None if isinstance(user, AbsentUser) else user or ScriptedUser()
        self._talk: UserConversation | None = None
        if self.user is not None:
            self._talk = self.user.start(self.role, task.seed if seed is None else seed)
        self.messages = opening_of(task)
        self._answers: dict[int, Mapping[str, Any]] = {}
        self._requests = frozenset(task.role.requests if task.parts else ())
        self.calls: list[CallRecord] = []
        self._call_ids: list[str] = []
        if (toolset := task.extras.get("tools")) is not None:
            world = replace(world, toolbox=world.toolbox.only(toolset))
        self._world, self._template = world, template
        self._rewards = world_rewards(world)
        timeout = (
            ANSWER_LIMITS.statement_timeout_ms if limits is None else limits.statement_timeout_ms
        )
        self._asking = ANSWER_LIMITS.tightened(Limits(True, timeout, None, None))
        self._other_pins = Pins(task.now, task.seed + 1)
        self._environment = open_environment(
            task, world, template, limits, unordered=unordered, audit=audit
        )
        self._texts = ShownTexts.of(task)
        shown = task.submit_parameters
        self._submit = None if shown is None else submit_toolbox(shown, several=bool(task.parts))
        boxes = (self._environment.offered, *((self._submit,) if self._submit else ()))
        self._shown, self.offered, self.infos = _offer(boxes)
        self._tools_json = self._shown
        self._writing = frozenset(info.name for info in self.infos.values() if not info.read_only)
        self._renaming = layer_of(task, boxes)
        if self._renaming is not None:
            self._shown, self.offered, self.infos = _offer((self._renaming.toolbox,))
        self.concurrent_reads = self._environment.concurrent_reads
        self.state_hash_before = self._environment.state_hash()

    def agent(
        self,
        model: Model,
        limits: AgentLimits | None = None,
        *,
        middlewares: Sequence[AgentMiddleware] = (),
        identity: RolloutIdentity | None = None,
        event_stream: EventStream | None = None,
    ) -> ReactAgent:
        """An agent that works on the task with this model: ``await agent.run(episode.messages)``,
        or ``agent.stream(...)``.

        ``run`` and ``stream`` take ``episode.say`` beside the messages, so that the user answers.
        """
        identity = identity or RolloutIdentity(self.task.id, 0, self.task.seed, self.task.id)
        return ReactAgent(
            lambda tools: model.start(self.task, tools, identity.seed),
            ToolInterface(
                self._act,
                self.offered,
                self.infos,
                self.check,
                self.concurrent_reads,
                self._settle,
                self.utter,
            ),
            (limits or AgentLimits()).for_requests(self.task.request_count),
            middlewares=middlewares,
            identity=identity,
            event_stream=event_stream,
        )

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The schemas of the tools that a model is offered. They are the player's own; ``offered``
        are those that all episodes share.
        """
        return json.loads(self._shown)

    async def call(
        self, call: ToolCall | str, arguments: Mapping[str, object] | None = None
    ) -> ToolOutcome:
        """Execute a tool call, given as the model emitted it or as a name with arguments.

        If it is cancelled, it waits for a call that runs in a thread, so that nothing changes the
        sandbox afterwards. The limits of the call bound that wait.

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
        """As :meth:`call`; raises :class:`CalledOffError` with the outcome if it was cancelled
        meanwhile.
        """
        layer = self._renaming
        if layer is None:
            return await self._execute(call)
        inside = layer.enter(call)
        if isinstance(inside, ToolOutcome):
            return self._turned_away(inside, layer)
        try:
            return layer.leave(call, await self._execute(inside))
        except CalledOffError as late:
            raise CalledOffError(layer.leave(call, late.outcome)) from None

    def _turned_away(self, outcome: ToolOutcome, layer: RenamingLayer) -> ToolOutcome:
        """Keep account of a call that the world does not see: the renaming answered it."""
        call, name, category = outcome.call, layer.own_name(outcome.call), outcome.result.category
        self._environment.executions.append(Execution(call.id, name, category, 0.0, 0))
        if (audit := self._environment.audit) is not None:
            audit.call(call, name, None, ms=0.0, outcome=category or "ok")
        read_only = name is not None and name not in self._writing
        self.calls.append(replace(_record(outcome, read_only=read_only), name=name or call.name))
        self._call_ids.append(call.id)
        return outcome

    async def _execute(self, call: ToolCall) -> ToolOutcome:
        """Execute a call that is in the world's own names."""
        called_off = False
        if self._submit is not None and call.name == SUBMIT:
            began = time.perf_counter()
            outcome, read_only = self._hand_in(call, self._submit), True
            if (audit := self._environment.audit) is not None:
                end = "ok" if outcome.result.ok else outcome.result.category or "unknown"
                ms = (time.perf_counter() - began) * 1000
                audit.call(call, SUBMIT, outcome.arguments, ms=ms, outcome=end)
        else:
            box = self._environment.toolbox
            read_only = call.name in box and box[call.name].read_only
            outcome, called_off = await _called(self._environment, call)
            if self._texts and outcome.result.ok:
                shown = self._texts.shown(outcome.result.output)
                changed = replace(outcome.result, output=shown)
                outcome = replace(outcome, result=changed, content=changed.content())
        self.calls.append(_record(outcome, read_only=read_only))
        self._call_ids.append(call.id)
        if called_off:
            raise CalledOffError(outcome)
        return outcome

    def _settle(self, calls: Sequence[ToolCall], count: int) -> None:
        """Sort the last calls, which overlapped, into the order of ``calls``, and drop all but the
        first ``count``.
        """
        positions = {call.id: index for index, call in enumerate(calls)}
        first = len(self.calls)
        while first and self._call_ids[first - 1] in positions:
            first -= 1
        ended = zip(self._call_ids[first:], self.calls[first:], strict=True)
        kept = sorted(
            (pair for pair in ended if positions[pair[0]] < count),
            key=lambda pair: positions[pair[0]],
        )
        self.calls[first:] = [record for _, record in kept]
        self._call_ids[first:] = [call_id for call_id, _ in kept]

    def check(self, call: ToolCall) -> ToolResult | None:
        """The fault of a call itself (not JSON, an unknown tool, arguments against its schema);
        None if there is none.
        """
        box = self._environment.toolbox
        if self._renaming is not None:
            box = self._renaming.toolbox
        elif self._submit is not None and call.name == SUBMIT:
            box = self._submit
        parsed = box.parse(call)
        return parsed if isinstance(parsed, ToolResult) else None

    def own_text(self, text: str) -> str:
        """Words of the agent as user and verifiers get them: in the world's own names, not in
        the task's renaming, and without quotes of the task's shown texts.
        """
        own = text if self._renaming is None else self._renaming.own_text(text)
        return self._texts.without_quotes(own)

    def _own_utterances(self) -> tuple[Utterance, ...]:
        if self._renaming is None and not self._texts:
            return tuple(self.utterances)
        return tuple(replace(said, text=self.own_text(said.text)) for said in self.utterances)

    def own_call(self, outcome: ToolOutcome) -> CallRecord:
        """An outcome that the agent was shown, as evidence."""
        return _record(outcome if self._renaming is None else self._renaming.inside(outcome))

    def utter(self, text: str) -> str:
        """Take note of words of the assistant that go to nobody, such as those beside tool calls.

        Returns the text as a record can hold it.
        """
        text = sanitize(text)[0]
        self.utterances.append(Utterance(len(self.calls), text, len(self.turns)))
        return text

    async def say(self, text: str, acts: Sequence[Act] = ()) -> UserTurn:
        """Speak to the user. Its turn ``ends`` if there is no user, or the conversation is over.
        ``acts`` are those that the turn states as data; without any, the user hears its words.

        The user receives the text as a record can hold it, so that a replay gives it the same text.
        Raises what the user raises.
        """
        self.said = text = self.utter(text)
        if self._talk is None or self.done:
            self.done = True
            return UserTurn(ends=True)
        turn = await self.hear(await self._talk.answer(self.own_text(text), acts))
        self.done = turn.ends
        return turn

    async def hear(self, turn: UserTurn) -> UserTurn:
        """Take a turn of the user: its calls are made, and until it speaks it observes what they
        came to. Returns the turn with all of its calls.
        """
        made: list[CallRecord] = []
        while fresh := turn.calls[len(made) :]:
            made += [await self._use(call) for call in fresh]
            if len(made) > MOST_USER_CALLS:
                turn = replace(turn, ends=True, fault="calls without end")
            if turn.text or turn.ends or self._talk is None:
                break
            results = [record.result or ToolResult() for record in made[-len(fresh) :]]
            turn = _followed(turn, await self._talk.observe(results))
        kept = (one.name for one in fields(TurnRecord) if one.name not in ("after", "calls"))
        shown: dict[str, Any] = {name: getattr(turn, name) for name in kept}
        self.turns.append(TurnRecord(len(self.calls), calls=tuple(made), **shown))
        return turn

    async def _use(self, call: ToolCall) -> CallRecord:
        """Make a call of the user's."""
        users = self._environment.beside(self._world.user_toolbox)
        outcome, called_off = await _called(users, call)
        if called_off:
            raise asyncio.CancelledError
        return _record(outcome)

    async def step(self, message: Message, most_calls: int | None = None) -> list[Message]:
        """Take an assistant message in OpenAI's form; return the messages that follow it, which
        are appended to ``messages`` as well.

        Its calls are executed, each answered by a tool message; without calls its text goes to the
        user, who answers or ends the episode. Calls beyond the first ``most_calls`` are neither
        executed nor kept. Raises :class:`OperatorError` if the episode is over, and for a message
        that is not the assistant's.
        """
        if self.done:
            raise OperatorError(
                "the episode is over: score() judges it, synth.open() starts another"
            )
        calls, text = parse_assistant_message(message, len(self.calls))
        follow: list[Message] = []
        if calls:
            self.utter(text)
        for call in calls[:most_calls]:
            outcome = await self.call(call)
            follow.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "name": call.name,
                    "content": outcome.result.content(self.error_style),
                }
            )
        if not calls and not (turn := await self.say(text)).ends:
            follow.append({"role": "user", "content": turn.text})
        kept = copy.deepcopy(message)
        if calls[:most_calls] != calls:
            kept = {**kept, "tool_calls": kept["tool_calls"][:most_calls]}
        self.messages += [kept, *follow]
        return follow

    @property
    def submitted(self) -> Mapping[str, Any] | None:
        """The answer that was handed in; of a composed task, those to each request under its
        number ("1"). None if there is none.
        """
        if not self.task.parts:
            return self._answers.get(0)
        return {str(index + 1): given for index, given in self._answers.items()} or None

    @property
    def _request(self) -> int:
        """The place of the request that the user has brought last."""
        return sum(turn.then in self._requests for turn in self.turns)

    def _hand_in(self, call: ToolCall, box: Toolbox) -> ToolOutcome:
        parsed = box.parse(call)
        if isinstance(parsed, ToolResult):
            return ToolOutcome(call, parsed, parsed.content())
        result = self._received(parsed[1], call.id)
        return ToolOutcome(call, result, result.content(), parsed[1])

    def _received(self, arguments: dict[str, Any], call_id: str) -> ToolResult:
        """Keep the answer to the present request, the first one that is handed in."""
        answer: dict[str, Any] | ToolResult | None = arguments
        if self.task.form is not None:
            task = self.task.parts[self._request] if self.task.parts else self.task
            answer = due_answer(task, arguments, call_id)
        if isinstance(answer, ToolResult):
            return answer
        if answer is not None and self._request in self._answers:
            return _DUPLICATE
        if answer is not None:
            # A copy, so that a holder of the outcome cannot change the answer.
            self._answers[self._request] = copy.deepcopy(answer)
        return ToolResult({"status": "received"})

    def __repr__(self) -> str:
        state = "over" if self.done else "open"
        return f"Episode({self.task.id!r}: {state}, {len(self.calls)} calls)"

    def _repr_html_(self) -> str:
        try:
            changes = [change.to_json() for change in self.diff().changes]
        except SandboxError as error:  # closed, or in the middle of a call
            changes = str(error)
        html = resolve("synth.core.screen.notebook:episode_html")
        return str(html(self.messages, changes))

    def diff(self) -> StateDiff:
        """The net row changes so far."""
        return self._environment.diff()

    @property
    def executions(self) -> Sequence[Execution]:
        """The calls so far that reached the world, in the order of their results; ``submit`` is
        not among them.
        """
        return self._environment.executions

    def state_hash(self) -> str:
        """A hash of the present state of the database."""
        return self._environment.state_hash()

    def evidence(self) -> Evidence:
        """The evidence of the present state, for verifiers."""
        return Evidence(
            self.task,
            tuple(self.diff().changes),
            tuple(self.calls),
            self.submitted,
            self._template.tables,
            tuple(self.turns),
            self._query,
            self._template.dialect,
            self.own_text(self.said),
            Databases(self._ask, self._ask_turned, self._ask_others, not self._world.universes),
            self._own_utterances(),
            self._tools_json,
            self._writing,
            people_of(self._world, self._template),
        )

    def _ask(self, sql: str) -> QueryResult | ToolResult:
        """The answer of a query on the end state; only while the episode is open."""
        return self._asked(self._environment.sandbox, self._template, sql)

    def _ask_turned(self, sql: str) -> QueryResult | ToolResult:
        with self._template.open(self._other_pins, unordered=True) as sandbox:
            return self._asked(sandbox, self._template, sql)

    def _ask_others(self) -> Iterator[Ask]:
        for template in self._template.siblings:
            with template.open(self._other_pins) as sandbox:
                yield partial(self._asked, sandbox, template)

    def _asked(self, sandbox: Sandbox, template: Template, sql: str) -> QueryResult | ToolResult:
        ask = resolve("envs.world.query:ask")
        pool = self._environment.subprocess_pool
        return ask(sandbox, template.tables, sql, self._asking, pool)

    def _query(
        self, sql: str, values: Mapping[str, object] | None = None, /
    ) -> list[dict[str, Any]]:
        """Rows of the end state, read-only; only while the episode is open."""
        return run_query(
            self._environment.sandbox,
            sql,
            values or {},
            self._template,
            TaskError("", family=self.task.family),
        )

    async def scored(self) -> Score:
        """As :meth:`score`, in a thread if judging asks queries of the agent's or of a server, or
        calls functions of the world's rewards.py.
        """
        quick = self._environment.in_place and not (self._rewards or asks_databases(self.task))
        if quick:
            return self.score()
        score, called_off = await _in_thread(self.score)
        if called_off:
            raise asyncio.CancelledError
        return score

    def score(self) -> Score:
        """Judge the present state. Judging changes nothing, and the player sees nothing of it."""
        verdicts = judge(self.evidence(), self._rewards)
        return Score(verdicts, total_reward(verdicts))

    def close(self) -> None:
        self._environment.close()


def _followed(turn: UserTurn, after: UserTurn) -> UserTurn:
    """A turn of calls and what the user says about their results, as one."""
    costs = [one.cost_usd for one in (turn, after) if one.cost_usd is not None]
    spent = {"usage": turn.usage + after.usage, "cost_usd": sum(costs) if costs else None}
    both = {name: (*getattr(turn, name), *getattr(after, name)) for name in ("calls", "discarded")}
    return replace(after, **both, **spent)


def _record(outcome: ToolOutcome, *, read_only: bool = False) -> CallRecord:
    """A call as evidence."""
    name, result = outcome.call.name, outcome.result
    arguments, changes = outcome.arguments, outcome.changes
    return CallRecord(name, arguments, result.ok, result.category, read_only, changes, result)


async def _called(
    environment: DatabaseExecutableEnvironment, call: ToolCall
) -> tuple[ToolOutcome, bool]:
    """As :func:`_in_thread`, of a call, which is made in place if it cannot wait."""
    if environment.inline(call.name):
        return environment.call(call), False
    return await _in_thread(partial(environment.call, call))


async def _in_thread(call: Callable[[], T]) -> tuple[T, bool]:
    """Run a call in a thread to its end; returns its result, and true if the caller was cancelled
    meanwhile.
    """
    running = asyncio.ensure_future(asyncio.to_thread(call))
    called_off = False
    while not running.done():
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            called_off = True
    return running.result(), called_off


@lru_cache(maxsize=256)
def _offer(
    boxes: tuple[Toolbox, ...],
) -> tuple[str, Sequence[Mapping[str, Any]], Mapping[str, ToolInfo]]:
    """The schemas of the tools as text, which verifiers read whatever a player does to its own,
    and as values, and the tools' traits by name.
    """
    tools = [tool for box in boxes for tool in box.tools]
    text = json.dumps([tool.to_openai() for tool in tools])
    infos = {t.name: ToolInfo(t.name, t.read_only, t.risk == "destructive") for t in tools}
    return text, json.loads(text), infos
