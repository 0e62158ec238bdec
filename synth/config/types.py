"""The types that the sections of the config are made of."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, Strict

from envs.plugins import ENGINES, PluginError

Positive = Annotated[int, Strict(), Field(gt=0)]
NotNegative = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
MoreThanZero = Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(gt=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Strict(), Field(min_length=1)]
Universe = Annotated[int, Strict(), Field(ge=0)]


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


class Section:
    """Base of the parts of the config: a key that is not a field is a problem."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
