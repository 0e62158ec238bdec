"""Launch of a run: from its config to a sealed run directory.

    config -> plan -> [workers: prove, play, judge] -> journal -> shards -> manifest

The driver alone writes. It can be killed at any moment: what it had journaled is not run again.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rich.console import Console

from synth.config import OutputConfig, RunConfig
from synth.coordinator import Coordinator, RunReport
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.foundation.archive import pack_world
from synth.core.foundation.consent import Consent, refuse
from synth.core.runner.hooks import run_hooks
from synth.core.runner.progress import Waiting
from synth.core.runner.run_files import CONFIG_FILE, TASKS_FILE, write_proved, write_world
from synth.errors import OperatorError, TaskError, returned
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve
from synth.prepare import PreparedRun, prepare

Begun = Callable[[Coordinator], None]


def ignore(_: Coordinator) -> None:
    """Nobody interrupts the run from another thread."""


def launch(
    config: RunConfig, console: Console, begun: Begun = ignore, consent: Consent = refuse
) -> RunReport:
    """Run a new job. ``begun`` gets the coordinator, which another thread may interrupt;
    ``consent`` decides on code of a recorded run that is branched or narrated.

    Raises :class:`OperatorError` and the errors of worlds and tasks before anything is paid for.
    """
    hooks = run_hooks(config.extensions, config.brought(RUN_HOOKS))
    with Waiting(f"planning the tasks of {config.world_folder}", console):
        run = prepare(config, consent=consent)
    require_model(run)
    directory = _new_directory(config.output, run.world.name)
    try:
        for hook in hooks:
            run = returned(hook.planned(run, directory, console), PreparedRun, hook, "planned")
    except BaseException:
        if waits(directory, hooks):
            say_how_to_resume(directory, console)
        raise
    spec = run.spec
    for line in run.notes:
        console.print(f"note: {line}", markup=False, soft_wrap=True)
    recorded = spec.recording is not None
    if spec.output.upload is not None:
        resolve("synth.core.dataset.upload:check_target")(spec.output.upload, run.identity)
    archive = pack_world(run.world.path)

    def prepare_files(home: Path) -> None:
        write_world(home, run.world, archive, spec.text)
        if recorded:  # its tasks are proved
            tasks = (run.plan.task(index) for index in range(run.plan.tasks))
            write_proved(home, run.world, tasks, spec.scrubber())

    writer = RunWriter.create(
        directory,
        run.layout,
        run.identity,
        max_attempts=spec.runtime.max_attempts,
        prepare=prepare_files,
    )
    try:
        with writer:
            coordinator = Coordinator(run, directory, writer, archive, console)
            begun(coordinator)
            report = coordinator.main()
    except BaseException as error:
        refuted = isinstance(error, TaskError)
        worth = (directory / TASKS_FILE).exists() or (writer.files.proofs.exists() and not refuted)
        if worth and not (recorded and _nothing_done(writer)):
            say_how_to_resume(directory, console)
        else:
            _withdraw(directory, hooks)
        raise
    return sealed(report, run, hooks, console)


def waits(directory: Path, hooks: Iterable[RunHook]) -> bool:
    """True for a directory in which a hook was stopped, so that there is no run yet."""
    kept = any(hook.keeps(directory) for hook in hooks)
    return kept and not RunFiles(directory).holds_run()


def _nothing_done(writer: RunWriter) -> bool:
    """True if no job has ended."""
    progress = writer.progress
    return progress.waiting == progress.jobs


def _withdraw(directory: Path, hooks: Sequence[RunHook] = ()) -> None:
    """Remove a run without any result, so that it can be launched again in the same place; results
    of hooks stay, with the config.
    """
    if any(hook.keeps(directory) for hook in hooks):
        RunFiles(directory).run.unlink(missing_ok=True)
        shutil.rmtree(directory / "world", ignore_errors=True)
        (directory / TASKS_FILE).unlink(missing_ok=True)
        return
    for name in ("world", ".synth"):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in (CONFIG_FILE, TASKS_FILE):
        (directory / name).unlink(missing_ok=True)
    for folder in (directory / "data", directory):
        with contextlib.suppress(OSError):  # not empty: somebody else's files
            folder.rmdir()


def sealed(
    report: RunReport, run: PreparedRun, hooks: Sequence[RunHook], console: Console
) -> RunReport:
    """Call the hooks, then send the files to ``output.upload``, if it is given. The run stays whole
    where one of them fails.
    """
    for hook in hooks:
        try:
            report = returned(hook.sealed(report, run, console), RunReport, hook, "sealed")
        except OperatorError as error:
            console.print(f"note: {error}", markup=False, soft_wrap=True)
        except Exception as error:
            raise OperatorError(
                f"the run in {report.directory} is complete; the hook {type(hook).__qualname__}"
                f" failed after it: {type(error).__name__}: {error}"
            ) from error
    url = run.spec.output.upload
    if url is None:
        return report

    def say(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    try:
        done = resolve("synth.core.dataset.upload:upload")(report.directory, url, run.identity, say)
    except OperatorError as error:
        return replace(report, upload_problem=str(error))
    counts = f"{done.sent} files sent, {done.unchanged} there already, {done.removed} removed"
    return replace(report, uploaded=f"{url}: {counts}")


def require_model(run: PreparedRun) -> None:
    """Raise OperatorError for a model that no run can ask, before anything is written."""
    if run.spec.refusal:
        raise OperatorError(run.spec.refusal)


def say_how_to_resume(directory: Path, console: Console) -> None:
    where = shlex.quote(str(directory))
    console.print(
        f"What has finished is kept. Go on with: synth run --resume {where}",
        markup=False,
        soft_wrap=True,
    )


def _new_directory(output: OutputConfig, world: str) -> Path:
    """The directory of a new run: ``output.dir``, or a new one under ``output.root``."""
    if output.dir is not None:
        return Path(output.dir).expanduser().absolute()
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d_%H-%M-%S")
    root = Path(output.root).expanduser().absolute()
    name = f"{world}_{stamp}"
    return next(
        path
        for number in range(1, 10_000)
        if not (path := root / (name if number == 1 else f"{name}_{number}")).exists()
    )
