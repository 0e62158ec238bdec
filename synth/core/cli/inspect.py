"""``synth inspect``: what is in a dataset, also of a run that is going on or was killed."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path

from synth.core.cli.command import Arguments, command
from synth.core.dataset.reader import Dataset
from synth.core.dataset.several import open_datasets
from synth.core.dataset.store.wire import to_values
from synth.core.foundation.standard_output import stdout
from synth.core.report.compare import LISTED, compare, show_comparison
from synth.core.report.follow import follow, print_events, show_news
from synth.core.report.json_output import print_document, print_json
from synth.core.report.step_values import show_step_values, step_values
from synth.core.report.summary import summarize
from synth.core.report.table import LISTING, show_errors, show_listing, show_summary
from synth.core.screen import Screen
from synth.core.screen.transcript import show_error, show_trajectory
from synth.errors import DatasetError, OperatorError
from synth.plugins import resolve

HELP = """synth inspect

Show what is in a dataset: a run's directory (finished, going on or killed) or Parquet files.

arguments:
  PATH...             a run's directory, a .parquet file or a folder of them; several read as one
options:
  --failed            list the rows without success, and the rollouts that broke and have none
  --limit N|0         rows to list; 0 for all (default: 50)
  --columns A,B       the columns to list instead of the usual ones
  --details           all families and tools, distributions, variety
  --no-pager          with --show: print past the end of the screen
  --json              print JSON
options, one of these:
  --where SQL         list the rows that meet a condition over the dataset's columns (extra: query)
  --show ID           print one trajectory: its id, the start of it, or its job index
  --suspect           pass rates of families, and tasks in which samples agree against gold
  --values            the mean reward of the branches of each state, with its interval
  --compare           two runs of the same tasks: pass rates, a paired test, flipped samples
  --follow            print the rows of a run as they come, until it ends, and then its summary

examples:
  synth inspect out/ehr                                   counts, rewards, tools, errors, cost
  synth inspect out/ehr --limit 10                        the first ten, one line each
  synth inspect out/ehr --failed                          one line per row without success, and why
  synth inspect out/ehr --where "family = 'x' AND num_turns > 8" --columns trajectory_id,reward
  synth inspect out/ehr --where "true ORDER BY latency_s DESC" --limit 5
  synth inspect out/ehr --show 3f9a                       one trajectory, by id or job index
  synth inspect --compare out/teacher out/student         which tasks flipped, and why
  synth inspect out/ehr --follow                          the rows of a run as they come
  synth inspect out/ehr --suspect                         where samples agree against gold
  synth inspect out/ehr out/branches --values             what branched states are worth
  synth inspect out/ehr out/shop                          several runs as one
  synth inspect out/ehr --json | jq .rewards              the same for a script
"""


ROWS = 50
"""How many rows a list has unless ``--limit`` says otherwise."""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    lists = (options.failed, options.columns is not None, options.limit is not None)
    if options.show is not None and any(lists):
        raise OperatorError(
            "--show prints one trajectory as a whole; --failed, --columns and --limit are for lists"
        )
    if options.compare and len(options.path) != 2:
        raise OperatorError(f"--compare takes two runs, not {len(options.path)}")
    if options.follow and len(options.path) != 1:
        raise OperatorError(f"--follow takes one run, not {len(options.path)}")
    try:
        if options.compare:
            _compare(options)
        elif options.follow:
            _follow(options.path[0], as_json=options.json)
        else:
            _inspect(options, listed=any(lists))
        stdout().flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Nothing may be flushed into the closed pipe at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout().fileno())
    return 0


def _inspect(options: Arguments, *, listed: bool) -> None:
    with open_datasets(options.path) as dataset:
        view = f"synth view {shlex.join(map(str, options.path))}"
        if options.suspect:
            found = resolve("synth.core.cli.recorded_suspects:suspects_of")(dataset, options.path)
            show = resolve("synth.core.cli.suspects:show_suspects")
            show(found, screen := Screen(), as_json=options.json)
            if not options.json:
                screen.next_steps([view])
        elif options.values:
            values = step_values(dataset)

            def show_values(screen: Screen) -> None:
                show_step_values(screen, values)
                screen.next_steps([view])

            print_document(values, show_values, as_json=options.json)
        elif options.show is not None:
            _show(dataset, options.show, options)
        elif options.where is not None or listed:
            _list(dataset, options)
        else:
            _summary(dataset, details=options.details, as_json=options.json)


def _summary(dataset: Dataset, *, as_json: bool, details: bool = False) -> None:
    summary = summarize(dataset)
    print_document(
        summary, lambda screen: show_summary(screen, summary, details=details), as_json=as_json
    )


def _compare(options: Arguments) -> None:
    with Dataset.open(options.path[0]) as first, Dataset.open(options.path[1]) as second:
        document = compare(first, second)
    limit = LISTED if options.limit is None else options.limit
    print_document(
        document,
        lambda screen: show_comparison(screen, document, limit, details=options.details),
        as_json=options.json,
    )


def _follow(path: Path, *, as_json: bool) -> None:
    if as_json:
        print_events(path)
        return
    screen = Screen()
    for news in follow(path):
        show_news(screen, news)
        stdout().flush()
    with Dataset.open(path) as dataset:
        screen.line()
        _summary(dataset, as_json=False)


def _list(dataset: Dataset, options: Arguments) -> None:
    columns = options.columns or LISTING
    limit = ROWS if options.limit is None else options.limit
    read = list(dict.fromkeys((*columns, "outcome", "trajectory_id")))
    found: Iterable[Mapping[str, object]]
    if options.where is not None:
        # in the order that the condition may ask for with ORDER BY
        found = map(to_values, dataset.query(options.where, read).to_pylist())
    else:
        found = dataset.rows(read)
    rows: list[Mapping[str, object]] = []
    example, matching = "", 0
    for row in found:
        if not options.failed or row["outcome"] != "success":
            matching += 1
            example = example or str(row["trajectory_id"])
            if not limit or matching <= limit:
                rows.append({name: row[name] for name in columns})
    document: dict[str, object] = {"matching": matching, "rows": rows}
    broken: list[dict[str, object]] = []
    if options.failed and options.where is None:
        broken = dataset.errors()
        document["errors"] = broken

    def show(screen: Screen) -> None:
        show_listing(screen, rows, columns)
        show_errors(screen, broken, limit)
        kind = " without success" if options.failed else ""
        text = f"{matching:,} of {dataset.count:,} rows{kind}"
        if len(rows) < matching:
            text += f" ({len(rows):,} listed; --limit 0 lists all)"
        if broken:
            text += f", {len(broken):,} rollouts broke"
        screen.line()
        screen.line(text, "bold")
        first = example or (str(broken[0]["job_index"]) if broken else "")
        screen.next_steps(_after_listing(options.path, first, resumable=dataset.resumable))

    print_document(document, show, as_json=options.json)


def _after_listing(paths: Sequence[Path], example: str, *, resumable: bool) -> list[str]:
    """Return the commands that are useful after a listing whose first row, or rollout that broke,
    is ``example``; empty if there is neither.
    """
    path = shlex.join(map(str, paths))
    resume = [f"synth run --resume {path}"] if resumable else []
    if not example:
        return [*resume, f"synth inspect {path}"]
    return [*resume, f"synth inspect {path} --show {example}", f"synth view {path}"]


def _show(dataset: Dataset, wanted: str, options: Arguments) -> None:
    """A trajectory, or what broke one: a job's index names exactly one of them, so it is looked up
    there first.
    """
    error = _broken(dataset, lambda error: str(error["job_index"]) == wanted)
    if error is None:
        try:
            row = dataset.find(wanted)
        except DatasetError:
            error = _broken(dataset, lambda error: str(error["trajectory_id"]).startswith(wanted))
            if error is None:
                raise
        else:
            if options.json:
                print_json(row)
                return
            with paged(wanted=not options.no_pager) as screen:
                show_trajectory(screen, row)
            return
    broken = error
    print_document(broken, lambda screen: show_error(screen, broken), as_json=options.json)


def _broken(
    dataset: Dataset, wanted: Callable[[Mapping[str, object]], bool]
) -> Mapping[str, object] | None:
    """The only rollout of that kind that infrastructure broke."""
    found = [error for error in dataset.errors() if wanted(error)]
    return found[0] if len(found) == 1 else None


_LESS = "FRX"  # ends at once if all fits, passes colours, leaves the text on the screen


@contextlib.contextmanager
def paged(*, wanted: bool = True) -> Generator[Screen]:
    """A screen whose text goes through the pager if standard output is a terminal.

    Leaving early is fine: what the reader does not read is not written.
    """
    command = _pager_command() if wanted and stdout().isatty() else None
    if command is None:
        yield Screen()
        return
    environment = os.environ | {"LESS": os.environ.get("LESS", _LESS)}
    with subprocess.Popen(  # noqa: S603 - the operator names the pager
        command,
        stdin=subprocess.PIPE,
        stdout=stdout(),
        env=environment,
        text=True,
        errors="backslashreplace",
    ) as process:
        assert process.stdin is not None
        try:
            yield Screen(process.stdin, terminal=True)
        except BrokenPipeError:  # the reader has seen enough
            pass
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def _pager_command() -> list[str] | None:
    """The words of the pager's command; None if there is none, or ``$PAGER`` is empty or cat."""
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return None
    usable = bool(words) and words[0] != "cat" and shutil.which(words[0]) is not None
    return words if usable else None
