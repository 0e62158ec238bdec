"""The contract tests of an environment whose state is outside of the database."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from envs.environments.external import ExternalExecutableEnvironment
from envs.types import Pins, ToolCall, ToolOutcome
from envs.world.loader import load_world

Call = tuple[str, Mapping[str, Any]]
"""A tool's name and its arguments."""


class EnvironmentConformance:
    """Contract tests for an :class:`~envs.environments.external.ExternalExecutableEnvironment`.

    Subclass it in a test module as ``Test...``, with a world whose world.yaml names it::

        class TestInventory(EnvironmentConformance):
            world = Path("worlds/inventory")

            def writes(self) -> Sequence[Call]:
                return [("reserve", {"sku": "L-1", "customer": "Ada", "count": 2})]

            def refusals(self) -> Sequence[Call]:
                return [("reserve", {"sku": "L-1", "customer": "Ada", "count": 99})]
    """

    world: ClassVar[str | Path] = ""
    """The world's folder."""

    @abstractmethod
    def writes(self) -> Sequence[Call]:
        """Calls that succeed one after the other, each of which changes rows."""
        raise AssertionError("a contract test names calls that change rows")

    def refusals(self) -> Sequence[Call]:
        """Calls that the environment refuses in the state of the seed; none by default."""
        return ()

    @contextmanager
    def opened(self, *, unordered: bool = False) -> Generator[ExternalExecutableEnvironment]:
        """An environment in the state of the seed, ``unordered``: from rows in another order."""
        world = load_world(self.world)
        with (
            world.template() as template,
            world.environment(template, Pins(), unordered=unordered) as environment,
        ):
            assert isinstance(environment, ExternalExecutableEnvironment)
            yield environment

    def play(self, environment: ExternalExecutableEnvironment, call: Call) -> ToolOutcome:
        return environment.call(ToolCall.of(*call))

    def test_a_write_is_told_row_by_row(self) -> None:
        """Each call reports the rows that it changed, and the diff has the net changes."""
        with self.opened() as environment:
            before = environment.state_hash()
            assert not environment.diff()
            for call in self.writes():
                outcome = self.play(environment, call)
                assert outcome.result.ok, outcome.content
                assert outcome.changes, f"{call[0]} changed no row"
            assert environment.diff()
            assert environment.state_hash() != before

    def test_equal_calls_give_equal_rows(self) -> None:
        """Neither a second time nor the order of the rows at the start makes a difference."""
        ends: list[object] = []
        for unordered in (False, False, True):
            with self.opened(unordered=unordered) as environment:
                texts = [self.play(environment, call).content for call in self.writes()]
                ends.append((texts, environment.diff(), environment.state_hash()))
        assert ends[0] == ends[1], "two rollouts of the same calls differ"
        assert ends[0] == ends[2], "the order of the rows at the start decides what happens"

    def test_environments_are_apart(self) -> None:
        """Of two that are open at once, neither sees what the other writes."""
        with self.opened() as one, self.opened() as other:
            one.begin()
            other.begin()
            rows = self._rows(other)
            for call in self.writes():
                self.play(one, call)
            assert self._rows(other) == rows
            assert self._rows(one) != rows

    def test_a_refusal_leaves_nothing(self) -> None:
        """A call that fails is a result without changes, and the state is as before it."""
        with self.opened() as environment:
            before = environment.state_hash()
            for call in self.refusals():
                outcome = self.play(environment, call)
                assert not outcome.result.ok, f"{call} was not refused"
                assert not outcome.changes
            assert environment.state_hash() == before

    def test_it_goes_on_from_its_own_rows(self) -> None:
        """The rows after some calls are a state to start in: a call is undone that way."""
        with self.opened() as environment:
            for call in self.writes():
                self.play(environment, call)
            rows = self._rows(environment)
            environment.stop()
            environment.start({table: [dict(row) for row in own] for table, own in rows.items()})
            assert self._rows(environment) == rows

    def test_stopping_and_closing_twice_is_safe(self) -> None:
        """Also where nothing was started."""
        with self.opened() as environment:
            environment.stop()
        with self.opened() as environment:
            self.play(environment, self.writes()[0])
            environment.stop()
            environment.stop()
        environment.close()

    def _rows(self, environment: ExternalExecutableEnvironment) -> dict[str, list[dict[str, Any]]]:
        """The snapshot in an order of its own."""
        found = environment.snapshot()
        return {
            table: sorted(
                (dict(row) for row in found[table]), key=lambda row: repr(sorted(row.items()))
            )
            for table in sorted(found)
        }
