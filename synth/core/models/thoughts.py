"""Thoughts that a model marks in its text (``<think>``): where they are, and what is said beside
them.
"""

# ruff: noqa: RUF001 - the bars of DeepSeek's tokens are full-width
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_TAGS: Final = (
    r"think|thinking|thoughts?|seed:think|ant_?thinking|antml:thinking|reasoning|reasoning_content"
    r"|reflection|analysis|scratch_?pad|inner_monologue|chain_of_thought|cot"
)
_ENDS: Final[Mapping[str, str]] = {
    "[think]": r"\[/THINK\]",
    "◁think▷": r"◁/think▷",
    "<|begin_of_thought|>": r"<\|end_of_thought\|>",
    "<|start_thinking|>": r"<\|END_THINKING\|>",  # Cohere
    "<|think|>": r"<\|/think\|>|</\|think\|>|<\|end\|>",
    "<|channel>thought": r"<channel\|>",  # Gemma
    "<|channel|>analysis<|message|>": r"<\|end\|>|<\|start\|>|(?=<\|channel\|>)",
}
"""Marks that are not pair of tags, in lower case, and what ends each."""

_UNQUOTED: Final = r"(?<![\"'`\w])"
_BEGIN: Final = re.compile(
    rf"{_UNQUOTED}(?:<(?P<tag>{_TAGS})(?:\s[^<>]*)?>|{'|'.join(map(re.escape, _ENDS))})",
    re.IGNORECASE,
)
_END: Final = re.compile(
    r"</think(?:ing)?>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|/think\|>", re.IGNORECASE
)
"""The end of a thought that the prompt opened."""

_SPECIAL: Final = re.compile(r"<[|｜][^<>|｜]{1,40}[|｜]>|</?s>|<(?:eos|pad|end_of_turn)>")
"""Tokens that end a turn, which some servers leave in its text."""

CALL_SIGNS: Final = re.compile(r"[<\[{>]|(?:^|\n)Action|\w\(")
"""Signs without one of which a text holds no tool call."""


def answer_start(text: str) -> int:
    """Return where the answer begins in a text whose thoughts were opened by the prompt."""
    end = _END.search(text)
    begin = _BEGIN.search(text)
    return end.end() if end is not None and (begin is None or end.start() < begin.start()) else 0


def next_thought(text: str, position: int) -> tuple[int, int] | None:
    """Return begin and end of the first thought from ``position`` on; thoughts of one kind nest.

    An unclosed one lasts to the end of the text.
    """
    begin = _BEGIN.search(text, position)
    if begin is None:
        return None
    tag = begin["tag"]
    opens = rf"<{tag}(?:\s[^<>]*)?>" if tag else re.escape(begin[0])
    ends = rf"</{tag}>" if tag else _ENDS[begin[0].lower()]
    depth, last = 1, len(text)
    marks = re.compile(rf"(?P<end>{ends})|{_UNQUOTED}{opens}", re.IGNORECASE)
    for mark in marks.finditer(text, begin.end()):
        if mark["end"] is None:
            depth += 1
            continue
        depth, last = depth - 1, mark.end()
        if depth == 0:
            break
    return begin.start(), last


def thoughts(text: str, position: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each thought from ``position`` on."""
    while (found := next_thought(text, position)) is not None:
        yield found
        position = found[1]


def blanked(text: str, blank: str) -> str:
    """The answer with ``blank`` in place of each character of its thoughts."""
    position = answer_start(text)
    parts: list[str] = []
    for begin, end in thoughts(text, position):
        parts += text[position:begin], blank * (end - begin)
        position = end
    return "".join([*parts, text[position:]])


def without_thoughts(text: str) -> str:
    """The text without the thoughts that a model marks in it."""
    return blanked(text, "").strip()


def says_nothing(text: str) -> bool:
    """Return True for a text of thoughts, special tokens and invisible characters only."""
    said = _SPECIAL.sub("", without_thoughts(text))
    return not any(char.isprintable() and not char.isspace() for char in said)
