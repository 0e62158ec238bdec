"""Resume of a run: from what its directory holds to a sealed one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rich.console import Console

from envs.world.loader import world_files
from synth.config import EnvConfig, to_dict, to_yaml
from synth.coordinator import Coordinator, RunReport
from synth.core.config.task_source import load_task_source
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.foundation.consent import (
    Consent,
    config_part,
    refuse,
    remember,
    require_consent,
    world_part,
)
from synth.core.foundation.shipped import find_world
from synth.core.foundation.tempdirs import Scratch
from synth.core.runner.damaged_run import Recovery
from synth.core.runner.hooks import run_hooks, shipped_hooks
from synth.core.runner.progress import Waiting
from synth.core.runner.provenance import changes_of, check_unchanged
from synth.core.runner.run_files import (
    CONFIG_FILE,
    load_config,
    with_changes,
    write_whole,
)
from synth.errors import OperatorError, ResumeRefused
from synth.launch import Begun, ignore, launch, require_model, say_how_to_resume, sealed, waits
from synth.plugins import RUN_HOOKS, resolve
from synth.prepare import REPHRASED, prepare


def resume(
    directory: Path,
    changes: Mapping[str, object],
    console: Console,
    consent: Consent = refuse,
    begun: Begun = ignore,
) -> RunReport:
    """Continue a run. ``changes`` are dotted config keys with new values; ``consent`` decides on
    code that was not made on this machine; ``begun`` as in :func:`launch`.

    Damaged files of the run are restored, with notes. Raises :class:`ResumeRefused` with the
    difference if the config, the world or an extension would change the data, and
    :class:`~synth.errors.UntrustedCode`.
    """
    if waits(directory, list(shipped_hooks())):
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
            _refuse_changed_world(config.env, own, written)
        with Waiting(f"planning the tasks of {name}", console):
            run = prepare(config, own)
        spec = run.spec
        require_model(run)
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
                say_how_to_resume(directory, console)
                raise
    return sealed(report, run, hooks, console)


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


def _refuse_changed_world(env: EnvConfig, own: Path, written: frozenset[str] = frozenset()) -> None:
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
