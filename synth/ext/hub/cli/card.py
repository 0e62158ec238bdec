"""``synth card``: the whole card of a sealed run."""

from __future__ import annotations

from synth.core.cli.command import Arguments, command
from synth.core.foundation.standard_output import say
from synth.ext.hub.card import write_card
from synth.ext.hub.contamination import benchmarks
from synth.ext.hub.facts import licences, read_facts

HELP = """synth card

Write the whole card of a sealed run, README.md with its plots in card/, from the rows and the
section `card` of its config. A run of at most 5,000 rows has it already.

arguments:
  DIR                 a run's directory
options:
  --against FILE|FOLDER  a benchmark, of which the card counts the overlaps (repeatable)

examples:
  synth card out/ehr
  synth card out/ehr --against gsm8k.jsonl --against mmlu.txt
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    facts = read_facts(options.dir, benchmarks(options.against))
    written = write_card(facts, licences(facts))
    for line in facts.overlap.lines():
        say(line)
    say(f"{written[0]}, with {len(written) - 1} plots")
    return 0
