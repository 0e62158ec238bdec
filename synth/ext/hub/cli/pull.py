"""``synth pull``: a run from the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path

from synth.core.cli.command import Arguments, command
from synth.core.foundation.standard_output import say
from synth.plugins import resolve

HELP = """synth pull

Fetch a run that was published with `synth push`. Its shards are held against its manifest; nothing
of it is executed.

arguments:
  ORG/NAME            the dataset's name on the Hub
  [DIR]               default: ./NAME
options:
  --revision REV      a branch, tag or commit

examples:
  synth pull acme/ehr                      into ./ehr
  synth pull acme/ehr out/ehr --revision v1
  synth replay out/ehr                     every tool call again, compared
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    directory = options.dir or Path(options.org_name.rpartition("/")[2])
    manifest = resolve("synth.ext.hub.repository:pull")(
        options.org_name, directory, options.revision
    )
    counts = manifest["counts"]
    say(f"{counts['rows']} rows of {manifest['identity']['env']} in {directory}")
    say(f"next: synth inspect {directory}")
    say(f"      synth replay {directory}   (its world has code: you are asked first)")
    return 0
