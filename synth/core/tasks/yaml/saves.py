"""What a step saves from a result: the value of a JSONPath, or one computed from such values.

A path is text; one that holds slots or saved names is ``{"$path": parts}``, and their values are
put in as JSON. A computed value is ``{"$compute": word, "of": operands}``.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, cast

import jsonpath

from synth.core.tasks.yaml.template import fill, rounded, text_of

CompiledPath = str | Mapping[str, Sequence[object]]
"""A JSONPath: text, or ``{"$path": parts}`` where slots or saved names stand in it."""

MAX_CHARS = 10_000
"""Characters of a path. One of some hundred thousand crashes the interpreter that follows it."""


def joined_path(path: CompiledPath, names: Mapping[str, object], key: str) -> CompiledPath:
    """A compiled JSONPath with the values of its slots (``key`` is ``$slot``) or of saved names
    (``$``) put in as JSON literals; text once none is left.
    """
    if isinstance(path, str):
        return path
    parts: list[object] = [
        json.dumps(fill(part, key, names), ensure_ascii=False)
        if isinstance(part, Mapping) and key in cast("Mapping[str, object]", part)
        else part
        for part in path["$path"]
    ]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if len(texts) == len(parts) else {"$path": parts}


@lru_cache(maxsize=4096)
def singular(path: str) -> tuple[jsonpath.JSONPath, bool]:
    """The compiled path, and whether it can match at most one value. Raises
    :class:`jsonpath.JSONPathError` for what is none.
    """
    if len(path) > MAX_CHARS:
        raise jsonpath.JSONPathError(f"it has more than {MAX_CHARS:,} characters")
    try:
        compiled = jsonpath.compile(path)
    except (ValueError, RecursionError) as error:  # of an index like 5E6, of a path too deep
        raise jsonpath.JSONPathError(f"it cannot be read: {error}") from error
    if not isinstance(compiled, jsonpath.JSONPath):
        raise jsonpath.JSONPathError("it is a compound path")
    return compiled, compiled.singular_query()


@lru_cache(maxsize=4096)
def _keys(path: str) -> Sequence[str | int] | None:
    """The keys of a path of nothing but names and places, such as ``$.rows[0].id``."""
    if len(path) > MAX_CHARS or not _PLAIN_PATH.fullmatch(path):
        return None
    return [int(key) if key[0].isdigit() else key for key in re.findall(r"\w+", path)]


_PLAIN_PATH = re.compile(r"\$(?:\.[A-Za-z_]\w*|\[(?:0|[1-9]\d{0,8})\]){1,50}", re.ASCII)


def extract(path: str, value: object) -> object:
    """The value of a singular path in a result, or the list of all values of another path.

    Raises LookupError if a singular path finds nothing, and for a path that is too deep to follow.
    """
    if (keys := _keys(path)) is not None:
        inner: Any = value
        try:
            for key in keys:
                if inner.__class__ is not (list if isinstance(key, int) else dict):
                    raise LookupError(key)
                inner = inner[key]
        except LookupError:
            raise LookupError(f"{path} finds nothing in the result") from None
        return inner
    compiled, single = singular(path)
    try:
        found = (
            compiled.findall(cast("dict[str, object] | list[object]", value))
            if isinstance(value, (dict, list))
            else []
        )
    except RecursionError:
        raise LookupError(f"{path[:80]} is too deep") from None
    if not single:
        return found
    if not found:
        raise LookupError(f"{path} finds nothing in the result")
    return found[0]


Save = str | Mapping[str, object]
"""A compiled value of ``save``."""


def fill_save(save: Save, key: str, names: Mapping[str, object]) -> Save:
    """Put values in the place of slots (``key`` is ``$slot``) or saved names (``$``)."""
    if isinstance(save, str) or "$path" in save:
        return joined_path(cast("Any", save), names, key)
    operands = cast("Sequence[Any]", save["of"])
    filled = [
        fill_save(operand, key, names) if is_path(operand) else fill(operand, key, names)
        for operand in operands
    ]
    return {**save, "of": filled}


def is_path(operand: object) -> bool:
    """True if an operand of a computed value is a path, not a value."""
    if isinstance(operand, str):
        return operand.startswith(("$.", "$["))
    return isinstance(operand, Mapping) and "$path" in operand


def saved_values(
    saves: Mapping[str, Save], result: object, names: Mapping[str, object]
) -> dict[str, object]:
    """The values that a step saves from its result; later ones may use earlier ones.

    Raises LookupError where a path finds nothing, ValueError where a value cannot be computed.
    """
    out: dict[str, object] = {}
    for name, save in saves.items():
        try:
            out[name] = _value(fill_save(save, "$", {**names, **out}), result)
        except KeyError as error:
            raise LookupError(f"no step before has saved {error.args[0]!r}") from None
    return out


def _value(save: Save, result: object) -> object:
    if isinstance(save, str):
        if save == "$":
            return result
        if isinstance(result, str):
            raise LookupError(  # noqa: TRY004
                "the result is a plain text, of which `$` saves the whole; a path needs a tool that"
                " returns an object"
            )
        return extract(save, result)
    word = str(save["$compute"])
    operands = [
        extract(operand, result) if is_path(operand) else operand
        for operand in cast("Sequence[Any]", save["of"])
    ]
    return rounded(COMPUTED[word][1](*operands))


def _one(values: object) -> object:
    found = _list(values)
    if len(found) != 1:
        raise LookupError(f"`one` needs exactly one value, and there are {len(found)}")
    return found[0]


def _mean(values: object) -> object:
    return _plain(_total(found := _some(values)) / len(found))


def _extreme(choose: Callable[..., object]) -> Callable[[object], object]:
    return lambda values: choose(_some(values), key=_order)


def _extreme_by(choose: Callable[..., object]) -> Callable[[object, object], object]:
    def by(values: object, name: object) -> object:
        def key(item: object) -> tuple[int, Decimal, str]:
            return _order(_field(item, str(name)))

        return choose(_some(values), key=key)

    return by


def _pick(items: object, *names: object) -> object:
    """The objects with these fields only, in this order."""
    return [{str(name): _field(item, str(name)) for name in names} for item in _list(items)]


def _count(values: object) -> object:
    return len(_list(values))


def _sum(values: object) -> object:
    return _plain(_total(_list(values)))


def _days_between(first: object, last: object) -> object:
    return (_day(last) - _day(first)).days


def _plus(*values: object) -> object:
    return _plain(_total(values))


def _minus(first: object, *others: object) -> object:
    return _plain(_number(first) - _total(others))


def _times(*values: object) -> object:
    return _plain(math.prod(map(_number, values)))


def _total(values: Iterable[object]) -> Decimal:
    return sum(map(_number, values), Decimal(0))


def _records(names: object, rows: object) -> object:
    """The rows as objects. A column without a name of its own, as ``COUNT(*)``, has its number."""
    keys: list[str] = []
    for name in map(str, _list(names)):
        own = name.replace(" ", "_").isidentifier() and name not in keys
        keys.append(name if own else str(len(keys)))
    return [dict(zip(keys, _list(row), strict=True)) for row in _list(rows)]


COMPUTED: Mapping[str, tuple[tuple[int, int | None], Callable[..., object]]] = {
    "one": ((1, 1), _one),
    "count": ((1, 1), _count),
    "sum": ((1, 1), _sum),
    "mean": ((1, 1), _mean),
    "max": ((1, 1), _extreme(max)),
    "min": ((1, 1), _extreme(min)),
    "max_by": ((2, 2), _extreme_by(max)),
    "min_by": ((2, 2), _extreme_by(min)),
    "pick": ((2, None), _pick),
    "days_between": ((2, 2), _days_between),
    "records": ((2, 2), _records),
    "plus": ((2, None), _plus),
    "minus": ((2, None), _minus),
    "times": ((2, None), _times),
}
"""The words of computed values: the least and the most operands, and the function."""


def _list(values: object) -> list[object]:
    if not isinstance(values, list):
        message = f"a list is needed, not {text_of(values)[:80]!r}"
        raise ValueError(message)  # noqa: TRY004
    return cast("list[object]", values)


def _some(values: object) -> list[object]:
    found = _list(values)
    if not found:
        raise LookupError("the list is empty")
    return found


def _field(item: object, name: str) -> object:
    fields: Mapping[str, object] = {}
    if isinstance(item, Mapping):
        fields = cast("Mapping[str, object]", item)
    if name not in fields:
        raise LookupError(f"{text_of(item)[:80]!r} has no field {name!r}")
    return fields[name]


def _number(value: object) -> Decimal:
    if not isinstance(value, bool) and isinstance(value, int | float | str):
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            number = Decimal("NaN")
        if number.is_finite():
            return number
    raise ValueError(f"{text_of(value)[:80]!r} is not a number")


def _plain(number: Decimal | float) -> int | float:
    exact = Decimal(number)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def _order(value: object) -> tuple[int, Decimal, str]:
    """Numbers first, by their size, then texts, such as dates."""
    if isinstance(value, str):
        return 1, Decimal(0), value
    return 0, _number(value), ""


def _day(value: object) -> dt.date:
    try:
        return dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        raise ValueError(f"{text_of(value)[:80]!r} is not a day of the form 2026-03-02") from None
