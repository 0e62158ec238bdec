"""The file, the family and the names that each part of the parser knows, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from synth.core.foundation.suggestions import nearest as nearest_word
from synth.core.foundation.validation_messages import choices_of, wanted
from synth.core.tasks.yaml.source_map import Map, Seq
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


def listed_of(value: Any) -> list[Any]:
    """One value or a list of them, as a list; nothing is an empty one."""
    return (
        [] if value is None else [*cast("list[Any]", value)] if isinstance(value, list) else [value]
    )


FOR_USER = "for_user"
"""A key of the parameters of a tool that is the user's own."""

UNKNOWN_KEY = "unknown_key"
"""The type of the error for a key that a mapping does not have."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _problem(error: ErrorDetails, value: object, what: str, line: int) -> tuple[str, int]:
    """An error in words, with its line."""
    path: list[str] = []
    here: Any = value
    for part in error["loc"]:
        if isinstance(here, Map) and part in here:
            path.append(str(part))
        elif not (isinstance(here, Seq) and isinstance(part, int)):
            continue
        owned = cast("Any", here)
        line, here = owned.lines[part], owned[part]
    owner = " ".join(path)
    if error["type"] == UNKNOWN_KEY:
        key, near = (error.get("ctx", {})[name] for name in ("key", "near"))
        cut = "; a text with a comma needs quotes between braces"
        cut = cut if here[key] is None and " " in key else ""
        return f"{owner or what} has no key {key!r}; {near}{cut}", cast("Map", here).lines[key]
    if error["type"] == "missing":
        return f"{owner or what} needs `{error['loc'][-1]}`", cast("Map", here).line
    if error["loc"][-1:] == ("[key]",):
        return f"the name {path[-1]!r} must {_demand(error)}", line
    return f"{f'`{owner}`' if owner else what} must {_demand(error)}", line


def _demand(error: ErrorDetails) -> str:
    """What a value must be, behind "must", and what it is."""
    context, shown = error.get("ctx", {}), repr(error["input"])[:80]
    if error["type"] == "too_short":
        return f"have {context['min_length']} or more entries"
    if error["type"] == "too_long":
        return f"have {context['max_length']} or fewer entries"
    if "pattern" in context:
        return f"match {context['pattern']}, not {shown}"
    kinds = context.get("expected_tags", "").replace("'", "").replace(", ", " or ")
    close = None
    if error["type"] == "literal_error":
        close = nearest_word(str(error["input"]), choices_of(error))
    near = f"; did you mean {close!r}?" if close else ""
    return f"be {wanted(error) or kinds or error['msg']}, not {shown}{near}"


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

    def check(self, value: object, kind: Any, what: str, line: int) -> None:
        """Raise :class:`~synth.errors.TaskError` for the first place, by line, at which a value is
        not of a type; ``what`` names the value.
        """
        try:
            _adapter(kind).validate_python(value)
        except ValidationError as error:
            found = [_problem(one, value, what, line) for one in error.errors(include_url=False)]
            raise self.fail(*min(found, key=lambda problem: problem[1])) from None

    def part(self, owner: Map, key: str) -> Map:
        """The mapping under a key, empty where there is none."""
        return owner[key] if owner.get(key) is not None else Map()

    def optional(self, owner: Map, key: str) -> object:
        """The text under a key, compiled; None where there is none."""
        raw = owner.get(key)
        return None if raw is None else self.value(raw, key, owner.lines[key])

    def listed(self, owner: Map, key: str, what: str | None = None) -> list[object]:
        """The texts under a key, compiled; none where there are none."""
        raw = owner.get(key)
        return [] if raw is None else self.texts(raw, what or key, owner.lines[key])

    def texts(
        self, value: object, what: str, line: int, saved: Collection[str] | None = None
    ) -> list[object]:
        """One text or a list of them, compiled. ``saved`` are names of earlier steps; None: slots
        only.
        """
        return [self.value(text, what, line, saved) for text in listed_of(value)]

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
