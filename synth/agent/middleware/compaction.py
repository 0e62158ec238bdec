"""When a conversation grows too long, its older turns give way to a summary that the model itself writes.

What is sent is then: the system message, the user's first message with the summary under it, the last turns as they were.
``messages`` keeps the whole conversation, ``segments`` each context as it was sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from synth.agent import events
from synth.agent.memory import CHARACTERS_PER_TOKEN, estimated_tokens
from synth.agent.middleware.base import AgentMiddleware, Ask, Made, MiddlewareHome, MiddlewareMaker
from synth.agent.state import AgentState
from synth.errors import ContextOverflow, ModelError
from synth.models.recap import Recap, opening_of, summary_request, with_recap
from synth.types import Completion, Message

Json = Any
Reason = Literal["threshold", "overflow"]

PROMPT: Final = (
    "An assistant works for a user through tools. The first turns of its conversation are about to be left out, and what you"
    " write takes their place. Write down what it must know to go on: facts, ids and values that it found; what it changed, by"
    " which call, and what came of it; what it told the user and what the user said; what failed; what is still to be done."
    " Write only what stands there, in plain text, {words} words at most. Make no tool calls."
)
"""The instruction of a request for a summary; ``{words}`` is what ``max_summary_tokens`` come to."""

_WORDS_PER_TOKEN: Final = 0.75
_CLIPPED: Final = 400
"""Characters of a tool's result in a request for a summary, where the request itself was too long."""
_MOST_FAILURES: Final = 3
"""Failed summaries in a row after which a rollout asks for no more: each costs what a turn costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """When and how.

    Before a turn whose prompt would have ``threshold_tokens`` (None: the share ``threshold`` of ``context_window``), all but
    the last ``keep_turns`` turns are summarised. A summary of more than ``max_summary_tokens`` (estimated) is not taken.
    ``keep_user_words`` leaves what the user said in those turns in the context, word for word.
    """

    context_window: int | None = None
    threshold: float = 0.75
    threshold_tokens: int | None = None
    keep_turns: int = 3
    keep_user_words: bool = True
    max_summary_tokens: int = 1_000
    prompt: str | None = None

    @property
    def trigger(self) -> float:
        """Tokens from which on a prompt is too long; infinite where nothing says so."""
        if self.threshold_tokens is not None:
            return self.threshold_tokens
        return self.threshold * self.context_window if self.context_window is not None else float("inf")

    def instruction(self) -> str:
        words = int(self.max_summary_tokens * _WORDS_PER_TOKEN)
        return (self.prompt or PROMPT).replace("{words}", str(words))


class _NoSummaryError(Exception):
    """The model gave no summary that can be used; the argument says why, in a word."""


class CompactionMiddleware(AgentMiddleware):
    """One rollout's compactions. Where no summary can be had, the rollout goes on as it is, and the event says why."""

    name = "compaction"

    def __init__(self, options: CompactionOptions) -> None:
        self._options = options
        self._failures = 0
        self._failed_at = -1
        self._recap: Recap | None = None
        self._opening: Sequence[Message] = ()
        self._own: Sequence[Message] = ()

    async def before_llm_call(self, agent: AgentState) -> None:
        if agent.memory.prompt_tokens >= self._options.trigger:
            await self._compact(agent, "threshold")

    async def around_llm_call(self, agent: AgentState, ask: Ask) -> Completion:
        """A context that the endpoint finds too long is compacted, once, and sent again."""
        try:
            return await ask()
        except ContextOverflow:
            if not await self._compact(agent, "overflow"):
                raise
        return await ask()

    async def _compact(self, agent: AgentState, reason: Reason) -> bool:
        """Leave out all but the last turns; whether that was possible."""
        old = agent.memory.context
        opening, turns = turns_of(old)
        older, kept = turns[: -self._options.keep_turns], turns[-self._options.keep_turns :]
        if not older or self._failed_at == agent.step or self._failures >= _MOST_FAILURES:
            return False
        ours = old is self._own
        plain, before = (self._opening, self._recap) if ours else (opening, None)
        left_out = (before.turns if before is not None else 0) + len(older)
        told: dict[str, Json] = {"event": "compaction", "reason": reason, "step": agent.step, "turns": left_out}
        told |= {"left_out": left_out - len(older), "kept": len(kept)}
        try:
            summary = await self._summary(agent, [*opening, *(each for turn in older for each in turn)], left_out)
            words = (
                [*(before.words if before is not None else ()), *_words(older)] if self._options.keep_user_words else []
            )
            recap = Recap(left_out, summary, words)
            new = [*with_recap(plain, recap), *(each for turn in kept for each in turn)]
            sizes = estimated_tokens(old), estimated_tokens(new)
            if sizes[1] >= sizes[0]:
                raise _NoSummaryError("no_gain")
        except (ModelError, _NoSummaryError) as error:
            self._failures, self._failed_at = self._failures + 1, agent.step
            why = str(error) if isinstance(error, _NoSummaryError) else type(error).__name__
            agent.record(told | {"failed": why})
            return False
        self._failures = 0
        agent.record(told | {"tokens_before": sizes[0], "tokens_after": sizes[1], "summary": summary})
        agent.memory.context = new
        self._own, self._opening, self._recap = agent.memory.context, plain, recap
        if agent.heard:
            place: dict[str, Any] = {"rollout_id": agent.rollout_id, "step": agent.step}
            agent.emit(events.Compaction(**place, before=len(old), after=len(new), detail={**told, "summary": summary}))
        return True

    async def _summary(self, agent: AgentState, messages: Sequence[Message], turns: int) -> str:
        instruction = self._options.instruction()
        try:
            completion = await agent.ask(summary_request(instruction, messages, turns))
        except ContextOverflow:
            completion = await agent.ask(summary_request(instruction, messages, turns, _CLIPPED))
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
    """The opening, and each turn: a message of the assistant with all that answers it. No call is parted from its result."""
    first = opening_of(context)
    starts = [at for at, each in enumerate(context) if each["role"] == "assistant"]
    return context[:first], [context[start:end] for start, end in pairwise([*starts, len(context)])]


def _words(turns: Sequence[Sequence[Message]]) -> list[str]:
    """What the user said in them."""
    return [each["content"] for turn in turns for each in turn if each["role"] == "user"]


def make(options: Mapping[str, Json], home: MiddlewareHome) -> MiddlewareMaker:
    """The factory that ``compaction`` names; ``options`` are the keys of the config's ``agent.compaction``."""
    chosen = CompactionOptions(**options)
    return Made(lambda: CompactionMiddleware(chosen))
