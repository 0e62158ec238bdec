"""``synth card``: the whole card of a sealed run."""

from __future__ import annotations

import argparse
from pathlib import Path

from synth.core.foundation.standard_output import say
from synth.ext.evaluation.cli.against import add_against
from synth.ext.hub.card import write_card
from synth.ext.hub.facts import licences, read_facts

_EXAMPLES = """\
examples:
  synth card out/ehr
  synth card out/ehr --against gsm8k.jsonl --against mmlu.txt
"""


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth card",
        description="Write the whole card of a sealed run, README.md with its plots in card/, from"
        " the rows and the section `card` of its config. A run of at most 5,000 rows has it"
        " already.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="DIR", help="a run's directory")
    add_against(parser, "the card says how many rows overlap with them")
    return parser


def main(argv: list[str]) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError, which the dispatcher
    prints.
    """
    options = make_parser().parse_args(argv)
    facts = read_facts(options.path, options.against)
    written = write_card(facts, licences(facts))
    for line in facts.overlap.lines():
        say(line)
    say(f"{written[0]}, with {len(written) - 1} plots")
    return 0
