"""``synth run``: launch a job, or go on with one.

Only options and help are here. Hydra, the world and the runner are imported when they are needed,
so that a mistake on the command line is reported at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import config_groups, configs_dir, place_and_name, version
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.plugins import WORLD_PLACES, resolve

if TYPE_CHECKING:
    from synth.config import ModelConfig, TasksConfig

HELP = """synth run

Launch a synthesis job: Hydra overrides say what differs from configs/run.yaml.

arguments:
  [key=value...]      Hydra overrides
options:
  -m, --multirun      a sweep: one job per combination of values
  --dry-run           show plan, estimated tokens and money, one prompt and the tools; call nothing
  --preview N         play N rollouts and show them; keep nothing
  --resume DIR        go on with the run in DIR, under its own config
  --trust             execute the Python of a run directory from another machine, or of a world
                      of the Hub (env=hf:org/name), unasked
  --json              print the report as JSON
options, as Hydra has them:
  -c, --cfg           print the composed config and stop
  -p, --package SECTION  with --cfg: one section only
  -i, --info          print the origin of the config (files, search path, groups) and stop
  -cd, --config-dir DIR  a folder with config groups
  -cn, --config-name NAME  the primary config, here or in --config-dir [default: run]

keys that most runs set (all of them: synth run --cfg job):
  env=NAME  env.path=DIR            the world: one that ships, or a folder of your own
  model=openai model.name=NAME      a model behind an OpenAI-compatible endpoint
  model.base_url=URL                where it is (default: api.openai.com); usually ends in /v1
  model.api_key_env=VARIABLE        the variable that holds the key; null: no key
  tasks.count=N  tasks.samples=N    tasks, and attempts at each
  tasks.families=[A,B]              some task families only
  seed=N                            the same seed draws the same tasks
  output.dir=DIR                    where the dataset goes
  runtime.workers=N                 Ray workers; runtime=inline stays in this process
  budget.usd=X  budget.tokens=N     stop as a valid partial dataset before more is spent

examples:
  synth run
  synth run env=ehr_db tasks.count=200 seed=7 output.dir=out/ehr
  synth run model=openai model.name=gpt-4.1-mini tasks.samples=4 tasks.count=50
  synth run -m seed=1,2,3
  synth run --dry-run tasks.families=record_heart_rate
  synth run --resume out/ehr

exit codes: 0 complete, 2 bad input, 3 partial (budget, breaker, failed rollouts), empty or
none scored, 130 interrupted, 1 anything else
"""

SHOWN_GROUPS = ("env", "model", "database", "runtime", "users", "experiment")


def _choices() -> str:
    """The config groups that most runs choose from, with what ships."""
    groups = config_groups([configs_dir()])
    lines = [
        f"  {group.removesuffix('s') + 's':<12}{', '.join(groups[group])}\n"
        for group in SHOWN_GROUPS
    ]
    return "".join(["\nwhat ships (`synth list` shows extensions as well):\n", *lines])


@command(HELP, _choices)
def main(options: Arguments) -> int:
    """Compose and launch; one report per job."""
    if options.resume is not None:
        return _resume(options)
    if options.cfg or options.info:  # `--cfg job` and `--info all` are Hydra's full forms
        options.overrides = [word for word in options.overrides if word not in {"job", "all"}]
    else:
        print(f"synth {version()}: reading the config", file=sys.stderr, flush=True)
    if options.info:
        text = resolve("synth.core.config.compose:describe")(
            options.overrides, config_dir=options.config_dir, config_name=options.config_name
        )
        stdout().write(text)
        return 0
    if options.trust:
        _trust_worlds(options.overrides)
    jobs = resolve("synth.core.config.compose:compose")(
        options.overrides,
        multirun=options.multirun,
        config_dir=options.config_dir,
        config_name=options.config_name,
    )
    if options.cfg:
        stdout().write(
            resolve("synth.core.config.compose:print_config")(
                jobs, package=options.package, as_json=options.json
            )
        )
        return 0
    if options.preview is not None:
        if options.dry_run:
            raise OperatorError("--preview goes without --dry-run")
        return int(resolve("synth.core.cli.preview:preview")(jobs, options.preview))
    if options.dry_run:
        return int(resolve("synth.core.cli.dry_run:show")(jobs, as_json=options.json))
    for job in jobs[:1]:
        tasks, model, world = job.config.tasks, job.config.model, job.config.world_folder
        print(f"world {world}, {_summary(tasks, model, len(jobs))}", file=sys.stderr, flush=True)
    return int(resolve("synth.core.cli.launching:start")(jobs, as_json=options.json))


def _trust_worlds(overrides: Sequence[str]) -> None:
    """Consent to the worlds that the overrides fetch."""
    for line in overrides:
        key, _, value = line.partition("=")
        elsewhere = place_and_name(value)
        if key in {"env", "env.path"} and elsewhere is not None:
            place, name = elsewhere
            WORLD_PLACES.load(place)(name, trust=True)


def _summary(tasks: TasksConfig, model: ModelConfig, jobs: int) -> str:
    """The model and the number of tasks."""
    samples = f" x {tasks.samples} samples" if tasks.samples > 1 else ""
    sweep = f"; the first of {jobs} points of a sweep" if jobs > 1 else ""
    who = model.name or {"scripted": "the scripted expert"}.get(model.kind, model.kind)
    return f"{who}, {tasks.count} tasks{samples}{sweep}"


def _resume(options: Arguments) -> int:
    if options.multirun or options.dry_run or options.cfg or options.info:
        raise OperatorError(
            "--resume goes on with one run: it does not go with -m, --dry-run, --cfg or --info"
        )
    directory: Path = options.resume.expanduser().absolute()
    if not directory.is_dir():
        raise OperatorError(f"--resume: directory not found: {directory}")
    print(f"synth {version()}: reading {directory}", file=sys.stderr, flush=True)
    done = resolve("synth.core.cli.finished_run:say_if_complete")
    if not options.overrides and done(directory, as_json=options.json):
        return 0
    go_on = resolve("synth.core.cli.launching:go_on")
    return int(go_on(directory, options.overrides, trust=options.trust, as_json=options.json))
