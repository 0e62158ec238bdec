"""``compaction``: replaces the older turns of a conversation that grew too long by a summary.

The model itself writes the summary. The context is then the system message, the user's first
message with the summary below it, and the last turns unchanged. ``messages`` keeps the whole
conversation, ``segments`` each context as it was sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Final, Literal

from synth.core.agent import events
from synth.core.agent.memory import CHARACTERS_PER_TOKEN, estimated_tokens
from synth.core.agent.state import AgentState
from synth.core.models.recap import Recap, opening_of, summary_request, with_recap
from synth.core.types.events import CompactionEvent
from synth.errors import ContextOverflow, ModelError
from synth.ext.middlewares import CompactionConfig
from synth.middleware import AgentMiddleware, Ask, MiddlewareHome, MiddlewareInstance
from synth.model import Completion
from synth.plugins import extension
from synth.task import Message

Reason = Literal["threshold", "overflow"]

PROMPT: Final = (
    "An assistant works for a user through tools. The first turns of its conversation are about to"
    " be left out, and what you"
    " write takes their place. Write down what it must know to go on: facts, ids and values that"
    " it found; what it changed, by"
    " which call, and what came of it; what it told the user and what the user said; what failed;"
    " what is still to be done."
    " Write only what stands there, in plain text, {words} words at most. Make no tool calls."
)
"""Instruction of a request for a summary; ``{words}`` is ``max_summary_tokens`` converted to words.
"""

_WORDS_PER_TOKEN: Final = 0.75
_CLIPPED: Final = 400
"""Characters kept of each tool result in a request for a summary after a longer request did not
fit.
"""
_MOST_FAILURES: Final = 3
"""Number of consecutive failed summaries after which a rollout requests no more: each costs as much
as a turn.
"""


def trigger_tokens(options: CompactionConfig) -> float:
    """Return the prompt size in tokens that starts a compaction; infinite if none is configured."""
    if options.threshold_tokens is not None:
        return options.threshold_tokens
    if options.context_window is None:
        return float("inf")
    return options.threshold * options.context_window


def instruction(options: CompactionConfig) -> str:
    """Return the instruction of a request for a summary."""
    words = int(options.max_summary_tokens * _WORDS_PER_TOKEN)
    return (options.prompt or PROMPT).replace("{words}", str(words))


_NOTHING_LEFT_OUT: Final = Recap(0, "")


class _NoSummaryError(Exception):
    """The model gave no usable summary; the argument is the reason, in one word."""


class CompactionMiddleware(AgentMiddleware):
    """The compactions of one rollout. Without a usable summary the rollout goes on unchanged, and
    the event holds the reason.
    """

    name = "compaction"

    def __init__(self, options: CompactionConfig) -> None:
        self._options = options
        self._failures = 0
        self._failed_at = -1
        self._recap = _NOTHING_LEFT_OUT
        self._opening: Sequence[Message] = ()
        self._own: Sequence[Message] = ()

    async def before_llm_call(self, agent: AgentState) -> None:
        if agent.memory.prompt_tokens >= trigger_tokens(self._options):
            await self._compact(agent, "threshold")

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """Compact a context that the endpoint finds too long, once, and send it again."""
        try:
            return await ask()
        except ContextOverflow:
            if not await self._compact(agent, "overflow"):
                raise
        return await ask()

    async def _compact(self, agent: AgentState, reason: Reason) -> bool:
        """Leave out all but the last turns. Returns False if that is not possible."""
        old = agent.memory.context
        opening, turns = turns_of(old)
        older, kept = turns[: -self._options.keep_turns], turns[-self._options.keep_turns :]
        if not older or self._failed_at == agent.step or self._failures >= _MOST_FAILURES:
            return False
        ours = old is self._own
        plain, before = (self._opening, self._recap) if ours else (opening, _NOTHING_LEFT_OUT)
        left_out = before.turns + len(older)
        event = CompactionEvent(
            reason=reason, step=agent.step, turns=left_out, left_out=before.turns, kept=len(kept)
        )
        words = [*before.words, *_users_words(older)] if self._options.keep_user_words else []
        try:
            summary = await self._summary(agent, [*opening, *chain.from_iterable(older)], left_out)
            recap = Recap(left_out, summary, words)
            new = [*with_recap(plain, recap), *chain.from_iterable(kept)]
            sizes = estimated_tokens(old), estimated_tokens(new)
            if sizes[1] >= sizes[0]:
                raise _NoSummaryError("no_gain")
        except (ModelError, _NoSummaryError) as error:
            self._failures, self._failed_at = self._failures + 1, agent.step
            why = str(error) if isinstance(error, _NoSummaryError) else type(error).__name__
            agent.record(replace(event, failed=why))
            return False
        self._failures = 0
        agent.record(replace(event, tokens_before=sizes[0], tokens_after=sizes[1], summary=summary))
        agent.memory.context = new
        self._own, self._opening, self._recap = agent.memory.context, plain, recap
        if agent.has_subscribers:
            agent.emit(
                events.Compaction(
                    rollout_id=agent.rollout_id,
                    step=agent.step,
                    before=len(old),
                    after=len(new),
                    detail=replace(event, summary=summary).to_json(),
                )
            )
        return True

    async def _summary(self, agent: AgentState, messages: Sequence[Message], turns: int) -> str:
        wanted = instruction(self._options)
        try:
            completion = await agent.ask(summary_request(wanted, messages, turns))
        except ContextOverflow:
            completion = await agent.ask(summary_request(wanted, messages, turns, _CLIPPED))
        text = completion.content.strip()
        if completion.refusal is not None or completion.finish_reason == "content_filter":
            raise _NoSummaryError("refused")
        if completion.finish_reason == "length":
            raise _NoSummaryError("truncated")
        if not text:
            raise _NoSummaryError("empty")
        if len(text) > self._options.max_summary_tokens * CHARACTERS_PER_TOKEN:
            raise _NoSummaryError("too_long")
        return text


def turns_of(context: Sequence[Message]) -> tuple[Sequence[Message], list[Sequence[Message]]]:
    """Split a context into its opening and its turns, each a message of the assistant with all
    answers to it.

    No call is separated from its result.
    """
    first = opening_of(context)
    starts = [index for index, message in enumerate(context) if message["role"] == "assistant"]
    return context[:first], [context[start:end] for start, end in pairwise([*starts, len(context)])]


def _users_words(turns: Sequence[Sequence[Message]]) -> list[str]:
    return [message["content"] for turn in turns for message in turn if message["role"] == "user"]


@extension(CompactionConfig)
def make(options: CompactionConfig, home: MiddlewareHome) -> MiddlewareInstance:
    """Build the middleware that ``compaction`` names."""
    return MiddlewareInstance(lambda: CompactionMiddleware(options))
