"""``synth export``: a dataset as the file that a trainer or a service reads."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from synth.core.cli.command import Arguments, command
from synth.core.dataset.several import open_datasets
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.ext.exporters import Exporter, find_exporter
from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.presets import PRESETS
from synth.plugins import EXPORTERS

HELP = """synth export

Write a dataset's rows in the form that a trainer or a service reads.

Unscored rows and rollouts that ended in an infrastructure error are never exported.

arguments:
  PATH...             a run's directory, a .parquet file or a folder of them; several read as one
options:
  --to TARGET         the target, see below (required)
  --out FILE          - is standard output (default: NAME-OF-PATH.TARGET.SUFFIX, right here)
  --where SQL         only rows that meet a condition over the dataset's columns
  --view full|segments  rows with compacted contexts: the whole conversation, or each context as the
                      model saw it [default: full]
  --unit rollout|turn  an example for each rollout, or each turn to train on [default: rollout]
  --calls parallel|one  several calls in a turn, or one (default: as the target takes them)
  --ids recorded|nine  ids of calls, or nine letters and digits (default: as the target takes them)
  --keep-submit       leave the tool submit in, which no deployed agent has; prompts keep it always
  --template FILE|PRESET  only rows that this chat template renders truly: calls are read back out
  --tokenizer FILE    the model's tokenizer.json: counts the tokens of what --template renders
  --max-tokens N      leave out rows of more tokens (--unit turn exports a long row turn by turn)
  --long drop|refuse  rows over --max-tokens: leave them out, or write nothing [default: drop]
  --plain             JSON columns of Parquet as texts, for `datasets` 3 and 4; a name of --out in
                      .jsonl writes JSON lines instead of Parquet
  --best N            the best rows of each task: the highest reward, then the fewest turns
  --errors keep|drop  rows with a failed call or a turn not to be trained on [default: keep]
  --option KEY=VALUE  an option of the exporter (repeatable)
  --against FILE|FOLDER  leave out rows that overlap with a benchmark (repeatable)
  --split SPLIT       only rows of this split [default: train]
  --force             replace the file if it exists
  --json              print the report as JSON
options, one of these:
  --min-reward REWARD  rows with at least this reward (default: every row that passes all gates)
  --all               every scored row, whatever its reward

examples:
  synth export out/ehr --to trl-sft
  synth export out/ehr --to openai-jsonl --out train.jsonl --where "num_turns <= 10"
  synth export out/ehr --to trl-sft --min-reward 0.5 --force
  synth export out/ehr out/shop --to trl-sft --out both.parquet
  synth export out/ehr --to trl-sft --view segments             after compaction: what the model saw
  synth export out/ehr --to trl-dpo --option pairs=2            samples of one task, best and worst
  synth export out/ehr --to trl-sft --template qwen3 --tokenizer tokenizer.json --max-tokens 8192
  synth export out/ehr --to axolotl --best 1 --errors drop      the cleanest success of each task
  synth export out/ehr --to trl-sft --template llama3.1         one call a turn, every row rendered
  synth export out/ehr --to trl-sft --against bfcl.jsonl        rows that overlap are left out
  synth export out/ehr --to my_package.my_module:MyExporter
"""


def _targets() -> str:
    """The exporters; what a distribution brings is not imported before it is chosen."""
    rows = [
        (one.name, f"from {one.distribution} {one.version}")
        if one.distribution
        else (one.name, find_exporter(one.name).description)
        for one in EXPORTERS.all()
    ]
    rows.append(("package.module:attribute", "an exporter of your own"))
    lines = [f"  {name:<14} {text}" for name, text in rows]
    presets = textwrap.fill(f"presets of --template: {', '.join(PRESETS)}", 100)
    return "\n".join(["", "targets:", *lines, "", presets, ""])


_PASSED_ON = (
    *("where", "view", "unit", "calls", "ids", "keep_submit", "template", "tokenizer"),
    *("max_tokens", "long", "plain", "best", "errors", "against", "split", "force"),
)
"""Options that are arguments of :func:`~synth.ext.exporters.exporting.export`."""


@command(HELP, _targets)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    lowest = "exporter" if options.min_reward is None else options.min_reward
    piped = options.out == Path("-")
    with open_datasets(options.path) as dataset, TemporaryDirectory() as folder:
        if dataset.status != "complete":
            sys.stderr.write(f"note: this run is {dataset.status}: the rows so far are exported\n")
        report = export(
            dataset,
            options.to,
            _target(
                options.path[0],
                Path(folder, "rows.jsonl") if piped else options.out,
                find_exporter(options.to),
            ),
            min_reward=None if options.all else lowest,
            options=_options(options.option),
            **{name: getattr(options, name) for name in _PASSED_ON},
        )
        if piped:
            with report.out.open(encoding="utf-8", newline="") as file:
                shutil.copyfileobj(file, stdout())
            report = replace(report, out=Path("-"))
    said = sys.stderr if piped else stdout()
    for line in (*report.account.lines(), report.remark):
        sys.stderr.write(f"{line}\n" if line else "")
    if options.json:
        plain = {"out": str(report.out), "account": report.account.to_json()}
        names = ("exporter", "out", "examples", "matched", "account", "remark")
        document = {name: plain.get(name, getattr(report, name)) for name in names}
        said.write(json.dumps(document, indent=2) + "\n")
    else:
        what = "example" if report.examples == 1 else "examples"
        said.write(
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


def _target(path: Path, out: Path | None, exporter: type[Exporter]) -> Path:
    resolved = path.resolve()
    stem = resolved.stem if resolved.suffix == ".parquet" else resolved.name
    default = f"{stem or 'dataset'}.{exporter.name}{exporter.suffix}"
    if out is None:
        return Path(default)
    return out / default if out.is_dir() else out
