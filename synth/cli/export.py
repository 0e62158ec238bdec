"""``synth export``: a dataset as the file that a trainer or a service reads."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from synth.dataset.exporters import EXPORTERS, Exporter, export, find_exporter
from synth.dataset.reader import Dataset
from synth.errors import OperatorError

_EXAMPLES = """\
examples:
  synth export out/ehr --to trl-sft
  synth export out/ehr --to openai-jsonl --out train.jsonl --where "num_turns <= 10"
  synth export out/ehr --to trl-sft --min-reward 0.5 --force
  synth export out/ehr --to trl-sft --view segments             a run with compaction: train on what the model saw
  synth export out/ehr --to my_package.my_module:MyExporter
"""


def main(argv: list[str]) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError, which the dispatcher prints."""
    options = _parser().parse_args(argv)
    exporter = find_exporter(options.to)()
    if options.view not in exporter.views:
        raise OperatorError(f"--view: {exporter.name} knows {' and '.join(exporter.views)}, not {options.view}")
    exporter.view = options.view
    with Dataset.open(options.path) as dataset:
        if dataset.status != "complete":
            _note(f"this run is {dataset.status}: what is there is exported")
        report = export(
            dataset,
            exporter,
            _target(options.path, options.out, exporter),
            where=options.where,
            min_reward=None if options.all else _min_reward(options.min_reward, exporter),
            split=options.split,
            force=options.force,
        )
    for reason, count in sorted(report.left_out.items(), key=lambda item: (-item[1], item[0])):
        _note(f"{count} row{'s' if count != 1 else ''} left out: {reason}")
    if report.unseen:
        note = (
            "compacted on the way: the model never saw their messages as a whole; --view segments exports what it saw"
        )
        _note(f"{report.unseen} row{'s were' if report.unseen != 1 else ' was'} {note}")
    if options.json:
        document = {
            "exporter": report.exporter,
            "out": str(report.out),
            "examples": report.examples,
            "matched": report.matched,
            "left_out": dict(report.left_out),
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        what = "example" if report.examples == 1 else "examples"
        sys.stdout.write(f"{report.examples} {what} from {report.matched} rows in {report.out}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    targets = "\n".join(f"  {cls.name:<14} {cls.description}" for cls in EXPORTERS.values())
    parser = argparse.ArgumentParser(
        prog="synth export",
        description="Write a dataset's rows in the form that a trainer or a service reads.\n\n"
        "Unscored rows and rollouts that infrastructure broke are never exported.",
        epilog=f"targets:\n{targets}\n  package.module:attribute  an exporter of your own\n\n{_EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path", type=Path, metavar="PATH", help="a run's directory, a .parquet file or a folder of them"
    )
    parser.add_argument("--to", required=True, metavar="NAME", help="the target, see below")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: NAME-OF-PATH.TARGET.SUFFIX, right here")
    parser.add_argument("--where", metavar="SQL", help="only rows that meet a condition over the dataset's columns")
    parser.add_argument(
        "--view",
        choices=("full", "segments"),
        default="full",
        help="of compacted rows the whole conversation (default), or each context as the model saw it",
    )
    parser.add_argument("--split", default="train", help="only rows of this split (default: train)")
    reward = parser.add_mutually_exclusive_group()
    reward.add_argument("--min-reward", type=float, metavar="R", help="rows with at least this reward (default: 1.0)")
    reward.add_argument("--all", action="store_true", help="every scored row, whatever its reward")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _target(path: Path, out: Path | None, exporter: Exporter) -> Path:
    resolved = path.resolve()
    stem = resolved.stem if resolved.suffix == ".parquet" else resolved.name
    default = f"{stem or 'dataset'}.{exporter.name}{exporter.suffix}"
    if out is None:
        return Path(default)
    return out / default if out.is_dir() else out


def _min_reward(given: float | None, exporter: Exporter) -> float | None:
    if given is not None and not math.isfinite(given):
        raise OperatorError(f"--min-reward is a number such as 0.5, not {given}")
    return exporter.min_reward if given is None else given


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")
