"""``python -m tests.faults [--short] [pytest arguments]``: run the campaign, print its table."""

from __future__ import annotations

import sys

import pytest

from tests.faults.promises import Findings


def main(arguments: list[str]) -> int:
    """Run the tests with a promise; ``--short`` leaves out the long ones."""
    short = "--short" in arguments
    more = [word for word in arguments if word != "--short"]
    paths = [] if any(not word.startswith("-") for word in more) else ["tests/faults"]
    findings = Findings()
    marks = "promise and not long" if short else "promise"
    code = pytest.main([*paths, "-m", marks, "--timeout", "7200", *more], plugins=[findings])
    print(f"\n{findings.table()}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
