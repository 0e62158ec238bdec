"""``synth export``: a dataset as the file that a trainer or a service reads."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from synth.core.dataset.several import open_datasets
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.ext.evaluation.cli.against import add_against
from synth.ext.exporters import Exporter, export, find_exporter
from synth.ext.exporters.base import MinReward
from synth.ext.exporters.exporting import make_exporter, not_in, through_template
from synth.ext.exporters.rendering.presets import PRESETS
from synth.ext.exporters.row_policy import RowPolicy
from synth.ext.exporters.selection import RowChoice
from synth.plugins import EXPORTERS

_EXAMPLES = """\
examples:
  synth export out/ehr --to trl-sft
  synth export out/ehr --to openai-jsonl --out train.jsonl --where "num_turns <= 10"
  synth export out/ehr --to trl-sft --min-reward 0.5 --force
  synth export out/ehr out/shop --to trl-sft --out both.parquet
  synth export out/ehr --to trl-sft --view segments             after compaction: what the model saw
  synth export out/ehr --to trl-dpo --option pairs=2            samples of one task, best and worst
  synth export out/ehr --to axolotl --best 1 --errors drop      the cleanest success of each task
  synth export out/ehr --to trl-sft --template llama3.1         one call a turn, every row rendered
  synth export out/ehr --to trl-sft --against bfcl.jsonl        rows that overlap are left out
  synth export out/ehr --to my_package.my_module:MyExporter
"""


def main(argv: list[str]) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError, which the dispatcher
    prints.
    """
    options = make_parser().parse_args(argv)
    exporter = make_exporter(
        options.to, _options(options.option), options.view, options.unit, ("--option ", "--view")
    )
    choice = RowChoice(
        options.where,
        None if options.all else _min_reward(options.min_reward, exporter),
        options.split,
        options.best,
        options.errors,
        not_in(options.against),
    )
    gate, policy = through_template(
        exporter,
        options.template,
        RowPolicy(options.unit, options.calls, options.ids, options.submit),
    )
    with open_datasets(options.path) as dataset:
        if dataset.status != "complete":
            _note(f"this run is {dataset.status}: the rows so far are exported")
        report = export(
            dataset,
            exporter,
            _target(options.path[0], options.out, exporter),
            choice,
            policy,
            gate,
            force=options.force,
        )
    for line in (*report.account.lines(), report.remark):
        sys.stderr.write(f"{line}\n" if line else "")
    if options.json:
        document = {
            "exporter": report.exporter,
            "out": str(report.out),
            "examples": report.examples,
            "matched": report.matched,
            "account": report.account.to_json(),
            "remark": report.remark,
        }
        stdout().write(json.dumps(document, indent=2) + "\n")
    else:
        what = "example" if report.examples == 1 else "examples"
        stdout().write(
            f"{report.examples} {what} from {report.matched} rows, written to {report.out}\n"
        )
    return 0


def _options(given: Sequence[str]) -> dict[str, object]:
    """Options of the exporter, as key=value; values are YAML."""
    found: dict[str, object] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise OperatorError(f"--option {text}: not of the form key=value")
        found[key] = yaml.safe_load(value)
    return found


class _Parser(argparse.ArgumentParser):
    """A parser that collects the list of exporters only when the help is printed."""

    def format_help(self) -> str:
        rows: list[tuple[str, str]] = []
        for extension in EXPORTERS.all():
            if extension.distribution:  # not imported: its code is not trusted before it is chosen
                rows.append((extension.name, f"from {extension.distribution} {extension.version}"))
            else:
                rows.append((extension.name, find_exporter(extension.name).description))
        rows.append(("package.module:attribute", "an exporter of your own"))
        targets = "\n".join(f"  {name:<14} {text}" for name, text in rows)
        self.epilog = f"targets:\n{targets}\n\n{_EXAMPLES}"
        return super().format_help()


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = _Parser(
        prog="synth export",
        description="Write a dataset's rows in the form that a trainer or a service reads.\n\n"
        "Unscored rows and rollouts that ended in an infrastructure error are never exported.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="a run's directory, a .parquet file or a folder of them; several are read as one",
    )
    parser.add_argument("--to", required=True, metavar="NAME", help="the target, see below")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="default: NAME-OF-PATH.TARGET.SUFFIX, right here"
    )
    parser.add_argument(
        "--where", metavar="SQL", help="only rows that meet a condition over the dataset's columns"
    )
    parser.add_argument(
        "--view",
        choices=("full", "segments"),
        default="full",
        help="rows with compacted contexts: the whole conversation (default), or each context as"
        " the model saw it",
    )
    parser.add_argument(
        "--unit",
        choices=("rollout", "turn"),
        default="rollout",
        help="one example for each rollout (default), or for each of its turns to train on",
    )
    parser.add_argument(
        "--calls",
        choices=("parallel", "one"),
        help="several calls in a turn as they were made, or one in a turn (default: the target's)",
    )
    parser.add_argument(
        "--ids",
        choices=("recorded", "nine"),
        help="ids of calls as recorded, or of nine letters and digits (default: the target's)",
    )
    parser.add_argument(
        "--submit",
        choices=("keep", "drop"),
        default="keep",
        help="the tool submit with its calls, results and rule, which no deployed agent has"
        " (default: keep; an environment of synth asks for it)",
    )
    parser.add_argument(
        "--template",
        metavar="FILE|PRESET",
        help="only rows that this chat template renders truly: calls are read back out of the text;"
        f" presets: {', '.join(PRESETS)}",
    )
    parser.add_argument(
        "--best",
        type=_positive,
        metavar="N",
        help="only the N best rows of each task: the highest reward, then the fewest turns",
    )
    parser.add_argument(
        "--errors",
        choices=("keep", "drop"),
        default="keep",
        help="rows with a failed call or a turn that must not be trained on (default: keep)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the exporter (repeatable)",
    )
    add_against(parser, "rows that overlap with them are left out (see synth decontaminate)")
    parser.add_argument("--split", default="train", help="only rows of this split (default: train)")
    reward = parser.add_mutually_exclusive_group()
    reward.add_argument(
        "--min-reward",
        type=float,
        metavar="R",
        help="rows with at least this reward (default: every success, that is every row that passes"
        " all gates, whatever a world's weighted scores make of its reward)",
    )
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


def _min_reward(given: float | None, exporter: Exporter) -> MinReward:
    if given is not None and not math.isfinite(given):
        raise OperatorError(f"--min-reward is a number such as 0.5, not {given}")
    return exporter.min_reward if given is None else given


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")
