"""The templates of one world, one per universe: built on first use, and only so many open."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Generator
from contextlib import contextmanager

from envs.closing import Closing
from envs.errors import SandboxError
from envs.sandboxes.base import DatabaseTarget, Template
from envs.world.loader import World

KEEP = 16
"""Templates that stay open unused: work goes universe by universe, so few are enough."""


class Templates(Closing):
    """For one thread. Close it, or use it as a context manager. ``place`` is a server's."""

    def __init__(
        self,
        world: World,
        engine: str = "sqlite",
        keep: int = KEEP,
        place: DatabaseTarget | None = None,
    ) -> None:
        self.world = world
        self._engine = engine
        self._place = place
        self._keep = keep
        self._open: OrderedDict[int, Template] = OrderedDict()
        self._uses: Counter[int] = Counter()
        self._closed = False

    @contextmanager
    def use(self, universe: int = 0) -> Generator[Template]:
        """The universe's template, which stays open at least until the block ends.

        Raises what :meth:`~envs.world.loader.World.template` raises, and :class:`SandboxError` once
        closed.
        """
        if self._closed:
            raise SandboxError("the templates are closed")
        if universe not in self._open:
            self._open[universe] = self.world.template(self._engine, universe, self._place)
        template = self._open[universe]
        self._open.move_to_end(universe)
        self._uses[universe] += 1
        self._close_idle()
        try:
            yield template
        finally:
            self._uses[universe] -= 1
            self._close_idle()

    @property
    def universes(self) -> list[int]:
        return list(self._open)

    @property
    def busy(self) -> bool:
        return any(self._uses.values())

    def _close_idle(self) -> None:
        """Close the longest unused ones above the number that is kept."""
        idle = [universe for universe in self._open if not self._uses[universe]]
        for universe in idle[: max(0, len(self._open) - self._keep)]:
            _close(self._open.pop(universe))

    def close(self) -> None:
        self._closed = True
        while self._open:
            _close(self._open.popitem()[1])


def _close(template: Template) -> None:
    template.siblings.close()
    template.close()
