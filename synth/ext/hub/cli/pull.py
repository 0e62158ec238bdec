"""``synth pull``: a run from the Hugging Face Hub."""

from __future__ import annotations

import argparse
from pathlib import Path

from synth.core.foundation.standard_output import say
from synth.ext.hub.cli.push import require_hub
from synth.plugins import resolve

_EXAMPLES = """\
examples:
  synth pull acme/ehr                      into ./ehr
  synth pull acme/ehr out/ehr --revision v1
  synth replay out/ehr                     every tool call again, compared
"""


def main(argv: list[str]) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    options = make_parser().parse_args(argv)
    require_hub()
    directory = options.path or Path(options.repo.rpartition("/")[2])
    manifest = resolve("synth.ext.hub.pull:pull")(options.repo, directory, options.revision)
    counts = manifest["counts"]
    say(f"{counts['rows']} rows of {manifest['identity']['env']} in {directory}")
    say(f"next: synth inspect {directory}")
    say(f"      synth replay {directory}   (its world has code: you are asked first)")
    return 0


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth pull",
        description="Fetch a run that was published with `synth push`. Its shards are held against"
        " its manifest; nothing of it is executed.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("repo", metavar="ORG/NAME", help="the dataset's name on the Hub")
    parser.add_argument("path", type=Path, nargs="?", metavar="DIR", help="default: ./NAME")
    parser.add_argument("--revision", metavar="REV", help="a branch, tag or commit")
    return parser
