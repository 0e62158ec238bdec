"""The form of a conversation whose first turns are left out, and of a request for their summary.

The compaction middleware writes both. Models without an endpoint (the scripted expert, a replay)
read them from the same messages as any other model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from envs.json_text import lenient
from synth.task import Message

_LEFT_OUT = (
    "\n\n[What the first {turns} turns after this did and said is not shown; here is a"
    " summary of them.]\n"
)
_WORDS = "\n[The user's own words in them:]\n"
_END = "\n[End of the summary.]"
_BEGINNING = re.compile(re.escape(_LEFT_OUT).replace(re.escape("{turns}"), r"(\d+)"))
_REQUEST = "[The request and the first {turns} turns of a conversation, one message a line.]\n"
_REQUESTED = re.compile(re.escape(_REQUEST).replace(re.escape("{turns}"), r"(\d+)"))


@dataclass(frozen=True, slots=True)
class Recap:
    """Replacement of the first ``turns`` completions of a conversation; ``words`` are the user's
    messages in them, verbatim.
    """

    turns: int
    summary: str
    words: Sequence[str] = ()

    def text(self) -> str:
        """The block below the user's first message."""
        words = "\n".join(f"- {json.dumps(word, ensure_ascii=False)}" for word in self.words)
        return (
            _LEFT_OUT.format(turns=self.turns)
            + self.summary
            + (_WORDS + words if words else "")
            + _END
        )


@dataclass(frozen=True, slots=True)
class _SummaryRequest:
    """A request for a summary, parsed: the user's first message as it was sent, and ``turns``
    completions with their results.
    """

    turns: int
    messages: Sequence[Message]


def opening_of(messages: Sequence[Message]) -> int:
    """Return the number of messages before the first one of the assistant."""
    return next(
        (index for index, message in enumerate(messages) if message["role"] == "assistant"),
        len(messages),
    )


def with_recap(opening: Sequence[Message], recap: Recap) -> list[Message]:
    """Return the opening messages (without an earlier recap) with the recap of the turns left out.

    It is added to the last of the user's messages, so that the roles alternate as before: some chat
    templates require that.
    """
    out = list(opening)
    index = _last_of_user(out)
    if index is None:
        return [*out, {"role": "user", "content": recap.text()}]
    out[index] = {**out[index], "content": out[index]["content"] + recap.text()}
    return out


def without_recap(messages: Sequence[Message]) -> tuple[Sequence[Message], Recap | None]:
    """Return the original opening messages, and the recap if there is one."""
    index = _last_of_user(messages[: opening_of(messages)])
    text: str = messages[index]["content"] if index is not None else ""
    found = _BEGINNING.search(text) if text.endswith(_END) else None
    if index is None or found is None:
        return messages, None
    plain = {**messages[index], "content": text[: found.start()]}
    recap = Recap(int(found[1]), *_parts(text[found.end() : -len(_END)]))
    return [*messages[:index], plain, *messages[index + 1 :]], recap


def _parts(block: str) -> tuple[str, list[str]]:
    """Return the summary, and the user's words below it."""
    summary, mark, words = block.rpartition(_WORDS)
    try:
        return (
            (summary, [json.loads(line[2:]) for line in words.split("\n")]) if mark else (block, [])
        )
    except ValueError:  # the summary itself holds the mark
        return block, []


def summary_request(
    prompt: str, messages: Sequence[Message], turns: int, clip: int | None = None
) -> list[Message]:
    """Return the messages that request a summary: the opening as it is sent and the turns to be
    left out.

    ``turns`` includes the turns that an earlier recap in the opening stands for. ``clip`` shortens
    longer texts of tool results. System messages are not sent: they stay in the context.
    """
    lines = [
        _line(message, clip)
        for message in messages
        if message["role"] not in {"system", "developer"}
    ]
    text = _REQUEST.format(turns=turns) + "\n".join(lines)
    return [{"role": "system", "content": prompt}, {"role": "user", "content": text}]


def read_request(messages: Sequence[Message]) -> _SummaryRequest | None:
    """Parse a request for a summary; None if the messages are a conversation."""
    last = messages[-1] if messages else None
    found = (
        _REQUESTED.match(last["content"]) if last is not None and last["role"] == "user" else None
    )
    if last is None or found is None:
        return None
    lines: list[str] = last["content"][found.end() :].split("\n")
    return _SummaryRequest(int(found[1]), [_message(json.loads(line)) for line in lines])


def _last_of_user(messages: Sequence[Message]) -> int | None:
    return max(
        (index for index, message in enumerate(messages) if message["role"] == "user"), default=None
    )


def _line(message: Message, clip: int | None) -> str:
    content: str = message["content"]
    if clip is not None and message["role"] == "tool" and len(content) > clip:
        content = f"{content[:clip]} [... {len(content) - clip} characters more]"
    out: dict[str, object] = {"role": message["role"], "content": content}
    calls = [call["function"] for call in message.get("tool_calls", ())]
    if calls:
        out["calls"] = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return lenient(out)


def _message(line: dict[str, Any]) -> Message:
    calls = line.pop("calls", None)
    if calls:
        line["tool_calls"] = [{"function": call} for call in calls]
    return line


READ = "read_tool_output"
GREP = "grep_tool_output"

_SHOWN = (
    "[{size} characters{rows}: too long to be shown. Kept as {output_id}: {read} reads it,"
    " {grep} searches it. Its beginning:]\n"
)
_KEPT = re.compile(r"\[(\d+) characters[^\n]*: too long to be shown\. Kept as (\S+): " + READ)
_PIECE = re.compile(
    r"\[(\S+): characters (\d+) to (\d+) of (\d+)(?:, go on with offset (\d+))?\]\n?"
)


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored result: its id and its number of characters."""

    output_id: str
    size: int


def preview(kept: Kept, text: str, head: int, tail: int, rows: str = "") -> str:
    """Return the text that a model gets instead of a result: its first ``head`` and last ``tail``
    characters.

    ``rows`` describes the contents.
    """
    about = f" ({rows})" if rows else ""
    shown = (
        _SHOWN.format(size=kept.size, rows=about, output_id=kept.output_id, read=READ, grep=GREP)
        + text[:head]
    )
    return shown + (f"\n[... Its end:]\n{text[-tail:]}" if tail else "")


def kept_in(content: str) -> Kept | None:
    """Return the result that a tool's message previews; None for a result that is shown whole."""
    found = _KEPT.match(content) if content.startswith("[") else None
    return None if found is None else Kept(found[2], int(found[1]))


def piece(kept: Kept, text: str, offset: int) -> str:
    """Return a part of a result, with its position and the offset of the next part."""
    end = offset + len(text)
    more = f", go on with offset {end}" if end < kept.size else ""
    return f"[{kept.output_id}: characters {offset} to {end} of {kept.size}{more}]\n{text}"


def read_piece(content: str) -> tuple[str, int | None] | None:
    """Return the text of a piece and the next offset (None: it is the last); None for any other
    text.
    """
    found = _PIECE.match(content)
    return None if found is None else (content[found.end() :], int(found[5]) if found[5] else None)
