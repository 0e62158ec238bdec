"""The option ``--against`` of commands that hold rows against texts of benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_against(parser: argparse.ArgumentParser, effect: str, *, required: bool = False) -> None:
    """Add the option; ``effect`` says what the command does with rows that overlap."""
    parser.add_argument(
        "--against",
        type=Path,
        action="append",
        default=[],
        required=required,
        metavar="FILE|FOLDER",
        help="texts of a benchmark as you have it (JSON, JSONL, Parquet, text; repeatable):"
        f" {effect}",
    )
