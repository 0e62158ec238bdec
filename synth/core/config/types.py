"""The types that the sections of the config are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, Strict

from envs.plugins import ENGINES, PluginError
from synth.core.foundation.shipped import place_and_name

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


def _world_place(place: str) -> str:
    """The absolute path of a world's folder; a bare name of no folder stays as it is, and so does
    ``hf:org/name``.
    """
    if place_and_name(place) is not None:
        return place
    return place if Path(place).name == place and not Path(place).is_dir() else absolute(place)


Place = Annotated[Text, AfterValidator(absolute)]
WorldPlace = Annotated[Text, AfterValidator(_world_place)]


Plain = Mapping[str, Any]
"""A config, or a part of it, as plain data."""
Finding = tuple[Sequence[str], str]
"""The keys that a rule looked at, and the line that says what is wrong with them."""


def _engine_name(name: str) -> str:
    """Replace an engine's alias by its name. Raises ValueError for an unknown engine."""
    try:
        return ENGINES.find(name).name
    except PluginError as error:
        raise ValueError(str(error)) from None


EngineName = Annotated[Text, AfterValidator(_engine_name)]


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


Universes = Annotated[int | list[int], PlainValidator(universes)]
Style = Literal["terse", "narrating", "parallel"]
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


class Section:
    """Base of the parts of the config: a key that is not a field is a problem."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
