"""A world's own gates and scores: marked functions in the rewards.py of its folder.

::

    from synth.rewards import gate, reward

    @gate                                    # pass or fail, with a reason
    def never_reads_other_charts(evidence):
        return all(call.name != "read_chart" for call in evidence.calls), "read a chart"

    @reward(weight=0.2)                      # a score between 0 and 1
    def brief(evidence):
        return min(1.0, 20 / max(1, len(evidence.said.split())))

A gate returns a bool, or a pair of a bool and a reason. A reward returns a number from 0 to 1, or a
pair of a number and a reason. Each function applies to all families of the world unless
``families=`` names some. It receives an :class:`~synth.evidence.Evidence` and is called once
for each rollout, after the gates of the task.

The decorators only mark functions; :func:`world_rewards` collects them in each process. Anything
that a function raises, and any other return value, is an error of the world's author: the verdict
has no score, and the rollout is unscored (its reward is null, never 0).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast, overload

from envs.errors import SandboxError, WorldError
from envs.world.loader import World
from envs.world.package import WorldPackage
from synth.core.foundation.suggestions import hint, nearest
from synth.evidence import Evidence
from synth.plugins import REWARDS
from synth.verdict import Verdict

REWARDS_FILE = "rewards.py"
MARK = "__synth_reward__"

Judgement = TypeVar("Judgement", bound=Callable[[Any], Any])
Finding = tuple[float, str]


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a decorated function. ``families`` is None for all families."""

    gate: bool
    weight: float
    families: tuple[str, ...] | None

    @property
    def decorator(self) -> str:
        return "@gate" if self.gate else "@reward"


@dataclass(frozen=True)
class WorldReward:
    """A gate or a score of a world; judges as a verifier does."""

    name: str
    function: Callable[[Evidence], object]
    mark: Mark
    file: Path

    def applies_to(self, family: str) -> bool:
        return self.mark.families is None or family in self.mark.families

    def verify(self, evidence: Evidence) -> Verdict:
        """Call the function. Raises :class:`~envs.errors.SandboxError` only: the infrastructure
        broke, and another attempt may help.
        """
        try:
            returned = self.function(evidence)
        except SandboxError:
            raise
        except (Exception, SystemExit) as error:
            message = f"raises {type(error).__name__}: {error}".removesuffix(": ")
            return self._author_error(message, _line_of(error, self.file) or self._line)
        finding = _gate_finding(returned) if self.mark.gate else _score_finding(returned)
        if isinstance(finding, str):
            return self._author_error(f"returns {returned!r:.80}; {finding}", self._line)
        score, reason = finding
        return Verdict(self.name, score, reason[:1000], self.mark.gate, self.mark.weight)

    @property
    def _line(self) -> int:
        return inspect.unwrap(self.function).__code__.co_firstlineno

    def _author_error(self, message: str, line: int) -> Verdict:
        where = f"{self.file.name}:{line}"
        reason = f"{where}: {self.mark.decorator} {self.name} {message}"
        detail = {"author_error": {"file": self.file.name, "line": line}}
        return Verdict(self.name, None, reason[:1000], self.mark.gate, self.mark.weight, detail)


@overload
def gate(function: Judgement) -> Judgement: ...
@overload
def gate(*, families: Sequence[str] | None = None) -> Callable[[Judgement], Judgement]: ...
def gate(function: Any = None, *, families: Any = None) -> Any:
    """Mark a function of rewards.py as a gate: it returns a bool, or a bool and a reason.

    ``families`` limits it to some families of the world.
    """
    mark = Mark(gate=True, weight=1.0, families=_families(families, "@gate"))
    return _marker(function, mark)


@overload
def reward(function: Judgement) -> Judgement: ...
@overload
def reward(
    *, weight: float = 1.0, families: Sequence[str] | None = None
) -> Callable[[Judgement], Judgement]: ...
def reward(function: Any = None, *, weight: Any = 1.0, families: Any = None) -> Any:
    """Mark a function of rewards.py as a score: it returns a number from 0 to 1, or a number and a
    reason.

    The reward of a rollout is the product of its gates times ``(1 + sum of w*s) / (1 + sum of w)``
    over the scores ``s`` with their weights ``w``.
    """
    if not _is_number(weight) or not 0 < weight < math.inf:
        raise WorldError(f"@reward: weight must be a number above 0, not {weight!r}")
    mark = Mark(gate=False, weight=float(weight), families=_families(families, "@reward"))
    return _marker(function, mark)


def world_rewards(world: World) -> tuple[WorldReward, ...]:
    """The gates and scores of a world's rewards.py, in the order of their definition; none without
    such a file.

    Raises :class:`~envs.errors.WorldError` with file and line for a file that cannot be imported or
    a function that is marked wrongly.
    """
    return _rewards_of(world.path, world.digest)


@lru_cache(maxsize=64)
def _rewards_of(folder: Path, digest: str) -> tuple[WorldReward, ...]:
    file = folder / REWARDS_FILE
    if not file.is_file():
        return ()
    found: dict[str, WorldReward] = {}
    for value in vars(WorldPackage(folder, digest).load(file.stem)).values():
        mark = getattr(value, MARK, None)
        if not isinstance(mark, Mark):
            continue
        known = found.setdefault(value.__name__, WorldReward(value.__name__, value, mark, file))
        if known.function is not value:
            raise WorldError(f"two rewards are named {value.__name__!r}", file)
    return tuple(found.values())


def check_reward_families(world: World, families: Collection[str]) -> None:
    """Raise :class:`~envs.errors.WorldError` if ``families=`` of a reward names none of
    ``families``, all of the world; nothing is checked if they are unknown (empty).
    """
    for item in world_rewards(world):
        for name in item.mark.families or ():
            if families and name not in families:
                close = hint(nearest(name, families))
                message = f"{item.mark.decorator} {item.name}: unknown family {name!r}{close}"
                raise WorldError(message, item.file, item.function.__code__.co_firstlineno)


def author_error(verdicts: Sequence[Verdict]) -> str | None:
    """The first error of a world's own gate or score among the verdicts; None if there is none."""
    return next((item.reason for item in verdicts if "author_error" in item.detail), None)


def _marker(function: Any, mark: Mark) -> Any:
    if function is None:
        return partial(_marked, mark=mark)
    return _marked(function, mark)


def _marked(function: Any, mark: Mark) -> Any:
    who = mark.decorator
    if not inspect.isfunction(function):
        raise WorldError(f"{who} marks a function, not {function!r}; options are keywords")
    name = function.__name__
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise WorldError(f"{who} {name} is `async def`; a plain `def` is called in a thread")
    if inspect.isgeneratorfunction(function):
        raise WorldError(f"{who} {name} has a `yield`; it must return its finding")
    if hasattr(function, MARK):
        raise WorldError(f"{name} is marked twice; make it a gate or a reward")
    if name in REWARDS.builtin:
        raise WorldError(f"{who} {name}: this is the name of a built-in gate; choose another")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise WorldError(f"{who} {name} must take one argument, the evidence") from None
    setattr(function, MARK, mark)
    return function


def _families(value: Any, who: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = list(cast("Sequence[object]", value)) if isinstance(value, (list, tuple, set)) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise WorldError(f"{who}: families must be a list of family names, not {value!r}")
    return tuple(cast("list[str]", names))


def _gate_finding(returned: object) -> Finding | str:
    """Score and reason of a gate's return value; a text says what it must be instead."""
    passed, reason = _with_reason(returned)
    if not isinstance(passed, bool) or reason is None:
        return "a gate returns True or False, or a pair of that and a reason"
    return float(passed), reason or ("passed" if passed else "failed")


def _score_finding(returned: object) -> Finding | str:
    score, reason = _with_reason(returned)
    if not _is_number(score) or reason is None or not 0 <= cast("float", score) <= 1:
        return "a reward returns a number from 0 to 1, or a pair of that and a reason"
    return float(cast("float", score)), reason or f"score {score:.4g}"


def _with_reason(returned: object) -> tuple[object, str | None]:
    """Value and reason; the reason is empty if there is none, and None if it is not a text."""
    if not isinstance(returned, tuple):
        return returned, ""
    parts = cast("tuple[object, ...]", returned)
    if len(parts) != 2:
        return parts, None
    return parts[0], parts[1] if isinstance(parts[1], str) else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _line_of(error: BaseException, file: Path) -> int | None:
    """The last line of the file that the error came through."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
