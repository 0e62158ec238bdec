"""``synth schema``: the JSON Schema of tasks.yaml, for editors."""

from __future__ import annotations

import argparse
import json
import sys

from envs.folder import load_world
from synth.shipped import find_world
from synth.tasks.schema import tasks_schema

EPILOG = """examples:
  synth schema > tasks.schema.json
  synth schema path/to/world > path/to/world/.tasks.schema.json    with the names and parameters of its tools

The first line of a tasks.yaml tells an editor that speaks yaml-language-server where the schema is:
  # yaml-language-server: $schema=.tasks.schema.json
"""


def main(argv: list[str]) -> int:
    """Print the schema; returns 0. Raises OperatorError or WorldError, which the dispatcher prints."""
    parser = argparse.ArgumentParser(
        prog="synth schema",
        description="Print the JSON Schema of tasks.yaml, by which editors complete and check it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "world", metavar="WORLD", nargs="?", help="complete the names of this world's tools: a name or a folder"
    )
    options = parser.parse_args(argv)
    tools = () if options.world is None else load_world(find_world(options.world)).tools
    sys.stdout.write(json.dumps(tasks_schema(tools), indent=2, ensure_ascii=False) + "\n")
    return 0
