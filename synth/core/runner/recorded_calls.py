"""The calls of a recorded rollout, made again in another episode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs.types import ToolOutcome
from synth.core.models.emission import call_of, read_events, user_turn_of
from synth.core.types.events import CompletionEvent, EmittedCall, ToolResultEvent, UserTurnEvent
from synth.episode import Episode


async def again(
    events: Sequence[Mapping[str, Any]], episode: Episode
) -> AsyncIterator[tuple[ToolResultEvent, ToolOutcome] | tuple[UserTurnEvent, None]]:
    """The results' and the user's events in order, each with what its call came to now; a user has
    done and said what it did.

    The calls are those that the model emitted, under the ids of their results; a turn's calls were
    executed in order until something ended the rollout. One that a middleware answered (``by``) is
    left out: the environment did not see it. The transcript will not do: it holds no value that
    readers of a dataset cannot hold.
    """
    waiting: Iterator[EmittedCall] = iter(())
    for event in read_events(events):
        if isinstance(event, CompletionEvent) and event.is_turn:
            calls = event.tool_calls or event.text_calls or ()
            text = episode.utter(event.content)
            episode.said = episode.said if calls else text
            waiting = iter(calls)
        elif isinstance(event, ToolResultEvent) and (raw := next(waiting, None)) is not None:
            if event.by is None:
                call = call_of(raw, event.id)
                if "repaired" in event.notes:
                    call = replace(call, arguments=event.notes["repaired"]["arguments"])
                yield event, await episode.call(call)
        elif isinstance(event, UserTurnEvent):
            await episode.hear(user_turn_of(event))
            yield event, None
