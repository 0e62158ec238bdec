"""``python -m tests.faults [--short] [--record PAGE] [pytest arguments]``: run the campaign, print
its table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from tests.faults.promises import Findings, record, table


def main(arguments: list[str]) -> int:
    """Run the tests with a promise. Other arguments are pytest's."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", allow_abbrev=False)
    parser.add_argument("--short", action="store_true", help="leave out the long tests")
    parser.add_argument(
        "--record", type=Path, metavar="PAGE", help="write the results into the table of this page"
    )
    options, more = parser.parse_known_args(arguments)
    paths = [] if any(not word.startswith("-") for word in more) else ["tests/faults"]
    findings = Findings()
    marks = "promise and not long" if options.short else "promise"
    code = pytest.main([*paths, "-m", marks, "--timeout", "7200", *more], plugins=[findings])
    print(f"\n{table(findings.rows())}")
    if options.record is not None:
        record(options.record, findings.rows())
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
