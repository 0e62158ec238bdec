"""``synth schema``: the JSON Schema of tasks.yaml, for editors, of config files, and of events."""

from __future__ import annotations

import json

from envs.world.loader import load_world
from synth.core.agent.events import agent_events_schema
from synth.core.cli.command import Arguments, command
from synth.core.config.json_schema import config_schema
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import stdout
from synth.core.tasks.yaml.json_schema import tasks_schema
from synth.core.types.events import recorded_schema

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
