"""``synth schema``: the JSON Schema of tasks.yaml, for editors, of config files, and of events."""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic import TypeAdapter

from envs.world.loader import load_world
from synth.config import SECTIONS, RunConfig
from synth.core.agent.events import agent_events_schema
from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import stdout
from synth.core.foundation.suggestions import hint, nearest
from synth.core.tasks.yaml.json_schema import tasks_schema
from synth.core.types.events import recorded_schema
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


HELP = """synth schema

Print the JSON Schema of tasks.yaml, by which editors complete and check it, or that of a rollout's
events, or of config files.

arguments:
  [WORLD]             complete the names of this world's tools: a name or a folder
options:
  --events            the schema of a rollout's events instead
  --config [SECTION]  the schema of config files instead, or of the files of one config group

examples:
  synth schema > tasks.schema.json
  synth schema --config > run.schema.json           of config files; --config model: of that group
  synth schema --events           of the column `events`, and of the events of a running rollout
  synth schema path/to/world > path/to/world/.tasks.schema.json    with the world's tools

The first line of a tasks.yaml tells an editor that speaks yaml-language-server where the schema is:
  # yaml-language-server: $schema=.tasks.schema.json
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Print the schema; returns 0. Raises OperatorError or WorldError."""
    if options.events:
        schema = {"recorded": recorded_schema(), "running": agent_events_schema()}
        stdout().write(json.dumps(schema, indent=2) + "\n")
        return 0
    if options.config is not None:
        stdout().write(json.dumps(config_schema(options.config), indent=2) + "\n")
        return 0
    tools = () if options.world is None else load_world(find_world(options.world)).tools
    stdout().write(json.dumps(tasks_schema(tools), indent=2, ensure_ascii=False) + "\n")
    return 0
