"""The search for a value that nobody has said: the shortest chain of reads that returns it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError
from envs.tools.tool import Tool
from envs.types import ToolCall
from synth.core.foundation.hashing import canonical
from synth.core.foundation.json_leaves import named_values
from synth.ext.action_lists.values import KnownValue, ValuePool, result_values, same_value

DEPTH = 3
"""Reads in a chain, each of which takes its arguments from the ones before."""

CALLS = 1000
"""Reads that are tried for one value."""

PER_TOOL = 120
"""Combinations of arguments that are tried for a tool at one depth."""


@dataclass(frozen=True)
class Read:
    """One call of a read tool with what it returned. ``uses`` are the known values that its
    arguments come from.
    """

    tool: str
    arguments: Mapping[str, Any]
    uses: Sequence[KnownValue]
    values: Sequence[KnownValue]


class Search:
    """Reads of the database as it is. After a write, :meth:`forget` what they returned."""

    def __init__(self, environment: DatabaseExecutableEnvironment, known: ValuePool) -> None:
        self._environment = environment
        self._tools = [tool for tool in environment.tools if tool.read_only and not tool.free_sql]
        self._known = known
        self._reads: list[Read] = []
        self._tried = set[str]()
        self._returned: dict[str, list[KnownValue] | None] = {}

    def forget(self) -> None:
        """Forget what reads returned: a write has changed the state."""
        self._returned.clear()

    def find(self, name: str, wanted: Any, without: frozenset[str]) -> list[Read] | None:
        """The reads to make, in order, to learn a value for the parameter ``name``; None if no
        chain of them returns it.

        Nothing told under the topics of ``without`` is used.
        """
        self._reads, self._tried = [], set[str]()
        pool = ValuePool([item for item in self._known.values if item.source not in without])
        start = 0
        for _ in range(DEPTH):
            for tool in self._tools:
                for arguments, uses in _calls_of(tool, pool):
                    self._try(tool.name, arguments, uses)
                    if len(self._tried) >= CALLS:
                        break
            fresh = range(start, len(self._reads))
            if (found := self._holder(fresh, name, wanted)) is not None:
                return self._chain(found)
            start = len(self._reads)
            if not fresh or len(self._tried) >= CALLS:
                return None
            pool = ValuePool(
                [*pool.values, *(value for index in fresh for value in self._reads[index].values)]
            )
        return None

    def reads_of(self, values: Sequence[KnownValue]) -> Iterator[Read]:
        """The reads that succeed with arguments from these values only."""
        self._reads, self._tried = [], set[str]()
        for tool in self._tools:
            for arguments, uses in _calls_of(tool, ValuePool(list(values))):
                count = len(self._reads)
                if arguments:
                    self._try(tool.name, arguments, uses)
                yield from self._reads[count:]

    def _try(self, tool: str, arguments: Mapping[str, Any], uses: Sequence[KnownValue]) -> None:
        key = canonical([tool, arguments])
        if key in self._tried:
            return
        self._tried.add(key)
        if key not in self._returned:
            self._returned[key] = self._call(tool, arguments)
        if (values := self._returned[key]) is not None:
            number = len(self._reads)
            own = [replace(value, read=number) for value in values]
            self._reads.append(Read(tool, arguments, uses, own))

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> list[KnownValue] | None:
        """The values that a read returns; None if it fails, or says no more than it was given."""
        try:
            result = self._environment.call(ToolCall.of(tool, dict(arguments), "look")).result
        except ExecutorError:  # a fault of the tool, which a call of gold would show
            return None
        if not result.ok:
            return None
        given = [value for _, value in named_values(arguments)]
        found = list(result_values(result.payload()))
        new = any(not any(_equal(value.value, own) for own in given) for value in found)
        return found if new else None

    def _holder(self, numbers: range, name: str, wanted: Any) -> int | None:
        """The read that returns a value, one that calls it by its name first."""
        holders = [
            (item.key != name, number)
            for number in numbers
            for item in self._reads[number].values
            if same_value(item.value, wanted)
        ]
        return min(holders)[1] if holders else None

    def _chain(self, last: int) -> list[Read]:
        needed, open_reads = set[int](), [last]
        while open_reads:
            number = open_reads.pop()
            if number not in needed:
                needed.add(number)
                open_reads += [
                    value.read for value in self._reads[number].uses if value.read is not None
                ]
        return [self._reads[number] for number in sorted(needed)]


def _calls_of(tool: Tool, pool: ValuePool) -> Iterator[tuple[dict[str, Any], list[KnownValue]]]:
    """Arguments for a tool from known values: the required ones, or each optional one alone."""
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties") or {}
    required: Sequence[str] = tool.parameters.get("required") or ()
    if not required:
        yield {}, []
    groups = [tuple(required)] if required else [(name,) for name in properties]
    for names in groups:
        choices = [pool.candidates(name, properties[name]) for name in names]
        if all(choices):
            for chosen in itertools.islice(_by_likelihood(choices), PER_TOOL):
                arguments = {
                    name: argument for name, (argument, _) in zip(names, chosen, strict=True)
                }
                yield arguments, [value for _, value in chosen]


def _by_likelihood(
    choices: Sequence[Sequence[tuple[Any, KnownValue]]],
) -> Iterator[tuple[tuple[Any, KnownValue], ...]]:
    """The combinations of choices, the early ones of each text or read first: what was said or
    read together belongs together.
    """
    places = [_places(one) for one in choices]

    def unlikely(place: Sequence[int]) -> int:
        origins = {_origin(one[index][1]) for one, index in zip(choices, place, strict=True)}
        early = sum(one[index] for one, index in zip(places, place, strict=True))
        return early + 2 * len(origins)

    combined = itertools.product(*(range(len(one)) for one in choices))
    for place in sorted(itertools.islice(combined, 5000), key=unlikely):
        yield tuple(one[index] for one, index in zip(choices, place, strict=True))


def _places(choices: Sequence[tuple[Any, KnownValue]]) -> list[int]:
    """The place of each choice among the choices of the same text or read."""
    counters = defaultdict[tuple[str, int | None], Iterator[int]](itertools.count)
    return [next(counters[_origin(value)]) for _, value in choices]


def _origin(value: KnownValue) -> tuple[str, int | None]:
    return value.source, value.read


def _equal(one: Any, other: Any) -> bool:
    """Compare scalars; 28243.0 is "28243"."""
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return same_value(one, other)
