"""The config of a run as a group of a Hydra application of your own: typed, with every default.

``synth run`` does not compose with it. Hydra would stop at the first mistake, and its types know no
range, no choice and no rule between keys.
"""

from __future__ import annotations

from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Optional,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from hydra.core.config_store import ConfigStore
from pydantic import BeforeValidator

from synth.config import RunConfig

_PRIMITIVES = (bool, int, float, str)


def store(group: str = "synth", name: str = "schema") -> None:
    """Register the config in Hydra's ConfigStore, for ``defaults: [{synth: schema}]``.

    The section ``group`` of the composed config is then what ``synth.run`` takes.
    """
    ConfigStore.instance().store(name, structured(), group=group, provider="synth")


def structured(section: type = RunConfig) -> type:
    """A dataclass that OmegaConf can read, from a section of the config: the same names and
    defaults, and the types as far as OmegaConf has them. Any other type is Any.
    """
    hints = get_type_hints(section, include_extras=True)
    made: list[tuple[str, Any, Any]] = []
    for entry in fields(cast("Any", section)):
        kind = _type(hints[entry.name])
        made.append((entry.name, kind, _default(entry, kind)))
    return make_dataclass(section.__name__, made)


def _default(entry: Any, kind: Any) -> Any:
    """The default of a dataclass's field; a section's default has the defaults of its keys."""
    if entry.default is not MISSING:
        return field(default=entry.default)
    return field(default_factory=kind if _is_section(kind) else entry.default_factory)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _type(kind: Any) -> Any:
    """The nearest type of OmegaConf, Any if there is none."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        # A value that becomes another one before it is checked: one name for a list of names.
        changed = any(isinstance(item, BeforeValidator) for item in inner[1:])
        return Any if changed else _type(inner[0])
    if origin is Literal:
        kinds = cast("set[Any]", {type(value) for value in inner})
        return kinds.pop() if len(kinds) == 1 else Any
    if origin in {Union, UnionType}:
        return _union([item for item in inner if item is not NoneType], NoneType in inner)
    if origin in {list, dict}:  # YAML has keys that are numbers, too
        return list[_type(inner[0])] if origin is list else dict[Any, _type(inner[1])]
    if _is_section(kind):
        return structured(kind)
    return kind if kind in _PRIMITIVES else Any


def _union(kinds: list[Any], optional: bool) -> Any:
    found = [_type(kind) for kind in kinds]
    if len(found) > 1 and not set(found) <= set(_PRIMITIVES):
        return Any
    if optional and get_origin(found[0]) is not None:  # OmegaConf merges nothing into an absent one
        return Any
    whole = found[0] if len(found) == 1 else Union[tuple(found)]  # noqa: UP007
    return Optional[whole] if optional and whole is not Any else whole  # noqa: UP045
