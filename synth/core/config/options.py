"""The options of an extension, checked against the typed model that it declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from synth.core.foundation.suggestions import hint, nearest
from synth.core.foundation.validation_messages import problem_line
from synth.errors import ConfigProblems, OperatorError
from synth.plugins import ExtensionPoint, PluginError

Options = TypeVar("Options")
Part = TypeVar("Part")


class ErrorCollector:
    """Makes several parts of a config and raises the problems of all of them as one error."""

    def __init__(self) -> None:
        self._problems: list[str] = []

    def make(self, part: Callable[[], Part]) -> Part:
        """The part. After :class:`ConfigProblems` a placeholder, which :meth:`check` keeps from
        being used.
        """
        try:
            return part()
        except ConfigProblems as error:
            self._problems += error.problems
            return cast("Part", None)

    def check(self) -> None:
        """Raise :class:`ConfigProblems` if a part had problems."""
        if self._problems:
            raise ConfigProblems(self._problems)


def parse_options(kind: type[Options], raw: Mapping[str, Any], prefix: str) -> Options:
    """The options ``raw`` as an instance of ``kind``: a pydantic model or a dataclass.

    ``prefix`` is the config key that holds them, such as ``agent.options.my_package:make``.
    Raises :class:`ConfigProblems` with one line for each problem, each naming the full key.
    """
    adapter, known = _adapter(kind)
    lines = [
        f"{prefix}.{key}: unknown key{hint(nearest(str(key), known))}"
        f" (known: {', '.join(known) or 'none'})"
        for key in raw
        if key not in known
    ]
    try:
        parsed = adapter.validate_python({key: raw[key] for key in raw if key in known})
    except ValidationError as error:
        lines += [problem_line(detail, prefix) for detail in error.errors(include_url=False)]
        raise ConfigProblems(lines) from None
    if lines:
        raise ConfigProblems(lines)
    return parsed


@lru_cache(maxsize=256)
def _adapter(kind: type[Any]) -> tuple[TypeAdapter[Any], list[str]]:
    """What validates options of this kind, and the keys that it knows."""
    adapter = TypeAdapter(kind)
    return adapter, list(adapter.json_schema().get("properties", {}))


def load_extension(point: ExtensionPoint, name: str, key: str) -> Any:
    """Import the extension that the config key ``key`` names. Raises :class:`OperatorError`."""
    try:
        return point.load(name)
    except PluginError as error:
        raise OperatorError(f"{key}: {error}") from None


def options_for(
    extension: object, section: Mapping[str, Any], own: Mapping[str, Any], prefix: str
) -> object:
    """Return the options that an extension is called with.

    An extension with an attribute ``Options`` (a dataclass or a pydantic model) gets an instance
    of it: its fields are taken from ``own`` (the mapping under the config key ``prefix``), and
    where ``own`` lacks one, from the config section, whose nulls count as absent. An extension
    without ``Options`` gets the section as it is. Raises :class:`ConfigProblems`.
    """
    kind = cast("type[object] | None", getattr(extension, "Options", None))
    if kind is None:
        return section
    offered = {
        name: section[name]
        for name in option_names(extension) or ()
        if name not in own and section.get(name) is not None
    }
    return parse_options(kind, {**offered, **own}, prefix)


def option_names(extension: object) -> list[str] | None:
    """The names of the options that an extension declares; None if it declares none."""
    kind = cast("type[object] | None", getattr(extension, "Options", None))
    if kind is None or is_dataclass(kind):
        return None if kind is None else [field.name for field in fields(kind)]
    return list(cast("Any", kind).model_fields)
