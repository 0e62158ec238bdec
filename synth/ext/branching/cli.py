"""``synth branch``: go on from turns of recorded rollouts, several times from the same state."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from synth.config import RunConfig, from_dict, to_dict
from synth.core.cli.command import Arguments, command
from synth.core.cli.consent_question import consent_by
from synth.core.cli.end_report import conclude
from synth.core.config.compose import compose
from synth.core.config.overrides import plain_changes
from synth.core.foundation.standard_output import say, stdout
from synth.core.runner.run_files import changed, recorded_config
from synth.errors import OperatorError
from synth.ext.branching import BranchConfig, branch_at
from synth.ext.branching.plan import BranchPlan, branch_plan
from synth.launch import launch

HELP = """synth branch

Go on from turns of recorded rollouts: each branch replays the turns before in a fresh sandbox and
samples what follows. Makes a dataset whose rows name their parent.

arguments:
  DIR                 a run directory
  [key=value...]      overrides, as `synth run` takes them
options:
  --at WHERE          first_wrong, each_write, each_turn or a turn from 0 [default: first_wrong]
  --samples N         branches at each turn [default: 2]
  --where SQL         rows to branch (default: all)
  --out DIR           where the new dataset goes
  --dry-run           list the turns to branch at; play nothing
  --trust             execute the Python of a run directory from another machine, unasked
  --json              print the report as JSON

examples:
  synth branch out/ehr --samples 4                           where each rollout went wrong
  synth branch out/ehr --at each_write --samples 8 model=openai model.name=my-model \\
      model.base_url=http://localhost:8000/v1 model.api_key_env=null
  synth branch out/ehr --at 3 --where "reward < 1" --out out/again
  synth inspect out/ehr out/again --values                   the value of each branched state
  synth export out/ehr out/again --to trl-dpo --out pairs.parquet
  synth view out/ehr out/again --out tree.html

World, tasks, users, database and agent are those of the recorded run. The model is what the
overrides say (default: the scripted expert), and so are runtime, budget and output. A stopped run
goes on with `synth run --resume OUT`; the recorded run has to be there for it.
"""

OWN = ("model", "runtime", "budget", "output", "telemetry", "card", "preflight", "seed")
"""Sections and keys that a run of branches does not take from the recorded run."""

MENDABLE = ("agent", "database", "models", "rewards")
"""Sections of the recorded run that overrides may change in it."""


@command(HELP)
def main(options: Arguments) -> int:
    """Branch a run. Returns the new run's exit code.

    Raises OperatorError, ConfigProblems, DatasetError, UntrustedCode and the errors of worlds.
    """
    config = _config(options)
    if options.dry_run:
        plan = branch_plan(config.section(BranchConfig), config.tasks, config.seed)
        _show(plan, as_json=options.json)
        return 0
    console = Console(stderr=True, highlight=False)
    report = launch(config, console, consent=consent_by(options.trust))
    return conclude(report, as_json=options.json)


def _config(options: Arguments) -> RunConfig:
    """The recorded run's config, with a model, a runtime and an output of its own.

    Raises OperatorError for an override of what the recorded run decides.
    """
    try:
        at = branch_at(options.at)
    except ValueError as error:
        raise OperatorError(f"--at {options.at}: {error}") from None
    recorded = recorded_config(options.dir)
    own, mended = _sorted_overrides(options.overrides)
    (composed,) = compose(own)
    if composed.config.model.kind == "replay":
        raise OperatorError("model=replay: a recorded model has nothing to say after the branch")
    base, new = to_dict(recorded), to_dict(composed.config)
    raw = base | {name: new[name] for name in OWN}
    raw["branch"] = {"path": str(options.dir), "at": at, "where": options.where}
    raw["tasks"] = base["tasks"] | {"samples": options.samples}
    if options.out is not None:
        raw["output"] = raw["output"] | {"dir": str(options.out)}
    config = from_dict(changed(raw, mended))
    points = branch_plan(config.section(BranchConfig), config.tasks, config.seed).tasks
    return from_dict(changed(to_dict(config), {"tasks.count": points}))


def _sorted_overrides(overrides: Sequence[str]) -> tuple[list[str], Mapping[str, object]]:
    """The overrides that Hydra composes, and the changes of the recorded config.

    Raises OperatorError for any other.
    """
    own: list[str] = []
    mended: list[str] = []
    for text in overrides:
        section = text.lstrip("+~").partition("=")[0].partition(".")[0]
        if section in OWN:
            own.append(text)
        elif section in MENDABLE and text.partition("=")[0] != section:
            mended.append(text)
        else:
            raise OperatorError(
                f"{text}: a branch begins as its recorded run did; what can be set here is"
                f" {', '.join(OWN)}, and keys of {', '.join(MENDABLE)}"
            )
    return own, plain_changes(mended)


def _show(plan: BranchPlan, *, as_json: bool) -> None:
    """Print the branch points; nothing is played."""
    points: list[dict[str, Any]] = [
        {"trajectory_id": point.parent, "branch_step": point.step, "family": point.family}
        for point in plan.points
    ]
    if as_json:
        say(json.dumps({"points": points, "rollouts": plan.jobs, "notes": list(plan.notes)}))
        return
    for point in points:
        line = f"{point['trajectory_id']} turn {point['branch_step']:>2}  {point['family']}"
        stdout().write(f"{line}\n")
    for note in plan.notes:
        say(f"note: {note}")
    say(f"{plan.tasks} points, {plan.jobs} rollouts; nothing was played")
