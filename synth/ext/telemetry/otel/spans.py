"""The middleware of ``otel``: a span for each rollout, model call and tool call.

A rollout is a trace of its own, linked to the run's span: backends are made for traces of a few
hundred spans, and a run has thousands of rollouts. Without ``contents`` a span holds no word of a
conversation: names of tools that exist, numbers, categories.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.trace import Link, Span, SpanKind, StatusCode, set_span_in_context

from envs.types import ToolCall
from synth.core.agent.state import AgentState
from synth.ext.telemetry import OtelConfig
from synth.ext.telemetry.otel import names
from synth.ext.telemetry.otel.providers import providers, run_context
from synth.middleware import (
    AgentMiddleware,
    Ask,
    Execute,
    MiddlewareHome,
    MiddlewareMaker,
    ToolAnswer,
)
from synth.model import Completion
from synth.plugins import extension
from synth.task import Message
from synth.verdict import Verdict

CLOSE_S = 15.0
"""Seconds that a worker waits for the collector at its end."""

UNKNOWN_TOOL = "unknown"
"""Name in spans of a tool that does not exist: the model made its name up."""


class _TracedRollouts(MiddlewareMaker):
    """A worker's tracer and its metrics of model calls."""

    def __init__(self, options: OtelConfig, home: MiddlewareHome) -> None:
        self.contents = options.contents
        self.home = home
        self.provider = "openai" if home.model_kind == "openai" else home.model_kind or "synth"
        self._providers = providers(options, home.keys, home.worker)
        self.tracer = self._providers.tracers.get_tracer(names.SCOPE, schema_url=names.SCHEMA_URL)
        meter = self._providers.meters.get_meter(names.SCOPE, schema_url=names.SCHEMA_URL)
        self.duration = meter.create_histogram(
            names.OPERATION_DURATION,
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=names.DURATION_BOUNDS,
        )
        self.usage = meter.create_histogram(
            names.TOKEN_USAGE,
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=names.TOKEN_BOUNDS,
        )
        self.link = Link(run_context(home.session)) if home.session else None
        self.open: set[Span] = set()
        self._closed = False

    def start(self) -> AgentMiddleware:
        return _TracedRollout(self)

    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        for span in list(self.open):
            span.set_status(StatusCode.ERROR)
            span.end()
        async with asyncio.timeout(CLOSE_S):
            await asyncio.to_thread(self._providers.close)


class _TracedRollout(AgentMiddleware):
    """The spans of one rollout."""

    def __init__(self, maker: _TracedRollouts) -> None:
        self._maker = maker
        self._span: Span | None = None
        self._executed: set[str] = set()

    async def agent_start(self, agent: AgentState) -> None:
        maker = self._maker
        link = maker.link
        self._span = maker.tracer.start_span(
            f"{names.INVOKE_AGENT} {names.SCOPE}",
            kind=SpanKind.INTERNAL,
            links=() if link is None else (link,),
            attributes={
                names.OPERATION: names.INVOKE_AGENT,
                names.AGENT: names.SCOPE,
                names.CONVERSATION: agent.rollout_id,
                names.RUN_ID: maker.home.run_id,
                names.TASK: agent.task_key,
                names.JOB: agent.job_index,
                **self._model(),
            },
        )
        maker.open.add(self._span)

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        maker, home = self._maker, self._maker.home
        shared = {names.OPERATION: names.CHAT, **self._model()}
        sampling = {
            names.REQUEST_TEMPERATURE: home.sampling.temperature,
            names.REQUEST_TOP_P: home.sampling.top_p,
            names.REQUEST_MAX_TOKENS: home.sampling.max_tokens,
        }
        span = self._child(
            f"{names.CHAT} {home.model}",
            SpanKind.CLIENT,
            {**shared, **_known(sampling), names.CONVERSATION: agent.rollout_id},
        )
        if maker.contents:
            span.set_attribute(
                names.INPUT_MESSAGES, _input_messages(agent.memory.context, home.hide)
            )
        began = time.perf_counter()
        try:
            completion = await ask()
        except BaseException as error:
            failed = {names.ERROR_TYPE: type(error).__name__}
            _fail(span, failed)
            maker.duration.record(time.perf_counter() - began, {**shared, **failed})
            raise
        maker.duration.record(time.perf_counter() - began, shared)
        self._answered(span, completion, shared)
        span.end()
        return completion

    def _answered(self, span: Span, completion: Completion, shared: dict[str, Any]) -> None:
        maker, usage = self._maker, completion.usage
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            if count is not None:
                maker.usage.record(count, {**shared, names.TOKEN_TYPE: kind})
        span.set_attributes(
            _known(
                {
                    names.FINISH_REASONS: (completion.finish_reason[:64],),
                    names.INPUT_TOKENS: usage.input_tokens,
                    names.OUTPUT_TOKENS: usage.output_tokens,
                    names.CACHED_TOKENS: usage.cached_tokens,
                    names.REASONING_TOKENS: usage.reasoning_tokens,
                    names.COST: completion.cost_usd,
                }
            )
        )
        if maker.contents:
            span.set_attribute(names.OUTPUT_MESSAGES, _output_messages(completion, maker.home.hide))

    async def around_tool_call(
        self, agent: AgentState, call: ToolCall, execute: Execute
    ) -> ToolAnswer:
        span = self._tool_span(agent, call)
        self._executed.add(call.id)
        try:
            answer = await execute()
        except BaseException as error:
            _fail(span, {names.ERROR_TYPE: type(error).__name__})
            raise
        self._end_tool(span, answer)
        return answer

    async def after_tool_call(self, agent: AgentState, answered: ToolAnswer) -> ToolAnswer:
        call = answered.outcome.call
        if call.id in self._executed:
            self._executed.discard(call.id)
        else:  # it was answered before anything was executed: denied, or no call at all
            self._end_tool(self._tool_span(agent, call), answered)
        return answered

    async def agent_finish(self, agent: AgentState) -> None:
        if self._span is None:
            return
        usage = agent.run.usage
        self._span.set_attributes(
            _known(
                {
                    names.STOP_REASON: agent.run.stop_reason and str(agent.run.stop_reason),
                    names.INPUT_TOKENS: usage.input_tokens,
                    names.OUTPUT_TOKENS: usage.output_tokens,
                    names.COST: agent.run.cost_usd,
                }
            )
        )
        if agent.error is not None:
            _fail(self._span, {names.ERROR_TYPE: type(agent.error).__name__})
            self._maker.open.discard(self._span)

    def rollout_scored(self, reward: float | None, verdicts: Sequence[Verdict]) -> None:
        if self._span is None:
            return
        for verdict in verdicts:
            score = {names.EVALUATION_SCORE: verdict.score}
            self._span.add_event(
                names.EVALUATION_EVENT, {names.EVALUATION_NAME: verdict.verifier, **_known(score)}
            )
        self._span.set_attributes(_known({names.REWARD: reward}))
        self._span.end()
        self._maker.open.discard(self._span)

    def _model(self) -> dict[str, str]:
        return {names.PROVIDER: self._maker.provider, names.REQUEST_MODEL: self._maker.home.model}

    def _child(self, name: str, kind: SpanKind, attributes: dict[str, Any]) -> Span:
        context = None if self._span is None else set_span_in_context(self._span)
        return self._maker.tracer.start_span(name, context, kind=kind, attributes=attributes)

    def _tool_span(self, agent: AgentState, call: ToolCall) -> Span:
        hide: Callable[[str], str] = self._maker.home.hide
        name = call.name if call.name in agent.tools else UNKNOWN_TOOL
        attributes = {
            names.OPERATION: names.EXECUTE_TOOL,
            names.TOOL_NAME: name,
            names.TOOL_TYPE: "function",
            names.TOOL_CALL_ID: hide(call.id)[:128],
        }
        if self._maker.contents:
            attributes[names.TOOL_ARGUMENTS] = _clipped(call.arguments, hide)
        return self._child(f"{names.EXECUTE_TOOL} {name}", SpanKind.INTERNAL, attributes)

    def _end_tool(self, span: Span, answer: ToolAnswer) -> None:
        result = answer.outcome.result
        changed = {names.ROWS_CHANGED: len(answer.outcome.changes), names.ANSWERED_BY: answer.by}
        span.set_attributes(_known(changed))
        if self._maker.contents:
            span.set_attribute(names.TOOL_RESULT, _clipped(answer.content, self._maker.home.hide))
        if result.ok:
            span.end()
        else:
            _fail(span, {names.ERROR_TYPE: result.category or "unknown"})


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _fail(span: Span, why: dict[str, str]) -> None:
    """End a span as failed, with the kind of the error and not its words."""
    span.set_attributes(why)
    span.set_status(StatusCode.ERROR)
    span.end()


@extension(OtelConfig)
def make(options: OtelConfig, home: MiddlewareHome) -> MiddlewareMaker:
    """Build the middleware that the callback ``otel`` brings."""
    return _TracedRollouts(options, home)


LONGEST = 4_000
"""Characters of one text in a span; a longer one is cut."""

Hide = Callable[[str], str]


def _input_messages(messages: Sequence[Message], hide: Hide) -> str:
    """The JSON of the messages that were sent."""
    return _json(
        [{"role": message["role"], "parts": _parts(message, hide)} for message in messages]
    )


def _output_messages(completion: Completion, hide: Hide) -> str:
    """The JSON of one answer."""
    parts = _texts(completion.content, hide)
    parts += [_call(call.id, call.name, call.arguments, hide) for call in completion.tool_calls]
    return _json([{"role": "assistant", "parts": parts, "finish_reason": completion.finish_reason}])


def _clipped(text: str, hide: Hide) -> str:
    """A text without secrets, cut at :data:`LONGEST` characters."""
    shown = hide(text)  # first: half a secret would not be found
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def _parts(message: Message, hide: Hide) -> list[dict[str, Any]]:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else _json(content)
    if message["role"] == "tool":
        response = {"id": message.get("tool_call_id"), "response": _clipped(text, hide)}
        return [{"type": "tool_call_response", **response}]
    parts = _texts(text, hide)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = function["arguments"]
        written = arguments if isinstance(arguments, str) else _json(arguments)
        parts.append(_call(call["id"], function["name"], written, hide))
    return parts


def _texts(text: str, hide: Hide) -> list[dict[str, Any]]:
    return [{"type": "text", "content": _clipped(text, hide)}] if text else []


def _call(call_id: str, name: str, arguments: str, hide: Hide) -> dict[str, Any]:
    shown = {"id": _clipped(call_id, hide), "name": _clipped(name, hide)}
    return {"type": "tool_call", **shown, "arguments": _clipped(arguments, hide)}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
