"""Arguments that an agent works out: they are nowhere in its texts, yet follow from them."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any, cast

from envs.errors import ExecutorError
from envs.sandboxes.base import Template
from envs.types import ToolCall, ToolOutcome
from envs.world.loader import World
from synth.core.tasks.setup_calls import open_environment
from synth.ext.action_lists.values import said_days
from synth.task import Task

MOST_COUNTED = 20
"""The largest whole number that counts as counted by the agent."""

WORDS = 4
"""Words of a text that an agent composes."""

_NOTE = re.compile(r"^(?:transfer|escalate|hand_?over|hand_?off|think|note)")
_AMOUNT = re.compile(r"amount|price|cost|total|refund|compensation")
_ID = re.compile(r"(?:^|_)(?:ids?|number|no|nr|code|key|zip)$")


class Inferred:
    """The inferred arguments of one gold solution.

    These are a day that was named in another form, a small number of things, a multiple of an
    amount in the policy, an amount that the tool itself checks (it refuses a greater one), and the
    agent's own words to a tool that keeps nothing. ``found`` holds each with its tool.
    """

    def __init__(self, world: World, draft: Task, template: Template) -> None:
        self._world, self._draft, self._template = world, draft, template
        self._calls: list[ToolCall] = []
        self.found: list[tuple[str, Any]] = []

    def played(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Take note of a call that gold has made."""
        self._calls.append(ToolCall.of(tool, dict(arguments), "gold"))

    def holds(self, outcome: ToolOutcome, path: str, value: Any, seen: str) -> bool:
        """True if an argument follows from the texts ``seen`` or from the data."""
        tool = outcome.call.name
        if (tool, value) in self.found:
            return True
        if isinstance(value, str):
            inferred = _is_day(value, seen) or self._is_note(outcome, value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            counted = isinstance(value, int) and 0 <= value <= MOST_COUNTED
            inferred = not names_something(path) and (
                counted
                or multiple_of_policy(path, value, self._draft.system)
                or self._is_checked(outcome, path, value)
            )
        else:
            inferred = False
        if inferred:
            self.found.append((tool, value))
        return inferred

    def _is_note(self, outcome: ToolOutcome, value: str) -> bool:
        """True for words to a tool that writes and has kept nothing, such as a hand-over."""
        reads = {tool.name for tool in self._world.tools if tool.read_only}
        noted = _NOTE.search(outcome.call.name) is not None or outcome.call.name not in reads
        return noted and not outcome.changes and len(value.split()) >= WORDS

    def _is_checked(self, outcome: ToolOutcome, path: str, value: float) -> bool:
        """True if the tool refuses a greater amount in the same place."""
        arguments = copy.deepcopy(dict(outcome.arguments or {}))
        if not _raise(arguments, path, value):
            return False
        with closing(open_environment(self._draft, self._world, self._template)) as environment:
            try:
                for call in self._calls:
                    environment.call(call)
                changed = ToolCall.of(outcome.call.name, arguments, "changed")
                return not environment.call(changed).result.ok
            except ExecutorError:
                return False


def names_something(path: str) -> bool:
    """True for a parameter whose value names a thing, by the parameter's own name."""
    return _ID.search(path.removesuffix("[]")) is not None


def multiple_of_policy(path: str, value: float, policy: str) -> bool:
    """True for an amount that is a few times a number of the policy, such as 50 for each of three
    passengers.
    """
    if _AMOUNT.search(path) is None:
        return False
    found = re.findall(r"(?<![\w.:-])\d+(?:\.\d+)?(?![\w:-])", policy)
    return any(value == float(number) * times for number in found for times in range(2, 10))


def _is_day(value: str, seen: str) -> bool:
    """True for a day, YYYY-MM-DD or MM/DD/YYYY, that was named in another form; one without its
    year needs a year that was named.
    """
    day = re.sub(r"^(\d\d)/(\d\d)/(\d{4})$", r"\3-\1-\2", value)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", day) is None:
        return False
    years = [int(day[:4])] if day[:4] in seen else []
    return any(said.value == day for said in said_days(seen, years, ""))


def _raise(holder: Any, path: str, value: float) -> bool:
    """Raise a value at a path by one, where it is first; False if it is not there."""
    head, _, rest = path.partition(".")
    key = head.removesuffix("[]")
    if not isinstance(holder, dict) or key not in holder:
        return False
    fields = cast("dict[str, Any]", holder)
    if not head.endswith("[]"):
        if rest:
            return _raise(fields[key], rest, value)
        fields[key] = value + 1
        return True
    for index, item in enumerate(cast("list[Any]", fields[key])):
        inner = {"item": item}
        place = f"item.{rest}" if rest else "item"
        there = cast("dict[str, Any]", item).get(rest) == value if rest else item == value
        if there and _raise(inner, place, value):
            cast("list[Any]", fields[key])[index] = inner["item"]
            return True
    return False
