"""``synth grade``: judge recorded trajectories again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from synth.core.cli.command import Arguments, command
from synth.core.cli.consent_question import consent_by
from synth.core.config.overrides import plain_changes
from synth.core.dataset.reader import Dataset
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import say
from synth.core.report.table import show_gates
from synth.core.rerun.regrade import Change, GradeReport, Verdicts, grade
from synth.core.runner.progress import ProgressView
from synth.core.screen import Screen
from synth.errors import OperatorError

HELP = """synth grade

Judge a dataset's trajectories again: their calls are done again on fresh sandboxes. No model is
asked without --judge.

arguments:
  PATH                a run directory
  [key=value...]      another judge, or another address: keys of rewards.judge and models
options:
  --world WORLD       by the present tasks.yaml of this world: a folder, or a name
  --where SQL         only rows that meet a condition over the dataset's columns
  --judge             ask the run's judge (rewards.judge) for new votes
  --json              print the report as JSON
  --trust             execute the Python of a run directory from another machine, unasked

examples:
  synth grade out/ehr                       with the verifiers of this version
  synth grade out/ehr --world ehr_db        with the tasks of that world as they are now
  synth grade out/ehr --judge               with new votes of the run's judge
  synth grade out/ehr --judge models.judge.base_url=URL      at another address
  synth grade out/ehr --where "family = 'record_heart_rate'" --json

Exit code 0: every reward is what it was; 1: one is not, or could not be judged again.
"""

OF_JUDGE = ("rewards.judge.", "models.")
SHOWN = 20
"""Lines of a kind that are printed; --json has them all."""


@command(HELP)
def main(options: Arguments) -> int:
    """Grade a run directory; 0 when every reward stays, 1 when one changed or could not be judged
    again.
    """
    if options.where is not None and not options.where.strip():
        raise OperatorError("--where is empty; leave it out to grade every row")
    judge = plain_changes(options.overrides)
    if wrong := [key for key in judge if not options.judge or not key.startswith(OF_JUDGE)]:
        raise OperatorError(f"{wrong[0]}: only --judge takes keys, of rewards.judge and models")
    world = None if options.world is None else find_world(options.world)
    with Dataset.open(options.path) as dataset:
        count = (
            dataset.count
            if options.where is None
            else dataset.query(options.where, ["job_index"]).num_rows
        )
    console = Console(stderr=True, highlight=False)
    with ProgressView("grading", count, 0, console) as view:
        report = grade(
            options.path,
            world,
            options.where,
            view.advance,
            consent_by(options.trust, view),
            judge=judge if options.judge else None,
        )
    if options.json:
        say(json.dumps(report.to_json(), indent=2))
    else:
        _print(report, Screen(), asked=options.judge)
    return 0 if report.same and not (options.judge and report.without_votes) else 1


def _print(report: GradeReport, screen: Screen, *, asked: bool) -> None:
    document = report.to_json()
    rows = [
        (item["family"], str(item["graded"]), str(item["rewards_changed"]), str(item["not_graded"]))
        for item in document["families"]
    ]
    if rows:
        screen.table(("family", "graded", "rewards changed", "not graded"), rows, right=(1, 2, 3))
        screen.line()
    _print_gates(document, screen)
    for change in report.rewards_changed[:SHOWN]:
        screen.line(_change_line(change))
    if (more := len(report.rewards_changed) - SHOWN) > 0:
        screen.line(f"and {more} more; --json has them all", "dim")
    for (family, reason), many in Counter(
        (item["family"], item["reason"]) for item in report.ungraded
    ).most_common(SHOWN):
        screen.line(f"not graded: {many} of {family}: {reason}")
    for reason, many in report.without_votes.most_common(SHOWN):
        asks = "" if asked else "; --judge asks for them"
        screen.line(f"no votes of the judge for {many} trajectories: {reason}{asks}", "yellow")
    other = len(report.changes) - len(report.rewards_changed)
    kept = f", {other} with the same reward for other reasons" if other else ""
    lost = f", {len(report.ungraded)} could not be judged again" if report.ungraded else ""
    screen.line(
        f"{document['trajectories']} trajectories: {document['rewards_changed']} rewards"
        f" changed{kept}{lost}."
    )


def _print_gates(document: Mapping[str, Any], screen: Screen) -> None:
    """Print the versions of the rules, and what gates refuse now and refused before."""
    for item in document["rules"]:
        if item["before"] != item["now"]:
            versions = f"the rules {item['before'] or '(none)'}, and now by {item['now']}"
            screen.line(f"{item['trajectories']} were judged by {versions}")
    gates = document["gates"]
    headings = {"now": "now"}
    if _differ(gates):
        headings["before"] = "when it was recorded"
    for key, heading in headings.items():
        if gates[key]:
            screen.heading(f"Right end states that a gate refuses, or would refuse, {heading}")
            show_gates(screen, gates[key])
            screen.line()


def _differ(gates: Mapping[str, Sequence[Mapping[str, Any]]]) -> bool:
    """Tell whether the gates refuse another number of rollouts than they did."""
    before, now = (
        [(item["gate"], item["note"], item["refused"]) for item in gates[name]]
        for name in ("before", "now")
    )
    return before != now


def _change_line(change: Change) -> str:
    """One changed reward in a line: from what, to what, and why."""
    why = [
        reason
        for verdicts in (change.new_verdicts, change.old_verdicts)
        if (reason := _reason(verdicts))
    ]
    return (
        f"{change.trajectory_id} {change.family}: {_number(change.old_reward)} ->"
        f" {_number(change.new_reward)}"
        f"{': ' if why else ''}{why[0] if why else ''}"
    )


def _reason(verdicts: Verdicts) -> str:
    """The first verdict that is below 1, or that could not judge."""
    wrong = (verdict for verdict in verdicts if verdict["score"] is None or verdict["score"] < 1)
    return next((f"{item['verifier']}: {item['reason']}" for item in wrong), "")


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:g}"
