"""The types that the sections of the config are made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, Strict

from envs.plugins import ENGINES, PluginError

Positive = Annotated[int, Strict(), Field(gt=0)]
NotNegative = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
MoreThanZero = Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(gt=0, le=1, allow_inf_nan=False)]
AnyShare = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Strict(), Field(min_length=1)]
Universe = Annotated[int, Strict(), Field(ge=0)]


def absolute(place: str) -> str:
    """The absolute path of a file or folder; a URL stays as it is. A resume may come from another
    working directory. Raises ValueError for the home of an unknown user.
    """
    try:
        return place if "://" in place else str(Path(place).expanduser().absolute())
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def world_place(place: str) -> str:
    """The absolute path of a world's folder; a bare name of no folder stays as it is."""
    return place if Path(place).name == place and not Path(place).is_dir() else absolute(place)


Place = Annotated[Text, AfterValidator(absolute)]
WorldPlace = Annotated[Text, AfterValidator(world_place)]

MOST_RENAMINGS = 200
"""The highest number of a renaming."""

Plain = Mapping[str, Any]
"""A config, or a part of it, as plain data."""
Finding = tuple[tuple[str, ...], str]
"""The keys that a rule looked at, and the line that says what is wrong with them."""


def engine_name(name: str) -> str:
    """Replace an engine's alias by its name. Raises ValueError for an unknown engine."""
    try:
        return ENGINES.find(name).name
    except PluginError as error:
        raise ValueError(str(error)) from None


EngineName = Annotated[Text, AfterValidator(engine_name)]


def one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def alone(value: Any) -> Any:
    return [value] if isinstance(value, int) else value


def universes(value: object) -> int | list[int]:
    """A number of universes, or the list of them. Raises ValueError for anything else."""
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    least = 0 if isinstance(value, list) else 1
    fine = [item for item in listed if type(item) is int and item >= least]
    if not fine or len(fine) < len(listed):
        raise ValueError("must be more than 0, or a list of universes such as [3,4]")
    return fine if isinstance(value, list) else fine[0]


def renamings(value: object) -> int | list[int]:
    """A number of renamings beside the world's own names, or the list of those to show, of
    which 0 is the world's own. Raises ValueError for anything else.
    """
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    fine = [item for item in listed if type(item) is int and 0 <= item <= MOST_RENAMINGS]
    if not fine or len(fine) < len(listed):
        raise ValueError(
            f"must be a number of variants from 0 to {MOST_RENAMINGS}, or a list of them such as"
            " [6,7]"
        )
    return fine if isinstance(value, list) else fine[0]


def branch_at(value: object) -> str:
    """``first_wrong``, ``each_write``, ``each_turn`` or the number of a turn. Raises ValueError for
    anything else.
    """
    text = str(value)
    words = {"first_wrong", "each_write", "each_turn"}
    known = text in words or (text.isascii() and text.isdecimal())
    if isinstance(value, bool) or not known or len(text) > 12:
        raise ValueError(
            "must be first_wrong, each_write, each_turn or the number of a turn, from 0"
        )
    return text


Renamings = Annotated[int | list[int], PlainValidator(renamings)]
BranchAt = Annotated[str, PlainValidator(branch_at)]
Wording = Literal["plain", "varied"]
"""Words in which users ask (:mod:`synth.ext.variety.wording`)."""
Universes = Annotated[int | list[int], PlainValidator(universes)]
ComposeAs = Literal["turns", "message", "both"]
"""How the requests of a composed task come (:data:`synth.ext.variety.composer.MANNERS`)."""
Style = Literal["terse", "narrating", "parallel", "verifying"]
"""Manners of the scripted expert (:mod:`synth.core.models.scripted.styles`)."""


def styles(value: object) -> dict[str, float]:
    """The weights of styles, from a name, a list of names or a mapping.

    Raises ValueError for an unknown name and a weight that is not above 0.
    """
    if isinstance(value, str | list):
        names = cast("list[object]", value if isinstance(value, list) else [value])
        value = dict.fromkeys(map(str, names), 1.0)
    weights = cast("dict[object, object]", value if isinstance(value, Mapping) else {})
    known = get_args(Style)
    if not weights or not all(
        name in known and type(weight) in {int, float} and 0 < cast("float", weight) < 1e9
        for name, weight in weights.items()
    ):
        shown = ", ".join(known)
        raise ValueError(
            f"must be one of {shown}, a list of them, or their weights such as"
            " {terse: 0.5, narrating: 0.5}"
        )
    return {str(name): float(cast("float", weight)) for name, weight in weights.items()}


Styles = Annotated[dict[str, float], PlainValidator(styles)]


def composition(value: object) -> dict[str, float]:
    """The shares of composed tasks by their number of requests.

    Raises ValueError for anything else.
    """
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    shares = {str(size): share for size, share in given.items()}
    fine = [
        float(cast("float", share))
        for size, share in shares.items()
        if size in {"2", "3"} and type(share) in {int, float} and 0 < cast("float", share) <= 1
    ]
    if not fine or len(fine) < len(given) or sum(fine) > 1 + 1e-9:
        raise ValueError(
            "must map 2 or 3 requests to their share of the tasks, at most 1 together, such as"
            " {2: 0.3, 3: 0.1}"
        )
    return {size: float(cast("float", share)) for size, share in sorted(shares.items())}


Composition = Annotated[dict[str, float], PlainValidator(composition)]


def weights(value: object) -> dict[str, float]:
    """The weights of families by name or pattern. Raises ValueError for anything else."""
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    if not given or not all(
        type(weight) in {int, float} and 0 < cast("float", weight) < 1e9
        for weight in given.values()
    ):
        raise ValueError(
            "must map families, by name or pattern, to weights above 0, such as"
            " {cancel_order: 2, refuse_*: 0.5}"
        )
    return {str(name): float(cast("float", weight)) for name, weight in given.items()}


Weights = Annotated[dict[str, float], PlainValidator(weights)]


def difficulty(value: object) -> dict[str, int]:
    """A range of difficulty, both ends included. Raises ValueError for anything else."""
    given = cast("dict[object, object]", value) if isinstance(value, Mapping) else {}
    ends = {str(name): end for name, end in given.items()}
    fine = {
        name: end
        for name, end in ends.items()
        if name in {"min", "max"} and type(end) is int and end >= 0
    }
    if not fine or len(fine) < len(ends) or fine.get("max", 10**9) < fine.get("min", 0):
        raise ValueError("must be a range of whole numbers, such as {min: 3} or {min: 3, max: 9}")
    return fine


Difficulty = Annotated[dict[str, int], PlainValidator(difficulty)]
TaskOrder = Literal["turns", "difficulty"]
"""Orders of a plan."""


class Section:
    """Base of the parts of the config: a key that is not a field is a problem."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
