"""``synth eval``: how good a model is in a world. A run of held-out tasks, and a report of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from synth.core.cli.command import Arguments, command
from synth.core.cli.end_report import exit_code
from synth.core.cli.live_options import model_overrides, world_override
from synth.core.config.compose import compose
from synth.core.config.quoting import quoted_value
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import disk
from synth.core.dataset.store.task_table import read_tasks
from synth.core.foundation.standard_output import say
from synth.core.report.compare import compare, show_comparison
from synth.core.report.json_output import print_document
from synth.core.runner.run_files import TASKS_FILE
from synth.core.screen import Screen
from synth.errors import OperatorError
from synth.ext.evaluation.pages import comparison_page, evaluate, model_card, on_screen, report_page
from synth.launch import launch

HELP = """synth eval

Ask a model held-out tasks of a world, and report pass@1, pass@k and pass^k with intervals, by
family, difficulty and end.

arguments:
  [WORLD]             a world's folder, the name of one that ships, or the directory of a run
  [key=value...]      overrides, as `synth run` takes them
options:
  --model NAME        the model at the endpoint; scripted is the expert [default: scripted]
  --base-url URL      an OpenAI-compatible endpoint, by default without a key
  --api-key-env NAME  the environment variable that holds its key
  --families A,B      task families (default: all)
  --universes N-M     databases, as 100-103 or 7,8 [default: 0]
  --renamings N-M     variants of names, as 6-8 or 6,7; 0 is the world's own (default: 0)
  --tasks N           tasks [default: 64]
  --samples N         attempts at each task [default: 1]
  --seed N|0          chooses the tasks [default: 0]
  --compare BEFORE AFTER  two runs of the same tasks: both rates and a paired test, by family
  --out DIR           where run and report go; the report of --compare
  --json              print JSON

examples:
  synth eval shop --universes 100-103 --samples 4 --out out/expert   what is right
  synth eval shop --universes 100-103 --samples 4 --out out/before \\
      --model my-model --base-url http://localhost:8000/v1 agent.text_calls=parse
  synth eval shop --renamings 6-8 --model my-model           names that no training row has
  synth eval out/before                                    the report of any run, again
  synth eval --compare out/before out/after --out out/lift the same tasks, before and after

The run's directory holds eval.json, eval.md and model_card.md. A stopped one goes on with
`synth run --resume DIR`, and `synth eval DIR` then reports on it.
"""

MOST_NUMBERS = 1_000
"""Universes of one evaluation, each a database that is filled first, and renamings."""

UNIVERSE_ZERO = (
    "note: universe 0 is what `synth run` asks about, too; --universes 100-103 would be databases"
    " that no training row is about\n"
)


@command(HELP)
def main(options: Arguments) -> int:
    """Evaluate, report, or compare. Returns the run's exit code, 0 without a run.

    Raises OperatorError, ConfigProblems, DatasetError, and the errors of worlds and tasks.
    """
    if options.compare is not None:
        if options.world is not None:
            raise OperatorError("--compare takes two runs and no world")
        return _compare(options)
    if options.world is None:
        raise OperatorError("name a world, a run's directory, or --compare BEFORE AFTER")
    recorded = Path(options.world)
    if (recorded / TASKS_FILE).is_file():
        if options != main.parser().parse_args(
            [options.world, *(["--json"] if options.json else [])]
        ):
            raise OperatorError(
                f"{recorded} is a run: its report goes into it, and nothing is played; leave out"
                " everything but --json"
            )
        _report(recorded, as_json=options.json)
        return 0
    (job,) = compose(_overrides(options))
    if job.config.tasks.universes == [0]:
        sys.stderr.write(UNIVERSE_ZERO)
    report = launch(job.config, Console(stderr=True, highlight=False))
    if report.totals.rows:
        _report(report.directory, as_json=options.json)
    return exit_code(report)


def _overrides(options: Arguments) -> list[str]:
    given = [
        world_override(options.world),
        *model_overrides(options),
        f"tasks.count={options.tasks}",
        f"tasks.samples={options.samples}",
        f"tasks.universes={_numbers(options.universes, '--universes')}",
        f"seed={options.seed}",
    ]
    if options.renamings is not None:
        given.append(f"tasks.renamings={_numbers(options.renamings, '--renamings')}")
    if options.families is not None:
        given.append(f"tasks.families=[{','.join(options.families)}]")
    if options.out is not None:
        given.append(f"output.dir={quoted_value(str(options.out))}")
    return [*given, *options.overrides]


def _numbers(text: str, option: str) -> str:
    """``100-102,7`` as a list of the config.

    Raises OperatorError for anything else.
    """
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdecimal() for end in ends):
            raise OperatorError(f"{option} is of the form 100-103 or 7,8, not {text!r}")
        numbers += range(int(ends[0]), min(int(ends[1]), int(ends[0]) + MOST_NUMBERS) + 1)
    if len(numbers) > MOST_NUMBERS:
        raise OperatorError(f"{option} {text}: at most {MOST_NUMBERS} {option.strip('-')}")
    if not numbers:
        raise OperatorError(f"{option} {text} is empty: the first is after the last")
    return f"[{','.join(map(str, numbers))}]"


def _report(directory: Path, *, as_json: bool) -> None:
    """Write the report into a run's directory, and print it."""
    tasks = read_tasks(directory / TASKS_FILE)
    difficulties = {task["id"]: task["extras"].get("difficulty") for task in tasks}
    with Dataset.open(directory) as dataset:
        document = evaluate(dataset, difficulties)
    pages = {"eval.md": report_page(document), "model_card.md": model_card(document)}
    _write(directory, "eval.json", document, pages)
    _print(document, on_screen(document), as_json=as_json)
    if not as_json:
        say(f"written: {', '.join(str(directory / name) for name in ('eval.json', *pages))}")
        failed = document["pass"]["passed"] < document["pass"]["samples"]
        say(f"next: synth inspect {shlex.quote(str(directory))}{' --failed' if failed else ''}")


def _compare(options: Arguments) -> int:
    before, after = options.compare
    with Dataset.open(before) as first, Dataset.open(after) as second:
        document = compare(first, second)
    if options.out is not None:
        with disk(options.out):
            options.out.mkdir(parents=True, exist_ok=True)
        _write(options.out, "compare.json", document, {"compare.md": comparison_page(document)})
        if not options.json:
            say(f"written: {options.out / 'compare.json'}, {options.out / 'compare.md'}")
    print_document(document, lambda screen: show_comparison(screen, document), as_json=options.json)
    return 0


def _write(
    directory: Path, name: str, document: Mapping[str, Any], pages: Mapping[str, str]
) -> None:
    for file, text in {name: json.dumps(document, indent=2) + "\n", **pages}.items():
        with disk(directory / file):
            (directory / file).write_text(text, "utf-8")


def _print(document: Mapping[str, Any], page: str, *, as_json: bool) -> None:
    def show(screen: Screen) -> None:
        for line in page.splitlines():
            screen.line(line)

    print_document(document, show, as_json=as_json)
