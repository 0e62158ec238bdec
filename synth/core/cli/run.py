"""``synth run``: launch a job, or go on with one.

Only options and help are here. Hydra, the world and the runner are imported when they are needed,
so that a mistake on the command line is reported at once.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from synth.core.cli.trust import add_trust
from synth.core.foundation.shipped import configs_dir, version
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.plugins import resolve

if TYPE_CHECKING:
    from synth.config import ModelConfig, TasksConfig

CFG_KINDS = ("job", "hydra", "all")
INFO_KINDS = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")

KEYS = """keys that most runs set (all of them: synth run --cfg job):
  env=NAME  env.path=DIR            the world: one that ships, or a folder of your own
  model=openai model.name=NAME      a model behind an OpenAI-compatible endpoint
  model.base_url=URL                where it is (default: api.openai.com); usually ends in /v1
  model.api_key_env=VARIABLE        the variable that holds the key; null: no key
  tasks.count=N  tasks.samples=N    tasks, and attempts at each
  tasks.families=[A,B]              some task families only
  seed=N                            the same seed draws the same tasks
  output.dir=DIR                    where the dataset goes
  runtime.workers=N                 Ray workers; runtime=inline stays in this process
  budget.usd=X  budget.tokens=N     stop as a valid partial dataset before more is spent"""

EXAMPLES = """examples:
  synth run
  synth run env=ehr_db tasks.count=200 seed=7 output.dir=out/ehr
  synth run model=openai model.name=gpt-4.1-mini tasks.samples=4 tasks.count=50
  synth run -m seed=1,2,3
  synth run --dry-run tasks.families=record_heart_rate
  synth run --resume out/ehr

exit codes: 0 complete, 2 bad input, 3 partial (budget, breaker, failed rollouts) or empty,
130 interrupted, 1 anything else"""

SHOWN_GROUPS = (
    ("env", "envs"),
    ("model", "models"),
    ("database", "databases"),
    ("runtime", "runtimes"),
    ("users", "users"),
    ("experiment", "experiments"),
)


def main(argv: list[str]) -> int:
    """Parse, compose, launch; one report per job."""
    options = make_parser().parse_intermixed_args(in_hydras_style(argv))
    if options.resume is not None:
        return _resume(options)
    quiet = options.cfg is not None or options.info is not None
    if not quiet:
        print(f"synth {version()}: reading the config", file=sys.stderr, flush=True)
    if options.info is not None:
        text = resolve("synth.core.config.compose:describe")(
            options.overrides, config_dir=options.config_dir, config_name=options.config_name
        )
        stdout().write(text)
        return 0
    jobs = resolve("synth.core.config.compose:compose")(
        options.overrides,
        multirun=options.multirun,
        config_dir=options.config_dir,
        config_name=options.config_name,
    )
    if options.cfg is not None:
        stdout().write(
            resolve("synth.core.config.compose:print_config")(
                jobs, package=options.package, as_json=options.json
            )
        )
        return 0
    if options.preview is not None:
        if options.preview < 1 or options.dry_run:
            raise OperatorError("--preview takes a number of rollouts, and goes without --dry-run")
        return int(resolve("synth.core.cli.launching:preview")(jobs, options.preview))
    if options.dry_run:
        return int(resolve("synth.core.cli.dry_run:show")(jobs, as_json=options.json))
    for job in jobs[:1]:
        tasks, model, world = job.config.tasks, job.config.model, job.config.world_folder
        print(f"world {world}, {_summary(tasks, model, len(jobs))}", file=sys.stderr, flush=True)
    return int(resolve("synth.core.cli.launching:start")(jobs, as_json=options.json))


def _summary(tasks: TasksConfig, model: ModelConfig, jobs: int) -> str:
    """The model and the number of tasks."""
    samples = f" x {tasks.samples} samples" if tasks.samples > 1 else ""
    sweep = f"; the first of {jobs} points of a sweep" if jobs > 1 else ""
    who = model.name or {"scripted": "the scripted expert"}.get(model.kind, model.kind)
    return f"{who}, {tasks.count} tasks{samples}{sweep}"


def _resume(options: argparse.Namespace) -> int:
    if options.multirun or options.dry_run or options.cfg is not None or options.info is not None:
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


def make_parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="synth run",
        description="Launch a synthesis job: Hydra overrides say what differs from"
        " configs/run.yaml.",
        epilog=f"{_choices()}\n\n{KEYS}\n\n{EXAMPLES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides")
    parser.add_argument(
        "-m", "--multirun", action="store_true", help="a sweep: one job per combination of values"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show plan, estimated tokens and money, one prompt and the tools; call nothing",
    )
    parser.add_argument(
        "--preview", type=int, metavar="N", help="play N rollouts and show them; keep nothing"
    )
    parser.add_argument(
        "--resume", type=Path, metavar="DIR", help="go on with the run in DIR, under its own config"
    )
    add_trust(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    hydra = parser.add_argument_group("of Hydra")
    hydra.add_argument(
        "-c",
        "--cfg",
        metavar="job",
        choices=CFG_KINDS,
        help="print the composed config and stop",
    )
    hydra.add_argument("-p", "--package", metavar="SECTION", help="with --cfg: one section only")
    hydra.add_argument(
        "-i",
        "--info",
        metavar="all",
        choices=INFO_KINDS,
        help="print the origin of the config (files, search path, groups) and stop",
    )
    hydra.add_argument(
        "-cd", "--config-dir", type=Path, metavar="DIR", help="a folder with config groups"
    )
    hydra.add_argument(
        "-cn",
        "--config-name",
        metavar="NAME",
        default="run",
        help="the primary config, here or in --config-dir (default: run)",
    )
    return parser


_DASHED_KEY = re.compile(r"--?(\w+(?:\.\w+)+)(?:=(.*))?")


def in_hydras_style(argv: Sequence[str]) -> list[str]:
    """Give ``--cfg`` and ``--info`` their default values where they stand alone, as Hydra does.

    Raises :class:`OperatorError` for a config key that is written as an option.
    """
    defaults = {"--cfg": ("job", CFG_KINDS), "-c": ("job", CFG_KINDS)}
    defaults |= {"--info": ("all", INFO_KINDS), "-i": ("all", INFO_KINDS)}
    words: list[str] = []
    for index, word in enumerate(argv):
        if found := _DASHED_KEY.fullmatch(word):
            value = found[2] or next(iter(argv[index + 1 : index + 2]), "VALUE")
            raise OperatorError(f"{word}: a config key has no dashes: synth run {found[1]}={value}")
        words.append(word)
        if word in defaults:
            value, known = defaults[word]
            if not argv[index + 1 : index + 2] or argv[index + 1] not in known:
                words.append(value)
    return words


def choices_of(group: str) -> list[str]:
    """The names of a config group that ships."""
    return sorted(path.stem for path in (configs_dir() / group).glob("*.yaml"))


def _choices() -> str:
    """The config groups that most runs choose from, with what ships."""
    names = {label: ", ".join(choices_of(group)) for group, label in SHOWN_GROUPS}
    lines = [f"  {label:<12}{found}" for label, found in names.items()]
    return "\n".join(["what ships (`synth list` shows extensions as well):", *lines])
