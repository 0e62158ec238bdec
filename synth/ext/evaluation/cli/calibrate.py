"""``synth calibrate``: what the gate ``reply`` finds in transcripts of real models."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from synth.core.cli.command import Arguments, command
from synth.core.config.compose import compose
from synth.core.foundation.standard_output import say
from synth.core.runner.build import build_model
from synth.core.runner.setup import model_setup
from synth.core.screen import Screen
from synth.errors import OperatorError
from synth.ext.evaluation.calibration.measure import Calibration, calibrate, read_labels
from synth.ext.evaluation.calibration.transcripts import read_transcripts
from synth.ext.judge import JudgeConfig
from synth.ext.judge.endpoint_judge import ModelJudge

HELP = """synth calibrate

Judge transcripts of real models by the gate `reply`: what each check finds, how often it is right,
and how many successful rollouts it refuses.

arguments:
  FILE|OVERRIDE...    transcripts, and overrides that name a judge
options:
  --findings FILE     findings labelled by a reader, about one of the files
  --half all|seen|held  only one half of the tasks [default: all]
  --show N|0          print the first N findings as well [default: 0]
  --json              print everything as JSON

examples:
  synth calibrate gpt-4o_airline_200.json.gz --findings gpt-4o_airline_findings.jsonl
  synth calibrate *.json.gz --half held
  synth calibrate results.json --show 20
  synth calibrate results.json models.judge.name=MODEL models.judge.base_url=URL \\
      rewards.judge.model=judge

The files are historical trajectories of tau-bench, results of tau2-bench, or lines with
`messages_display`, plain or compressed by gzip. A finding in a rollout that the benchmark calls
successful is a false alarm, unless a reader has labelled it TRUE or LUCK. Make rules on the half
`seen`, and report `held`: all rollouts of a task are in one half.
"""


JUDGE = ("rewards.judge.", "models.")
"""The beginning of the keys that name a judge."""


@command(HELP)
def main(options: Arguments) -> int:
    """Print the figures; 0. Raises OperatorError for a file that cannot be read."""
    files = [Path(word) for word in options.file_override if not word.startswith(JUDGE)]
    (job,) = compose([word for word in options.file_override if word.startswith(JUDGE)])
    section = job.config.section(JudgeConfig)
    judge = None
    if section.model is not None:
        setup, _ = model_setup(job.config.endpoint(section.model), section.model)
        judge = ModelJudge(build_model(setup), section.rubric, section.votes)
    if not files:
        raise OperatorError("no file of transcripts is named")
    read = [read_transcripts(path) for path in files]
    rollouts = [one for part in read for one in part if options.half in {"all", one.half}]
    known = {one.id for part in read for one in part}
    labels = [] if options.findings is None else read_labels(options.findings, known)
    result = calibrate(rollouts, labels, judge)
    if options.json:
        say(json.dumps(_document(result), indent=2, ensure_ascii=False))
    else:
        _print(result, Screen(), options.show)
    return 0


def _document(result: Calibration) -> dict[str, Any]:
    return {
        "figures": result.rows(),
        "judge": None if result.judge is None else asdict(result.judge),
        "notes": {model: dict(count) for model, count in result.notes.items()},
        "findings": [
            {"model": rollout.model, "rollout": rollout.id, "success": rollout.success}
            | finding.to_json()
            for rollout, finding in result.findings
        ],
    }


def _print(result: Calibration, screen: Screen, show: int) -> None:
    rows = [
        (
            row["model"],
            row["check"],
            str(row["flagged"]),
            _share(row["precision"]),
            f"{_share(row['recall'])} of {row['due']}" if row["due"] else "",
            f"{row['false_alarms']} of {row['successful']}",
            " to ".join(f"{item:.1%}" for item in row["interval"] or ()),
        )
        for row in result.rows()
    ]
    header = ("model", "check", "flagged", "precision", "recall", "false alarms", "95% interval")
    screen.table(header, rows, right=(2, 3, 4, 5, 6))
    for model, count in result.notes.items():
        shown = ", ".join(f"{name} {many}" for name, many in count.most_common())
        screen.line(f"{model}: rollouts with a note, which costs nothing: {shown or 'none'}")
    if (judge := result.judge) is not None:
        cost = "at an unknown price" if judge.cost_usd is None else f"for ${judge.cost_usd:.4f}"
        screen.line(
            f"judge {judge.model or '(never asked)'}, version {judge.version}: decided about"
            f" {judge.decided} rollouts {cost}, agreement of its votes {_share(judge.agreement)};"
            f" {judge.unscored} without a score"
        )
    for rollout, finding in result.findings[:show]:
        screen.line(f"{rollout.model} {rollout.id} success={rollout.success}: {finding}")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
