"""A JSON Schema as a function that quickly says yes. For a no, and for whatever it does not know,
``jsonschema`` is asked.

Nearly every call of a tool is valid, and of one that is, no more is to be said. ``jsonschema``
walks the schema anew for each value, which takes longer than most tools do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

Json = Any
Accepts = Callable[[Json], bool]

# jsonschema asserts no format unless it is told to.
_ABOUT = frozenset({"title", "description", "default", "format"})

_KINDS: Mapping[str, tuple[frozenset[type], frozenset[str]]] = {
    "string": (frozenset({str}), frozenset({"enum", "const", "minLength", "maxLength", "pattern"})),
    "integer": (
        frozenset({int}),
        frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    ),
    "number": (
        frozenset({int, float}),
        frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    ),
    "boolean": (frozenset({bool}), frozenset()),
    "null": (frozenset({type(None)}), frozenset()),
    "array": (frozenset({list}), frozenset({"items", "minItems", "maxItems"})),
    "object": (frozenset({dict}), frozenset({"properties", "required", "additionalProperties"})),
}
"""By type: the classes that JSON is read as, and the keywords that are understood. 5.0 for an
integer is left to jsonschema.
"""


def acceptance(schema: Json) -> Accepts:
    """A function that is true only for values which a valid schema (draft 2020-12) allows; false
    says nothing.

    Of a schema with keywords that are not understood it accepts no value at all.
    """
    return _compiled(schema) or _nothing


def _nothing(value: Json) -> bool:
    return False


def _anything(value: Json) -> bool:
    return True


def _compiled(schema: Json) -> Accepts | None:
    """The function, or None for a schema that is not understood."""
    if isinstance(schema, bool):
        return _anything if schema else _nothing
    if not isinstance(schema, Mapping):
        return None
    schema = cast("Mapping[str, Json]", schema)
    keywords = schema.keys() - _ABOUT
    if not keywords:
        return _anything
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _KINDS:
        return None
    classes, understood = _KINDS[kind]
    if keywords - understood - {"type"}:
        return None
    checks = {"array": _array, "object": _object}.get(kind, _scalar)(schema)
    if checks is None:
        return None
    if not checks:
        return lambda value: value.__class__ in classes
    if len(checks) == 1:
        only = checks[0]
        return lambda value: value.__class__ in classes and only(value)
    return lambda value: value.__class__ in classes and all(check(value) for check in checks)


def _scalar(schema: Mapping[str, Json]) -> list[Accepts] | None:
    checks: list[Accepts] = []
    if "enum" in schema:
        allowed = frozenset(item for item in schema["enum"] if isinstance(item, str))
        checks.append(lambda value: value in allowed)
    if "const" in schema:
        wanted = schema["const"]
        checks.append(lambda value: value == wanted)
    if "pattern" in schema:
        try:
            search = re.compile(schema["pattern"]).search
        except re.error:
            return None
        checks.append(lambda value: search(value) is not None)
    least, most = schema.get("minLength"), schema.get("maxLength")
    if least is not None or most is not None:
        checks.append(_sized(least, most))
    if "minimum" in schema:
        low = schema["minimum"]
        checks.append(lambda value: value >= low)
    if "maximum" in schema:
        high = schema["maximum"]
        checks.append(lambda value: value <= high)
    if "exclusiveMinimum" in schema:
        below = schema["exclusiveMinimum"]
        checks.append(lambda value: value > below)
    if "exclusiveMaximum" in schema:
        above = schema["exclusiveMaximum"]
        checks.append(lambda value: value < above)
    return checks


def _sized(least: float | None, most: float | None) -> Accepts:
    return lambda value: (
        (least is None or len(value) >= least) and (most is None or len(value) <= most)
    )


def _array(schema: Mapping[str, Json]) -> list[Accepts] | None:
    checks: list[Accepts] = []
    if "items" in schema:
        item = _compiled(schema["items"])
        if item is None:
            return None
        checks.append(lambda value: all(map(item, value)))
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None or most is not None:
        checks.append(_sized(least, most))
    return checks


def _object(schema: Mapping[str, Json]) -> list[Accepts] | None:
    known: dict[str, Accepts] = {}
    for name, inner in cast("Mapping[str, Json]", schema.get("properties", {})).items():
        compiled = _compiled(inner)
        if compiled is None:
            return None
        known[name] = compiled
    other = _compiled(schema.get("additionalProperties", True))
    if other is None:
        return None
    required: Sequence[str] = schema.get("required", ())

    def check(value: dict[str, Json]) -> bool:
        for name in required:
            if name not in value:
                return False
        # a generator would cost more than the checks
        for name, inner in value.items():  # noqa: SIM110
            if not known.get(name, other)(inner):
                return False
        return True

    return [check]
