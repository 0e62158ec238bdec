"""A conversation whose first turns are left out: how it is shown to a model, and how a summary of them is asked for.

The compaction middleware writes both. The models that need no endpoint (the scripted expert, a replay) read them, through the
same messages as any other model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from synth.types import Message

Json = Any

_LEFT_OUT = "\n\n[What the first {turns} turns after this did and said is not shown; here is a summary of them.]\n"
_WORDS = "\n[The user's own words in them:]\n"
_END = "\n[End of the summary.]"
_BEGINNING = re.compile(re.escape(_LEFT_OUT).replace(re.escape("{turns}"), r"(\d+)"))
_REQUEST = "[The request and the first {turns} turns of a conversation, one message a line.]\n"
_REQUESTED = re.compile(re.escape(_REQUEST).replace(re.escape("{turns}"), r"(\d+)"))


@dataclass(frozen=True, slots=True)
class Recap:
    """What stands for the first ``turns`` completions of a conversation; ``words`` is what the user said in them, verbatim."""

    turns: int
    summary: str
    words: Sequence[str] = ()

    def text(self) -> str:
        """The block that is put under the user's first message."""
        words = "\n".join(f"- {json.dumps(each, ensure_ascii=False)}" for each in self.words)
        return _LEFT_OUT.format(turns=self.turns) + self.summary + (_WORDS + words if words else "") + _END


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request for a summary, read back: the user's first message as it was sent, and ``turns`` completions with their results."""

    turns: int
    messages: Sequence[Message]


def opening_of(messages: Sequence[Message]) -> int:
    """How many messages stand before the first one of the assistant."""
    return next((at for at, each in enumerate(messages) if each["role"] == "assistant"), len(messages))


def with_recap(opening: Sequence[Message], recap: Recap) -> list[Message]:
    """The opening messages (without a recap of their own) with what stands for the turns left out.

    It goes into the last of the user's messages, so that the roles alternate as before: some chat templates insist on that.
    """
    out = list(opening)
    at = _last_of_user(out)
    if at is None:
        return [*out, {"role": "user", "content": recap.text()}]
    out[at] = {**out[at], "content": out[at]["content"] + recap.text()}
    return out


def without_recap(messages: Sequence[Message]) -> tuple[Sequence[Message], Recap | None]:
    """The messages as they opened, and what stands for turns left out, if any are."""
    at = _last_of_user(messages[: opening_of(messages)])
    text: str = messages[at]["content"] if at is not None else ""
    found = _BEGINNING.search(text) if text.endswith(_END) else None
    if at is None or found is None:
        return messages, None
    plain = {**messages[at], "content": text[: found.start()]}
    recap = Recap(int(found[1]), *_parts(text[found.end() : -len(_END)]))
    return [*messages[:at], plain, *messages[at + 1 :]], recap


def _parts(block: str) -> tuple[str, list[str]]:
    """The summary, and the user's words under it."""
    summary, mark, words = block.rpartition(_WORDS)
    try:
        return (summary, [json.loads(line[2:]) for line in words.split("\n")]) if mark else (block, [])
    except ValueError:  # the summary itself holds the mark
        return block, []


def summary_request(prompt: str, messages: Sequence[Message], turns: int, clip: int | None = None) -> list[Message]:
    """What a model is sent for a summary: ``messages`` are the opening as it is sent and the turns to be left out.

    ``turns`` counts those that an earlier recap in the opening stands for, too. ``clip`` cuts longer texts of tool results.
    System messages are not sent: they stay.
    """
    lines = [_line(each, clip) for each in messages if each["role"] not in {"system", "developer"}]
    text = _REQUEST.format(turns=turns) + "\n".join(lines)
    return [{"role": "system", "content": prompt}, {"role": "user", "content": text}]


def read_request(messages: Sequence[Message]) -> SummaryRequest | None:
    """The request for a summary that these messages are, or None where they are a conversation."""
    last = messages[-1] if messages else None
    found = _REQUESTED.match(last["content"]) if last is not None and last["role"] == "user" else None
    if last is None or found is None:
        return None
    lines: list[str] = last["content"][found.end() :].split("\n")
    return SummaryRequest(int(found[1]), [_message(json.loads(line)) for line in lines])


def _last_of_user(messages: Sequence[Message]) -> int | None:
    return max((at for at, each in enumerate(messages) if each["role"] == "user"), default=None)


def _line(message: Message, clip: int | None) -> str:
    content: str = message["content"]
    if clip is not None and message["role"] == "tool" and len(content) > clip:
        content = f"{content[:clip]} [... {len(content) - clip} characters more]"
    out: dict[str, Json] = {"role": message["role"], "content": content}
    calls = [each["function"] for each in message.get("tool_calls", ())]
    if calls:
        out["calls"] = [{"name": each["name"], "arguments": each["arguments"]} for each in calls]
    return json.dumps(out, ensure_ascii=False, separators=(",", ":"))


def _message(line: dict[str, Json]) -> Message:
    calls = line.pop("calls", None)
    if calls:
        line["tool_calls"] = [{"function": each} for each in calls]
    return line
