"""``approval``: asks before a tool call is executed, by the risk of its tool; a denial is a tool result.

``auto_approve`` asks about nothing, ``normal`` about destructive calls, ``strict`` about all that write. Rules come first:
what ``deny`` matches is denied, what ``allow`` matches is approved. Whoever is asked (a function of yours, or a model) says yes, or
no and why; one that does not answer in time, or cannot be reached, has said no, and so has nobody. A function that raises breaks
the rollout off: it is a bug, and a dataset of denials would hide it. Calls that are wrong in themselves, and those of middlewares'
own tools, pass: nothing of the environment is touched by them.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, Final, cast

from envs.toolbox import parse_arguments
from envs.types import ErrorCategory, ToolCall, ToolResult
from synth.agent.events import ApprovalRequest
from synth.agent.middleware.base import AgentMiddleware, MiddlewareHome, MiddlewareMaker
from synth.agent.state import AgentState, Risk
from synth.errors import ModelError, OperatorError
from synth.models import MODELS
from synth.models.base import Model, Sampling
from synth.models.emission import completion_event
from synth.types import Completion, Message, Task

Json = Any

ASKED: Final[Mapping[str, frozenset[str]]] = {
    "auto_approve": frozenset(),
    "normal": frozenset({"destructive"}),
    "strict": frozenset({"write", "destructive"}),
}
PRICES: Final = ("price_input_usd_per_mtok", "price_output_usd_per_mtok")
NOBODY: Final = "there is nobody to approve it"
_YES: Final = re.compile(r"\W*yes\b", re.IGNORECASE)
_NO: Final = re.compile(r"^\W*no\b[\s,.:;*-]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be decided. ``messages`` is the conversation so far. Who asks a model about it tells ``spent`` its answer: its
    tokens and cost count in the run's budget, apart from the rollout's own model.
    """

    tool: str
    arguments: Mapping[str, Json]
    risk: Risk
    messages: Sequence[Message]
    spent: Callable[[Completion], None] = field(default=lambda _: None, repr=False, compare=False)


class Decider(ABC):
    """Somebody who can be asked."""

    @abstractmethod
    async def decide(self, request: Request) -> str | None:
        """None approves; any text says why not."""

    async def aclose(self) -> None:
        return


class Nobody(Decider):
    async def decide(self, request: Request) -> str | None:
        return NOBODY


class Callback(Decider):
    """A function ``(Request) -> bool | str | None``, or a coroutine function: False or a text denies, True or None approves."""

    def __init__(self, function: Callable[[Request], Any]) -> None:
        self._function = function

    async def decide(self, request: Request) -> str | None:
        if inspect.iscoroutinefunction(self._function):
            said = await self._function(request)
        else:
            said = await asyncio.to_thread(self._function, request)
        return "it was refused" if said is False else said if isinstance(said, str) else None


class PolicyModel(Decider):
    """A model that reads a policy, and the call; it approves by an answer that begins with yes."""

    def __init__(self, model: Model, policy: str) -> None:
        self._model, self._policy = model, policy

    async def decide(self, request: Request) -> str | None:
        call = {"tool": request.tool, "risk": request.risk, "arguments": request.arguments}
        heard = [each["content"] for each in request.messages if each["role"] == "user"]
        question = f"The user said: {json.dumps(heard[-3:])}\nThe agent wants to call: {json.dumps(call, default=str)}"
        messages = [{"role": "system", "content": self._policy}, {"role": "user", "content": question}]
        completion = await self._model.start(_NO_TASK, (), 0).complete(messages)
        request.spent(completion)
        said = completion.content.strip()
        if _YES.match(said):
            return None
        return _NO.sub("", said.partition("\n")[0])[:200] or "it was refused"

    async def aclose(self) -> None:
        await self._model.aclose()


_NO_TASK: Final = Task(id="approval", family="approval", env="", prompt="", gold=())


class ApprovalMiddleware(AgentMiddleware):
    """Decides on the calls of one rollout."""

    def __init__(self, options: Mapping[str, Json], decider: Decider) -> None:
        self._options, self._decider = options, decider

    async def before_tool_call(self, agent: AgentState, call: ToolCall) -> ToolResult | None:
        info = agent.tools.get(call.name)
        if info is None or info.own or agent.check(call) is not None:
            return None
        arguments = cast("dict[str, Json]", parse_arguments(call.arguments))
        if any(matches(rule, call.name, arguments) for rule in self._options["deny"] or ()):
            return _denied("a rule forbids it")
        if any(matches(rule, call.name, arguments) for rule in self._options["allow"] or ()):
            return None
        if info.risk not in ASKED[self._options["mode"]]:
            return None
        agent.emit(ApprovalRequest(rollout_id=agent.rollout_id, step=agent.step, call=call, risk=info.risk))

        def spent(completion: Completion) -> None:
            agent.run.policy.append(completion)
            agent.record(completion_event(completion) | {"event": "policy_completion", "id": call.id})

        why = await self._ask(Request(call.name, arguments, info.risk, tuple(agent.memory.messages), spent))
        return None if why is None else _denied(why)

    async def _ask(self, request: Request) -> str | None:
        own = asyncio.timeout(self._options["timeout_s"])
        try:
            async with own:
                return await self._decider.decide(request)
        except TimeoutError:
            if own.expired():
                return "nobody answered in time"
            return "who was asked failed"
        except ModelError:
            return "who was asked could not be reached"


def matches(rule: str, name: str, arguments: Mapping[str, Json]) -> bool:
    """Whether a rule is about a call: ``refund_*``, or ``refund_*:reason=*test*`` for an argument's text (globs)."""
    tool, _, condition = rule.partition(":")
    if not fnmatchcase(name, tool):
        return False
    if not condition:
        return True
    key, _, wanted = condition.partition("=")
    value = arguments.get(key)
    return key in arguments and fnmatchcase(value if isinstance(value, str) else json.dumps(value), wanted)


def _denied(why: str) -> ToolResult:
    message = f"This call was not approved and was not executed: {why.rstrip('.')}."
    return ToolResult.failure(message, category=ErrorCategory.PERMISSION_DENIED, error="NotApproved")


class Approvals(MiddlewareMaker):
    """One decider for all rollouts of a worker."""

    def __init__(self, options: Mapping[str, Json], home: MiddlewareHome) -> None:
        self._options = options
        self._decider = _decider(options, home)

    def start(self) -> AgentMiddleware:
        return ApprovalMiddleware(self._options, self._decider)

    async def aclose(self) -> None:
        await self._decider.aclose()


def _decider(options: Mapping[str, Json], home: MiddlewareHome) -> Decider:
    named: str | None = options["callback"]
    if named is not None:
        module, _, attribute = named.partition(":")
        try:
            return Callback(getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise OperatorError(f"agent.approval.callback: {named} cannot be imported: {error}") from None
    if options["model"] is None:
        return Nobody()
    module, _, attribute = MODELS["openai"].partition(":")
    model = {"name": options["model"]} | {key: options[key] for key in ("base_url", "timeout_s", *PRICES)}
    key = home.keys.get(options["api_key_env"] or "")
    return PolicyModel(getattr(import_module(module), attribute)(model, Sampling(), key), options["policy"])


def make(options: Mapping[str, Json], home: MiddlewareHome) -> MiddlewareMaker:
    return Approvals(options, home)
