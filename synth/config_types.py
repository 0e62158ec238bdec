"""The types that the sections of the config are made of."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, Strict

Positive = Annotated[int, Strict(), Field(gt=0)]
NotNegative = Annotated[float, Strict(), Field(ge=0, allow_inf_nan=False)]
MoreThanZero = Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Strict(), Field(gt=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, Strict(), Field(min_length=1)]
Universe = Annotated[int, Strict(), Field(ge=0)]


def one_or_many(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def alone(value: Any) -> Any:
    return [value] if isinstance(value, int) else value


class Section:
    """What the parts of the config share: a key that is not a field is a problem."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
