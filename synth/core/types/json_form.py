"""One JSON form for frozen data: an object with a key for each field."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Self

from pydantic import ConfigDict, TypeAdapter


class JsonForm:
    """Base of dataclasses whose JSON is their fields, tuples as arrays."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """The fields by name; :meth:`from_json` reads them."""
        return _adapter(type(self)).dump_python(self, mode="json")

    @classmethod
    def from_json(cls, raw: Any) -> Self:
        """Read what :meth:`to_json` wrote; absent keys have their defaults. Raises ValueError."""
        return _adapter(cls).validate_python(raw)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
