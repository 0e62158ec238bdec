"""``synth join``: one world made of several."""

from __future__ import annotations

import shlex
from pathlib import Path

from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import find_world
from synth.core.screen import Screen
from synth.ext.authoring.folder import new_folder, refuse_existing, write_files
from synth.ext.authoring.joining import joined_files

HELP = """synth join

Make one world of several: all tables in one database, each tool under the prefix of its part.

arguments:
  PART...          worlds, by name or folder; one without tools adds rows, rules and families
                   about the parts before it
options:
  --out PATH       the new world's folder, which must not exist (required)

examples:
  synth join shop mailbox calendar examples/joint/shop_desk --out worlds/desk
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Write the world; returns 0. Raises OperatorError for parts that cannot be joined."""
    path = Path(options.out).expanduser().resolve()
    refuse_existing(path)
    files = joined_files([find_world(part) for part in options.part])
    with new_folder(path) as folder:
        write_files(folder, files)
    screen = Screen()
    screen.line(f"{path}: {len(options.part)} parts, {len(files)} files", "green")
    screen.line(f"next: synth check {shlex.quote(str(path))}")
    return 0
