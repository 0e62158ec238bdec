"""Launch and resume of a run: from its config to a sealed run directory.

    config -> plan -> [workers: prove, play, judge] -> journal -> shards -> manifest

The driver alone writes. It can be killed at any moment: what it had journaled is not run again.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.console import Console

from envs.world.loader import world_files
from synth.config import EnvConfig, OutputConfig, RunConfig, to_dict, to_yaml
from synth.coordinator import Coordinator, RunReport
from synth.core.config.task_source import load_task_source
from synth.core.dataset.store.run_info import RunFiles
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.dataset.store.task_table import write_tasks
from synth.core.foundation.archive import pack_world
from synth.core.foundation.consent import (
    Consent,
    config_part,
    refuse,
    remember,
    require_consent,
    tasks_part,
    world_part,
)
from synth.core.foundation.shipped import find_world
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.attached import changes_of
from synth.core.runner.damaged_run import Recovery
from synth.core.runner.hooks import run_hooks, shipped_hooks
from synth.core.runner.progress import Waiting
from synth.core.runner.provenance import check_unchanged
from synth.core.runner.run_files import (
    CONFIG_FILE,
    TASKS_FILE,
    load_config,
    scrubbed,
    task_row,
    with_changes,
    write_whole,
)
from synth.errors import OperatorError, ResumeRefused, returned
from synth.hook import RunHook
from synth.plugins import RUN_HOOKS, resolve
from synth.prepare import REPHRASED, PreparedRun, prepare

Begun = Callable[[Coordinator], None]


def _ignore(_: Coordinator) -> None:
    """Nobody interrupts the run from another thread."""


def launch(
    config: RunConfig, console: Console, begun: Begun = _ignore, consent: Consent = refuse
) -> RunReport:
    """Run a new job. ``begun`` gets the coordinator, which another thread may interrupt;
    ``consent`` decides on code of a recorded run that is branched or narrated.

    Raises :class:`OperatorError` and the errors of worlds and tasks before anything is paid for.
    """
    hooks = run_hooks(config.extensions, config.brought(RUN_HOOKS))
    with Waiting(f"planning the tasks of {config.world_folder}", console):
        run = prepare(config, consent=consent)
    _require_model(run)
    directory = new_directory(config.output, run.world.name)
    try:
        for hook in hooks:
            run = returned(hook.planned(run, directory, console), PreparedRun, hook, "planned")
    except BaseException:
        if _waits(directory, hooks):
            _say_how_to_resume(directory, console)
        raise
    spec = run.spec
    for line in run.notes:
        console.print(f"note: {line}", markup=False, soft_wrap=True)
    recorded = spec.recording is not None
    if spec.output.upload is not None:
        resolve("synth.core.dataset.upload:check_target")(spec.output.upload, run.identity)
    archive, text = pack_world(run.world.path), spec.text

    def prepare_files(home: Path) -> None:
        (home / "world").mkdir(exist_ok=True)
        write_whole(home / "world" / f"{run.world.digest}.tar.zst", archive)
        write_whole(home / CONFIG_FILE, text)
        remember([world_part(archive), config_part(text)])
        if recorded:  # its tasks are proved
            scrubber = spec.scrubber()
            tasks = (run.plan.task(index) for index in range(run.plan.tasks))
            rows = (scrubbed(task_row(task, run.world), scrubber) for task in tasks)
            write_tasks(home / TASKS_FILE, rows)
            remember([tasks_part(home / TASKS_FILE, ())])

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
    except BaseException:
        if (directory / TASKS_FILE).exists() and not (recorded and _nothing_done(writer)):
            _say_how_to_resume(directory, console)
        else:
            withdraw(directory, hooks)
        raise
    return _sealed(report, run, hooks, console)


def _waits(directory: Path, hooks: Iterable[RunHook]) -> bool:
    """True for a directory in which a hook was stopped, so that there is no run yet."""
    kept = any(hook.keeps(directory) for hook in hooks)
    return kept and not RunFiles(directory).holds_run()


def _nothing_done(writer: RunWriter) -> bool:
    """True if no job has ended."""
    progress = writer.progress
    return progress.waiting == progress.jobs


def withdraw(directory: Path, hooks: Sequence[RunHook] = ()) -> None:
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


def resume(
    directory: Path,
    changes: Mapping[str, object],
    console: Console,
    consent: Consent = refuse,
    begun: Begun = _ignore,
) -> RunReport:
    """Continue a run. ``changes`` are dotted config keys with new values; ``consent`` decides on
    code that was not made on this machine; ``begun`` as in :func:`launch`.

    Damaged files of the run are restored, with notes. Raises :class:`ResumeRefused` with the
    difference if the config, the world or an extension would change the data, and
    :class:`~synth.errors.UntrustedCode`.
    """
    if _waits(directory, list(shipped_hooks())):
        return _launch_again(directory, changes, console, consent, begun)
    found = Recovery.open(directory)
    before = found.config()
    name = found.info.identity.env if found.info is not None else before.world_folder
    with Scratch("resume") as home:
        sound = found.world(name, home.path)
        parts = [] if sound is None else [world_part(sound[1])]
        parts.append(config_part(found.config_text(to_yaml(to_dict(before))), resumes=True))
        require_consent(directory, parts, consent)
        config = with_changes(directory, before, changes)
        own, archive = sound or found.packed_again(partial(prepare, config), name, home.path)
        hooks = run_hooks(config.extensions, config.brought(RUN_HOOKS))
        if config.recording is None and not load_task_source(config.tasks.kind).writes_world:
            written = frozenset[str]().union(*(hook.writes for hook in hooks))
            refuse_changed_world(config.env, own, written)
        with Waiting(f"planning the tasks of {name}", console):
            run = prepare(config, own)
        spec = run.spec
        _require_model(run)
        if found.info is not None:
            run = replace(run, rephrased=found.info.identity.more.get(REPHRASED))
            check_unchanged(found.info.identity.more.get("extensions", ()), run.extensions)
        if lines := changes_of(found.info, spec.target.fingerprint):
            raise ResumeRefused(
                f"the attached database changed since the run began: {'; '.join(lines)}. Put it"
                " back to resume, or start a new run in another output.dir."
            )
        if spec.recording is not None:
            found.check_plan(run, spec.recording)
        found.check_tasks(run)
        if spec.output.upload is not None:
            resolve("synth.core.dataset.upload:check_target")(spec.output.upload, run.identity)
        writer = RunWriter.resume(
            directory,
            run.layout,
            max_attempts=spec.runtime.max_attempts,
            restored=found.description(run),
        )
        for note in [*found.notes, *writer.warnings]:
            console.print(f"note: {note}", markup=False, soft_wrap=True)
        with writer:
            found.write()
            write_whole(directory / CONFIG_FILE, spec.text)
            remember([world_part(archive), config_part(spec.text)])
            try:
                coordinator = Coordinator(run, directory, writer, archive, console)
                begun(coordinator)
                report = coordinator.main()
            except BaseException:
                _say_how_to_resume(directory, console)
                raise
    return _sealed(report, run, hooks, console)


def _launch_again(
    directory: Path,
    changes: Mapping[str, object],
    console: Console,
    consent: Consent,
    begun: Begun,
) -> RunReport:
    """Launch a run that was stopped in a hook, before there was a plan."""
    config = load_config(directory, {**changes, "output.dir": str(directory)})
    text = (directory / CONFIG_FILE).read_bytes()
    require_consent(directory, [config_part(text, resumes=True)], consent)
    return launch(config, console, begun, consent)


def _sealed(
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


def _require_model(run: PreparedRun) -> None:
    """Raise OperatorError for a model that no run can ask, before anything is written."""
    if run.spec.refusal:
        raise OperatorError(run.spec.refusal)


def _say_how_to_resume(directory: Path, console: Console) -> None:
    where = shlex.quote(str(directory))
    console.print(
        f"What has finished is kept. Go on with: synth run --resume {where}",
        markup=False,
        soft_wrap=True,
    )


def refuse_changed_world(env: EnvConfig, own: Path, written: frozenset[str] = frozenset()) -> None:
    """Raise ResumeRefused if the world's folder still exists but has changed since the run began,
    beside the files that hooks have ``written`` into the run's copy.
    """
    try:
        folder = find_world(env.place)
    except OperatorError:
        return  # gone: the run has its own copy
    before, now = _contents(own), _contents(folder)
    names = sorted((before.keys() | now.keys()) - written)
    changed = [name for name in names if before.get(name) != now.get(name)]
    if changed:
        raise ResumeRefused(
            f"the world {folder} changed since the run began: {', '.join(changed)}. "
            "Put it back to resume, or start a new run in another output.dir."
        )


def _contents(folder: Path) -> dict[str, bytes]:
    return {name: file.read_bytes() for name, file in world_files(folder).items()}


def new_directory(output: OutputConfig, world: str) -> Path:
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
