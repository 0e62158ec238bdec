"""Rows by outcome: `synth extensions.command:main out/ehr`."""

from collections import Counter

import synth
from synth.core.cli.command import command


@command("""synth outcomes

Count rows by outcome.

arguments:
  DIR    the directory of a run
""")
def main(options):
    with synth.load(options.dir) as rows:
        for outcome, count in Counter(row["outcome"] for row in rows.rows(["outcome"])).items():
            print(f"{count:6}  {outcome}")
    return 0
