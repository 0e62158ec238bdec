r"""psql's variables and conditions: ``\set``, ``:name``, ``:'name'``, ``:"name"``, ``:{?name}``,
``\if`` to ``\endif``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from envs.errors import ScriptError
from envs.scripts.lexis import Lexis

_SET = re.compile(r"\\set\b(?:\s+(?P<name>\S+)(?:\s+(?P<values>.*))?)?", re.DOTALL)
_WORD = re.compile(
    r"\s*(?P<word>(?:'(?:[^'\\]|''|\\.)*'|`[^`]*`|\"(?:[^\"]|\"\")*\"|[^\s'`\"])+)", re.DOTALL
)
_PART = re.compile(
    r"(?P<shell>`)|(?<!:):(?P<quote>['\"]?)(?P<name>\w+)(?P=quote)"
    r"|'(?P<text>(?:[^'\\]|''|\\.)*)'|(?P<plain>.)",
    re.DOTALL,
)
_REFERENCE = re.compile(r"(?<!:):(?:(?P<name>\w+)|\{\?(?P<asked>\w+)\})")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_TRUTH = {
    "true": True,
    "on": True,
    "yes": True,
    "1": True,
    "false": False,
    "off": False,
    "no": False,
    "0": False,
}


class Psql:
    """Variables that a script has set so far, and the branch of its conditions that it is in."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._branches: list[
            tuple[bool, bool]
        ] = []  # of each open \if: whether it runs now, and whether one has run

    @property
    def active(self) -> bool:
        """True if the current branch of the script runs."""
        return all(runs for runs, _ in self._branches)

    def command(self, words: str) -> bool:
        r"""Carry out ``\set``, ``\unset`` or a condition; False where it is another command.
        ScriptError.
        """
        word = words.split(maxsplit=1)[0]
        rest = words[len(word) :].strip()
        match word:
            case "\\if" | "\\elif" | "\\else" | "\\endif":
                self._branch(word, rest)
            case "\\set" if self.active:
                self._set(words)
            case "\\unset" if self.active:
                self._values.pop(rest, None)
            case _:
                return False
        return True

    def gset(self, prefix: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        r"""Take the one row of a query as variables; ScriptError where there is none, or more."""
        if len(rows) != 1:
            raise ScriptError(f"\\gset takes one row, and the query gave {len(rows)}")
        for name, value in zip(names, rows[0], strict=True):
            if value is None:
                self._values.pop(prefix + name, None)
            else:
                self._values[prefix + name] = str(value)

    def finish(self) -> None:
        r"""ScriptError where a ``\if`` is open at the end."""
        if self._branches:
            raise ScriptError("the script ends before the \\endif of its \\if")

    def filled(self, text: str, lexis: Lexis) -> str:
        """The text with its variables' values, outside literals and comments; what is not set stays
        as it is.
        """
        if ":{?" not in text and not any(name in text for name in self._values):
            return text
        parts: list[str] = []
        pos = 0
        for mark in lexis.marks(text):
            if mark.kind not in {"string", "name", "comment"}:
                continue
            before, literal = text[pos : mark.start], text[mark.start : mark.end]
            named = before.endswith(":") and not before.endswith("::") and literal[:1] in {"'", '"'}
            value = self._values.get(literal[1:-1]) if named else None
            if value is not None:
                before, literal = before[:-1], _quoted(value, literal[0])
            parts += [self._plain(before), literal]
            pos = mark.end
        return "".join([*parts, self._plain(text[pos:])])

    def _plain(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            if found["asked"]:
                return "TRUE" if found["asked"] in self._values else "FALSE"
            return self._values.get(found["name"], found.group())

        return _REFERENCE.sub(value, text)

    def _set(self, words: str) -> None:
        found = _SET.match(words)
        if found is None or found["name"] is None:
            return
        values = found["values"] or ""
        self._values[found["name"]] = "".join(
            self._value(match["word"]) for match in _WORD.finditer(values)
        )

    def _value(self, word: str) -> str:
        out: list[str] = []
        for part in _PART.finditer(word):
            if part["shell"]:
                raise ScriptError("a script may not run a shell's command for a variable")
            if part["name"] is not None:
                known = self._values.get(part["name"])
                out.append(part.group() if known is None else _quoted(known, part["quote"]))
            elif part["text"] is not None:
                text = part["text"].replace("''", "'")
                out.append(
                    re.sub(
                        r"\\(.)", lambda each: _ESCAPED.get(each[1], each[1]), text, flags=re.DOTALL
                    )
                )
            else:
                out.append(part["plain"])
        return "".join(out)

    def _branch(self, word: str, rest: str) -> None:
        if word == "\\if":
            runs = self.active and self._holds(rest)
            self._branches.append((runs, runs))
            return
        if not self._branches:
            raise ScriptError(f"{word} without an \\if")
        _, ran = self._branches.pop()
        if word == "\\endif":
            return
        runs = self.active and not ran and (word == "\\else" or self._holds(rest))
        self._branches.append((runs, ran or runs))

    def _holds(self, expression: str) -> bool:
        value = self._plain(expression).strip("'\"").lower()
        if value not in _TRUTH:
            raise ScriptError(f"\\if takes true or false, not {value!r}")
        return _TRUTH[value]


def _quoted(value: str, quote: str) -> str:
    return quote + value.replace(quote, quote * 2) + quote if quote else value
