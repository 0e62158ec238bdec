"""The contract of a rollout wrapper: it stands around the rollouts of one worker.

A wrapper may play a job in another way, replace the model, add verdicts to the score, or change the
row. The wrappers of a run are nested like middlewares, the first outermost:

    class Timed(RolloutWrapper):
        async def play(self, job, context, usage, inner):
            began = time.monotonic()
            row = await inner(job, context, usage)
            print(job.id, time.monotonic() - began)
            return row

A wrapper extension is a subclass, built with ``(options, home)`` and named in
``extensions.wrappers``. Its attribute ``Options`` is a dataclass or pydantic model of its options,
which stand in ``extensions.options`` under its name. :class:`synth.testing.WrapperConformance`
tests the contract.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from envs.plugins import Contract
from synth.middleware import MiddlewareHome
from synth.plugins import NoOptions
from synth.rewards import solved
from synth.verdict import Verdict

if TYPE_CHECKING:
    from synth.episode import Score
    from synth.evidence import Evidence
    from synth.model import Completion
    from synth.rollout import PartialUsage, RolloutContext
    from synth.task import Job

Play = Callable[["Job", "RolloutContext", "PartialUsage"], Awaitable[dict[str, Any]]]
"""Plays a job and returns its row."""

Probe = Callable[["Job", "RolloutContext"], Awaitable["Completion | None"]]
"""Sends the first prompt of a job; None if the model cannot be asked alone."""


class RolloutWrapper(Contract):
    """Wraps rollouts. Each method does by default what happens without it."""

    Options: type[Any] = NoOptions

    verifier: ClassVar[str] = ""
    """The name of the verdict that ``scored`` adds; a replay and a grade take it from the row."""

    def __init__(self, options: Any, home: MiddlewareHome) -> None:
        self.options = options

    async def preflight(self) -> list[str]:
        """Check what it asks before the first rollout. Returns warnings.

        Raises :class:`synth.errors.ModelError`.
        """
        return []

    async def play(
        self, job: Job, context: RolloutContext, usage: PartialUsage, inner: Play
    ) -> dict[str, Any]:
        """Play the job by ``inner`` and return its row. If it raises, ``usage`` holds the cost."""
        return await inner(job, context, usage)

    async def probe(self, job: Job, context: RolloutContext, inner: Probe) -> Completion | None:
        """Ask a model for a short answer to the first prompt of a job."""
        return await inner(job, context)

    async def scored(
        self, evidence: Evidence, score: Score, seed: int, columns: MutableMapping[str, object]
    ) -> Score:
        """Return the score of a finished rollout; ``columns`` are the columns of its row that the
        wrapper sets.
        """
        return score

    @classmethod
    def recorded(
        cls,
        verdicts: Sequence[Mapping[str, Any]],
        *,
        solved: bool,  # noqa: ARG003
    ) -> Verdict | None:
        """The verdict that ``scored`` added to a row with these ``verdicts``; None if it added
        none. ``solved`` says whether the row passes every gate of its task now.
        """
        own = (one for one in verdicts if one["verifier"] == cls.verifier)
        return next((Verdict(**one) for one in own), None)

    async def aclose(self) -> None:
        """Release its resources. Safe to call twice."""
        return


def with_recorded(
    kinds: Iterable[type[RolloutWrapper]],
    verdicts: Sequence[Verdict],
    recorded: Sequence[Mapping[str, Any]],
) -> list[Verdict]:
    """``verdicts`` of the gates, and the ones that wrappers added to the ``recorded`` row."""
    passed = solved(verdicts)
    found = (kind.recorded(recorded, solved=passed) for kind in kinds)
    return [*verdicts, *(one for one in found if one is not None)]


def wrapped(wrappers: Sequence[RolloutWrapper], play: Play) -> Play:
    """``play`` inside the wrappers, the first outermost."""
    for wrapper in reversed(wrappers):
        play = partial(wrapper.play, inner=play)
    return play


def wrapped_probe(wrappers: Sequence[RolloutWrapper], probe: Probe) -> Probe:
    """``probe`` inside the wrappers, the first outermost."""
    for wrapper in reversed(wrappers):
        probe = partial(wrapper.probe, inner=probe)
    return probe
