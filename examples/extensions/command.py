"""Rows by outcome: `synth extensions.command:main out/ehr`."""

import argparse
from collections import Counter

import synth


def main(argv):
    parser = argparse.ArgumentParser(prog="synth outcomes", description="Count rows by outcome.")
    parser.add_argument("run", help="the directory of a run")
    options = parser.parse_args(argv)
    with synth.load(options.run) as rows:
        for outcome, count in Counter(row["outcome"] for row in rows.rows(["outcome"])).items():
            print(f"{count:6}  {outcome}")
    return 0
