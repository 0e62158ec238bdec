"""The file, the family and the names that each part of the parser knows, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from synth.core.foundation.suggestions import nearest as nearest_word
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.template import Unknown, compile_sql, compile_value
from synth.errors import TaskError


def nearest(word: str, known: Collection[str]) -> str:
    """A clause that offers the nearest known word, or lists them all."""
    close = nearest_word(word, known)
    return (
        f"did you mean {close!r}?"
        if close is not None
        else f"known are {', '.join(sorted(known)) or 'none'}"
    )


@dataclass(frozen=True)
class Scope:
    """The names that a family may use. ``tools`` maps each tool's name to its parameters' JSON
    Schema.

    ``cases`` are the cases, ``fields`` the fields of the answer, ``topics`` what the user knows;
    ``consents`` says whether the user can agree to something, ``later`` are the times of its
    follow-ups.
    """

    file: str
    family: str | None = None
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    slots: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    consents: bool = False
    later: tuple[str, ...] = ()

    def fail(self, message: str, line: int | None) -> TaskError:
        return TaskError(message, self.file, line, self.family)

    def mapping(
        self, value: object, what: str, line: int, known: Collection[str] | None = None
    ) -> Map:
        """The value if it is a mapping, with none but the known keys."""
        if not isinstance(value, Map):
            raise self.fail(f"{what} must be a mapping", line)
        for key in value:
            if known is not None and key not in known:
                cut = (
                    "; a text with a comma needs quotes between braces"
                    if value[key] is None and " " in key
                    else ""
                )
                raise self.fail(
                    f"{what} has no key {key!r}; {nearest(key, known)}{cut}", value.lines[key]
                )
        return value

    def part(self, owner: Map, key: str, known: Collection[str] | None = None) -> Map:
        """The mapping under a key, empty where there is none."""
        if owner.get(key) is None:
            return Map()
        return self.mapping(owner[key], key, owner.lines[key], known)

    def text(self, owner: Map, key: str, what: str) -> str:
        """The text under a key that must be there."""
        value = owner.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.fail(f"{what} needs `{key}`, a text", owner.lines.get(key, owner.line))
        return value

    def texts(
        self, value: object, what: str, line: int, saved: Collection[str] | None = None
    ) -> list[object]:
        """One text or a list of them, compiled. ``saved`` are names of earlier steps; None: slots
        only.
        """
        texts = cast("list[object]", value) if isinstance(value, list) else [value]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise self.fail(f"`{what}` is a text, or a list of texts", line)
        return [self.value(text, what, line, saved) for text in texts]

    def value(
        self, raw: object, what: str, line: int, saved: Collection[str] | None = None
    ) -> object:
        """A value of the notation, compiled (see :mod:`synth.core.tasks.yaml.template`)."""
        return self._compiled(compile_value, raw, what, line, saved)

    def sql(self, raw: str, what: str, line: int, saved: Collection[str] | None = None) -> object:
        """A statement in which ``:name`` is a slot or a saved name, compiled."""
        return self._compiled(compile_sql, raw, what, line, saved)

    def _compiled(
        self,
        compiler: Callable[[Any, frozenset[str], frozenset[str]], object],
        raw: object,
        what: str,
        line: int,
        saved: Collection[str] | None,
    ) -> object:
        try:
            return compiler(raw, self.slots, frozenset(saved or ()))
        except Unknown as error:
            if saved is None:
                message = f"{what}: unknown slot {error.name!r}; {nearest(error.name, self.slots)}"
            else:
                known = self.slots | set(saved)
                words = f"`{error.name}` is neither a slot nor saved by an earlier step"
                message = f"{words}; {nearest(error.name, known)}"
            raise self.fail(message, line) from None
        except ValueError as error:
            raise self.fail(f"{what}: {error}", line) from None
