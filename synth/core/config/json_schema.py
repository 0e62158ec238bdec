"""The JSON Schema of config files, by which editors complete and check them."""

from __future__ import annotations

from typing import Any, cast

from pydantic import TypeAdapter

from synth.config import SECTIONS, RunConfig
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError

_INTERPOLATION = {"type": "string", "pattern": r"\$\{|^\?\?\?$"}
"""What may stand in the place of any value: ``${seed}``, or ``???`` for a value that must be
given.
"""

_DEFAULTS = {"type": "array", "description": "Hydra's list of the files that are composed"}


def config_schema(section: str = "") -> dict[str, Any]:
    """The JSON Schema of a primary config, or of a file of a config group: ``model``, ``tasks``.

    Every key may be absent, as files are composed. Raises OperatorError for an unknown section.
    """
    if section and section not in SECTIONS:
        near = hint(nearest(section, SECTIONS))
        raise OperatorError(f"--config: unknown section {section}{near}")
    whole = TypeAdapter(RunConfig).json_schema()
    parts: dict[str, Any] = whole.pop("$defs")
    for part in (whole, *parts.values()):
        _relax(part)
    found = whole
    for name in section.split(".") if section else ():
        (reference, _) = found["properties"][name]["anyOf"]
        found = parts[reference["$ref"].rpartition("/")[2]]
    found = {**found, "properties": {"defaults": _DEFAULTS, **found["properties"]}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$defs": parts}


def _relax(part: dict[str, Any]) -> None:
    """Let an interpolation stand for the value of each key of a section, and one value for a list
    of one.
    """
    part["additionalProperties"] = part.get("additionalProperties", False)
    properties = cast("dict[str, dict[str, Any]]", part.get("properties", {}))
    for name, value in properties.items():
        choices: list[dict[str, Any]] = value.get("anyOf", [value])
        single = [choice["items"] for choice in choices if "items" in choice]
        described = {key: value[key] for key in ("default", "description") if key in value}
        properties[name] = {"anyOf": [*choices, *single, _INTERPOLATION], **described}
