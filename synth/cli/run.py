"""``synth run``: launch a job, or go on with one."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from envs.errors import EnvsError
from synth.cli.compose import Composed, compose, print_config
from synth.config import RunConfig, to_dict
from synth.config_rules import notices
from synth.credentials import redact
from synth.dataset.executed import Executed
from synth.driver import launch, resume
from synth.errors import ConfigProblems, OperatorError, SynthError
from synth.plan import job
from synth.preparation import Run, prepare
from synth.session import Report

Json = Any

PARTIAL = 3
INTERRUPTED = 130

EPILOG = """examples:
  synth run
  synth run env=ehr_db tasks.count=200 seed=7 output.dir=out/ehr
  synth run model=openai model.name=gpt-4.1-mini tasks.samples=4 tasks.count=50
  synth run -m seed=1,2,3
  synth run --dry-run tasks.families=record_heart_rate
  synth run --resume out/ehr

exit codes: 0 complete, 2 bad input, 3 partial (budget, breaker, failed rollouts) or empty, 130 interrupted, 1 anything else"""


def main(argv: list[str]) -> int:
    """Parse, compose, launch; one report per job."""
    parser = argparse.ArgumentParser(
        prog="synth run",
        description="Launch a synthesis job: Hydra overrides say what differs from configs/run.yaml.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides")
    parser.add_argument("-m", "--multirun", action="store_true", help="a sweep: one job per combination of values")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, one prompt and the tools; call nothing")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="go on with the run in DIR, under its own config")
    parser.add_argument("--cfg", action="store_true", help="print the composed config and stop")
    parser.add_argument("--config-dir", type=Path, help="a folder with config groups of your own")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_intermixed_args(argv)
    console = Console(stderr=True, highlight=False)
    if arguments.resume is not None:
        if arguments.multirun or arguments.dry_run or arguments.cfg:
            raise OperatorError("--resume goes on with one run: it does not go with -m, --dry-run or --cfg")
        with contextlib.redirect_stdout(sys.stderr):
            report = resume(arguments.resume.expanduser().absolute(), _changes(arguments.overrides), console)
        return _conclude(report, as_json=arguments.json)
    jobs = compose(arguments.overrides, multirun=arguments.multirun, config_dir=arguments.config_dir)
    if arguments.cfg:
        sys.stdout.write(print_config(jobs))
        return 0
    for line in {line: None for each in jobs for line in notices(to_dict(each.config))}:
        console.print(f"note: {line}", markup=False)
    if arguments.dry_run:
        for composed in jobs:
            _show_plan(prepare(composed.config))
        return 0
    if len(jobs) == 1:
        return _launch(jobs[0].config, console, as_json=arguments.json)
    return _sweep(jobs, console, as_json=arguments.json)


def _launch(config: RunConfig, console: Console, *, as_json: bool) -> int:
    # Standard output is for the report: what tools and Ray print meanwhile goes where the progress goes.
    with contextlib.redirect_stdout(sys.stderr):
        report = launch(config, console)
    return _conclude(report, as_json=as_json)


def _sweep(jobs: Sequence[Composed], console: Console, *, as_json: bool) -> int:
    """One job after the other. What can be known before is found before the first; one that fails does not stop the rest."""
    problems: list[str] = []
    for composed in jobs:
        try:
            prepare(composed.config)
        except (SynthError, EnvsError) as error:
            problems.append(f"{composed.directory}: {error}")
    if problems:
        raise ConfigProblems(problems)
    worst = 0
    failed: list[str] = []
    for composed in jobs:
        console.print(f"[{composed.directory}]", markup=False)
        try:
            code = _launch(composed.config, console, as_json=as_json)
        except OperatorError:
            raise
        except (SynthError, EnvsError) as error:
            console.print(redact(f"error: {error}"), markup=False, soft_wrap=True)
            failed.append(composed.directory)
            continue
        if code == INTERRUPTED:
            return code
        worst = max(worst, code)
    if failed:
        raise SynthError(f"{len(failed)} of {len(jobs)} jobs failed: {', '.join(failed)}")
    return worst


def _changes(overrides: list[str]) -> dict[str, Json]:
    """``key=value`` pairs of a resume, values read as YAML. Whether a key may change is the driver's to say."""
    out: dict[str, Json] = {}
    for each in overrides:
        key, equals, value = each.partition("=")
        if not equals:
            raise ConfigProblems([f"{each!r} is no key=value"])
        group = {"runtime": "runtime.kind", "model": "model.kind", "env": "env.name"}.get(key, key)
        out[group] = yaml.safe_load(value)
    return out


def _show_plan(run: Run) -> None:
    """What the job would do. Nothing is called and nothing is written."""
    config, plan = run.config, run.plan
    task = plan.task(0)
    first = job(0, task, plan.samples, plan.seed)
    calls = plan.jobs * config.agent.max_turns
    print(f"world     {run.world.name} {run.world.digest} ({run.world.path})")
    print(
        f"plan      {plan.tasks} tasks x {plan.samples} samples = {plan.jobs} rollouts in {len(run.layout)} shards, seed {plan.seed}"
    )
    if len(plan.blocks) > 1:
        for block in plan.blocks:
            print(f"          universe {block.source.universe} ({block.split}): {block.tasks} tasks")
    for family, share in plan.share.items():
        print(f"          {family}: {share} of {plan.capacity(family):,}")
    print(
        f"model     {config.model.name or config.model.kind}: at most {calls:,} calls ({plan.jobs} x agent.max_turns={config.agent.max_turns})"
    )
    print(f"runtime   {config.runtime.kind}")
    print(f"\nfirst rollout {first.id}, task {task.id}\n")
    for role, content in (("system", task.system), ("user", task.prompt)):
        print(f"[{role}]\n{content}\n")
    print("[tools]")
    tools = [each.to_openai() for each in run.world.tools]
    for each in tools:
        print(json.dumps(each["function"], ensure_ascii=False))
    if task.answer is not None:
        print(json.dumps({"name": "submit", "parameters": task.answer}, ensure_ascii=False))


def _conclude(report: Report, *, as_json: bool) -> int:
    """Print the summary; the exit code of the report."""
    totals = report.totals
    empty = report.status == "complete" and not totals.rows
    code = INTERRUPTED if report.reason == "interrupted" else PARTIAL if empty or report.status == "partial" else 0
    if as_json:
        fields = {"directory": str(report.directory), "status": report.status, "reason": report.reason}
        numbers = {"planned": report.planned, "rows": totals.rows, "full_reward": totals.full, "failed": totals.failed}
        print(json.dumps(fields | numbers | {"tools": report.tools.to_json(), "warnings": list(report.warnings)}))
        return code
    where = shlex.quote(_relative(report.directory))
    rate = f"{totals.full / totals.scored:.1%} with full reward" if totals.scored else "none scored"
    print(
        f"{'empty' if empty else report.status}: {totals.rows} of {report.planned} rollouts in {where} ({report.seconds:.1f} s), {rate}"
    )
    if totals.tokens:
        print(f"{totals.tokens:,} tokens, cost {totals.cost()}")
    if ran := _ran(report.tools):
        print(ran)
    for warning in report.warnings:
        print(f"warning: {warning}")
    if totals.failed or report.given_up:
        print(f"{totals.failed} rollouts broke, {report.given_up} are given up: see {where}/errors.parquet")
    if report.status == "partial":
        print(f"stopped: {report.reason or 'some rollouts broke'}\nnext: synth run --resume {where}")
    elif empty:
        print(f"next: synth inspect {where}")
    else:
        loading = f'import datasets; print(datasets.load_dataset("{_relative(report.directory)}"))'
        print(f"next: synth inspect {where}\n      synth replay {where}\n      python -c {shlex.quote(loading)}")
    return code


def _ran(tools: Executed) -> str:
    """How the tool calls went, in a line; empty where there was none."""
    total = tools.total()
    if not total.count:
        return ""
    slowest = max(tools.tools, key=lambda name: tools.tools[name].percentile_ms(95) or 0.0)
    times = f"p50 {total.percentile_ms(50):.1f} ms, p95 {total.percentile_ms(95):.1f} ms"
    return (
        f"{total.count:,} tool calls, {total.failed / total.count:.1%} errors; {times}; "
        f"slowest {slowest} (p95 {tools.tools[slowest].percentile_ms(95):.1f} ms)"
    )


def _relative(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
