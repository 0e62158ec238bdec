"""The option ``--trust``."""

from __future__ import annotations

import argparse


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add ``--trust``."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="execute the Python of a run directory that was not made on this machine, unasked",
    )
