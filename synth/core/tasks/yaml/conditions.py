"""Conditions of gold's ``if``: "$kind == {genre}", "$total >= 50", "not $allergies"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from synth.core.tasks.yaml.scope import Scope, listed_of
from synth.core.tasks.yaml.template import fill, text_of
from synth.core.types.steps import Condition
from synth.errors import TaskError

Operator = Callable[[object, object], bool]

_OPERAND = (
    r"\$[A-Za-z_][\w.]*|\{[A-Za-z_][\w.]*\}|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?|true|false|null"
)
_CONDITION = re.compile(
    rf"\s*(?P<no>not\s+)?(?P<left>{_OPERAND})\s*"
    rf"(?:(?P<op>==|!=|<=|>=|<|>|not in\b|in\b)\s*(?P<right>{_OPERAND})\s*)?"
)
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}
_ADVICE = (
    'write "$saved == {slot}", with ==, !=, <, <=, >, >=, in or not in; or "$saved" or "not $saved"'
    " for what is there or not; texts stand in quotes"
)


def compile_conditions(raw: object, scope: Scope, line: int, saved: set[str]) -> list[Condition]:
    """Compile the condition of an ``if``, or a list of them that all must hold; names of slots and
    saved values become nodes.

    Raises :class:`~synth.errors.TaskError` for what cannot be read.
    """
    if not (texts := listed_of(raw)):
        raise scope.fail(f"`if` needs a condition: {_ADVICE}", line)
    return [_compiled(text, scope, line, saved) for text in texts]


def _compiled(text: object, scope: Scope, line: int, saved: set[str]) -> Condition:
    found = _CONDITION.fullmatch(text) if isinstance(text, str) else None
    if found is None or (found["no"] and found["op"]):
        raise scope.fail(f"`if` cannot be read: {text!r}; {_ADVICE}", line)
    operands = [
        None if part is None else scope.value(_operand(part), "if", line, saved)
        for part in (found["left"], found["right"])
    ]
    if not any(isinstance(operand, Mapping) for operand in operands):
        raise scope.fail(f"`if` compares nothing of this task: {text!r}; {_ADVICE}", line)
    return Condition(operands[0], found["op"], operands[1], bool(found["no"]))


def _operand(text: str) -> object:
    if text[0] in "'\"":
        return text[1:-1].replace("{", "{{").replace("}", "}}")
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "${":
        return text
    return float(text) if "." in text else int(text)


def filled(condition: Condition, slots: Mapping[str, object]) -> Condition:
    """The condition of one task: the slots have their values."""
    left, right = fill([condition.left, condition.right], "$slot", slots)
    return replace(condition, left=left, right=right)


def holds(condition: Condition, names: Mapping[str, object]) -> bool:
    """Evaluate a condition with the values that earlier steps saved.

    Raises KeyError for a name that no step has saved, and :class:`~synth.errors.TaskError` for
    values that do not compare.
    """
    left, right = fill([condition.left, condition.right], "$", names)
    if condition.op is None:
        return (left not in (None, "", 0, False, [], {})) != condition.negated
    return OPERATORS[condition.op](left, right)


def _equal(left: object, right: object) -> bool:
    one, other = _number(left), _number(right)
    if one is not None and other is not None:
        return one == other
    return type(left) is type(right) and left == right


def _contains(items: object, item: object) -> bool:
    if isinstance(items, list):
        return any(_equal(item, one) for one in cast("list[object]", items))
    if isinstance(items, str) and isinstance(item, str):
        return item in items
    raise TaskError(f"`in` looks into a list or a text, not into {text_of(items)[:80]!r}")


def _ordered(compare: Callable[[Any, Any], bool]) -> Operator:
    def ordered(left: object, right: object) -> bool:
        one, other = _number(left), _number(right)
        if one is not None and other is not None:
            return compare(one, other)
        if isinstance(left, str) and isinstance(right, str):
            return compare(left, right)
        shown = f"{text_of(left)[:80]!r} and {text_of(right)[:80]!r}"
        raise TaskError(
            f"`if` cannot order {shown}: numbers compare with numbers, texts with texts"
        )

    return ordered


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


OPERATORS: Mapping[str, Operator] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "in": lambda left, right: _contains(right, left),
    "not in": lambda left, right: not _contains(right, left),
}


def all_hold(conditions: Sequence[Condition], names: Mapping[str, object]) -> bool:
    """True if all conditions hold. Raises what :func:`holds` raises."""
    return all(holds(condition, names) for condition in conditions)
