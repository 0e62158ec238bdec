"""``approval``: asks for a decision before a tool call is executed, by the risk of its tool.

``auto_approve`` asks about nothing, ``normal`` about destructive calls, ``strict`` about all calls
that write. Rules come first: a call that matches ``deny`` is denied, one that matches ``allow`` is
approved. Then a function of yours, or a model, answers yes, or no with a reason. No answer in time,
an unreachable decider, and the absence of one all mean no. A denial is a tool result. A function
that raises breaks the rollout off: it is a bug, and a dataset of denials would hide it. Invalid
calls and calls of middlewares' own tools pass, because they do not touch the environment.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final, cast

from envs.tools.toolbox import parse_arguments
from envs.types import ErrorCategory, ToolCall, ToolResult
from synth.core.agent.events import ApprovalRequest
from synth.core.agent.state import AgentState, Risk
from synth.core.models.emission import completion_event
from synth.errors import ModelError, OperatorError
from synth.ext.middlewares import ApprovalConfig
from synth.middleware import AgentMiddleware, MiddlewareHome, MiddlewareMaker
from synth.model import Completion, Model
from synth.plugins import PluginError, extension, resolve
from synth.task import Message, Task

ASKED: Final[Mapping[str, frozenset[str]]] = {
    "auto_approve": frozenset(),
    "normal": frozenset({"destructive"}),
    "strict": frozenset({"write", "destructive"}),
}
NOBODY: Final = "there is nobody to approve it"
_YES: Final = re.compile(r"\W*yes\b", re.IGNORECASE)
_NO: Final = re.compile(r"^\W*no\b[\s,.:;*-]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """A call to be decided on. ``messages`` is the conversation so far.

    A decider that asks a model passes the completion to ``spent``: its tokens and cost count in the
    run's budget, separately from the rollout's own model.
    """

    tool: str
    arguments: Mapping[str, object]
    risk: Risk
    messages: Sequence[Message]
    spent: Callable[[Completion], None] = field(default=lambda _: None, repr=False, compare=False)
    call_id: str = ""


class Decider:
    """The party that approves or denies calls; this one is nobody, who approves none."""

    async def decide(self, request: Request) -> str | None:
        """Return None to approve a call, or the reason for denying it."""
        return NOBODY

    async def aclose(self) -> None:
        return


class Callback(Decider):
    """Decider that calls a function ``(Request) -> bool | str | None``, or a coroutine function.

    False or a text denies, True or None approves.
    """

    def __init__(self, function: Callable[[Request], Any]) -> None:
        self._function = function

    async def decide(self, request: Request) -> str | None:
        if inspect.iscoroutinefunction(self._function):
            decision = await self._function(request)
        else:
            decision = await asyncio.to_thread(self._function, request)
        return (
            "it was refused"
            if decision is False
            else decision
            if isinstance(decision, str)
            else None
        )


class ApproverModel(Decider):
    """Decider that shows a model a policy and the call; an answer that begins with yes approves."""

    def __init__(self, model: Model, policy: str) -> None:
        self._model, self._policy = model, policy

    async def decide(self, request: Request) -> str | None:
        call = {"tool": request.tool, "risk": request.risk, "arguments": request.arguments}
        heard = [message["content"] for message in request.messages if message["role"] == "user"]
        question = (
            f"The user said: {json.dumps(heard[-3:])}\nThe agent wants to call:"
            f" {json.dumps(call, default=str)}"
        )
        messages = [
            {"role": "system", "content": self._policy},
            {"role": "user", "content": question},
        ]
        completion = await self._model.start(_NO_TASK, (), 0).complete(messages)
        request.spent(completion)
        reply = completion.content.strip()
        if _YES.match(reply):
            return None
        return _NO.sub("", reply.partition("\n")[0])[:200] or "it was refused"

    async def aclose(self) -> None:
        await self._model.aclose()


_NO_TASK: Final = Task(id="approval", family="approval", env="", prompt="", gold=())


class ApprovalMiddleware(AgentMiddleware):
    """Decides on the calls of one rollout."""

    name = "approval"

    def __init__(self, options: ApprovalConfig, decider: Decider) -> None:
        self._options, self._decider = options, decider

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        info = agent.tools.get(call.name)
        if info is None or info.own or agent.check(call) is not None:
            return None
        arguments = cast("dict[str, object]", parse_arguments(call.arguments))
        if any(matches(rule, call.name, arguments) for rule in self._options.deny or ()):
            return _denied("a rule forbids it")
        if any(matches(rule, call.name, arguments) for rule in self._options.allow or ()):
            return None
        if info.risk not in ASKED[self._options.mode]:
            return None
        agent.emit(
            ApprovalRequest(rollout_id=agent.rollout_id, step=agent.step, call=call, risk=info.risk)
        )

        def spent(completion: Completion) -> None:
            agent.run.approver.append(completion)
            agent.record(
                replace(completion_event(completion), event="approver_completion", id=call.id)
            )

        why = await self._ask(
            Request(call.name, arguments, info.risk, tuple(agent.memory.messages), spent, call.id)
        )
        return None if why is None else _denied(why)

    async def _ask(self, request: Request) -> str | None:
        own = asyncio.timeout(self._options.timeout_s)
        try:
            async with own:
                return await self._decider.decide(request)
        except TimeoutError:
            if own.expired():
                return "nobody answered in time"
            return "who was asked failed"
        except ModelError:
            return "who was asked could not be reached"


def matches(rule: str, name: str, arguments: Mapping[str, object]) -> bool:
    """Tell whether a rule applies to a call.

    Both parts are globs: ``refund_*``, or ``refund_*:reason=*test*`` for the text of an argument.
    """
    tool, _, condition = rule.partition(":")
    if not fnmatchcase(name, tool):
        return False
    if not condition:
        return True
    key, _, wanted = condition.partition("=")
    value = arguments.get(key)
    return key in arguments and fnmatchcase(
        value if isinstance(value, str) else json.dumps(value), wanted
    )


def _denied(why: str) -> ToolResult:
    message = f"This call was not approved and was not executed: {why.rstrip('.')}."
    return ToolResult.failure(
        message, category=ErrorCategory.PERMISSION_DENIED, error="NotApproved"
    )


class _Approvals(MiddlewareMaker):
    """Maker that shares one decider among all rollouts of a worker."""

    def __init__(self, options: ApprovalConfig, home: MiddlewareHome) -> None:
        self._options = options
        self._decider = _decider(options, home)

    def start(self) -> AgentMiddleware:
        return ApprovalMiddleware(self._options, self._decider)

    async def aclose(self) -> None:
        await self._decider.aclose()


def _decider(options: ApprovalConfig, home: MiddlewareHome) -> Decider:
    if options.callback is not None:
        try:
            return Callback(resolve(options.callback))
        except PluginError as error:
            raise OperatorError(f"agent.approval.callback: {error}") from None
    return Decider() if home.asked is None else ApproverModel(home.asked, options.policy)


@extension(ApprovalConfig)
def make(options: ApprovalConfig, home: MiddlewareHome) -> MiddlewareMaker:
    """Build the middleware that ``approval`` names."""
    return _Approvals(options, home)
