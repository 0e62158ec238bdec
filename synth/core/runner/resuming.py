"""Resume of a run: from what its directory holds to a sealed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml
from rich.console import Console

from envs.errors import WorldError
from envs.unreadable import unreadable
from envs.world.loader import world_digest, world_files
from synth.config import EnvConfig, RunConfig, from_dict, to_dict, to_yaml
from synth.coordinator import Coordinator, RunReport
from synth.core.config.fingerprints import difference
from synth.core.config.task_rules import load_task_source
from synth.core.dataset.store.damage import set_aside
from synth.core.dataset.store.parquet_shard import open_parquet
from synth.core.dataset.store.run_info import RunFiles, RunInfo
from synth.core.dataset.store.run_writer import RunWriter
from synth.core.foundation.archive import pack_world, unpack_world
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
from synth.core.runner.hooks import run_hooks, shipped_hooks
from synth.core.runner.progress import Waiting
from synth.core.runner.provenance import changes_of, check_unchanged
from synth.core.runner.run_files import CONFIG_FILE, load_config, with_changes, write_whole
from synth.errors import DatasetError, OperatorError, ResumeRefused
from synth.launch import Begun, ignore, launch, require_model, say_how_to_resume, sealed, waits
from synth.plugins import RUN_HOOKS, resolve
from synth.prepare import REPHRASED, PreparedRun, prepare


@dataclass
class _Recovery:
    """The state of a run directory.

    ``info`` is None if no description of the run can be read. ``notes`` say what was damaged and
    how it was restored; :meth:`write` makes that true on disk, under the lock of the run.

    What a resume needs exists twice in some form: the config in ``config.yaml`` and in the
    description of the run, the description in ``.synth/run.json`` or ``manifest.json`` and as a
    function of config and world, the world in its archive and in its folder, the tasks in their
    table and as proofs that can be made again.
    """

    files: RunFiles
    info: RunInfo | None = None
    notes: list[str] = field(default_factory=list[str])
    _config_restored: bool = False
    _repairs: list[Callable[[], object]] = field(default_factory=list[Callable[[], object]])

    @classmethod
    def open(cls, directory: Path) -> _Recovery:
        """Read the description of the run.

        Raises :class:`OperatorError` for a directory without a run, and :class:`ResumeRefused` for
        a run of an older schema version.
        """
        recovery = cls(RunFiles(directory))
        if not directory.is_dir():
            raise OperatorError(f"{directory}: no such directory")
        if not recovery.files.holds_run():
            if not (directory / CONFIG_FILE).is_file():
                raise OperatorError(f"{directory} holds no run: it lacks {CONFIG_FILE}")
            recovery.notes.append(
                f"{recovery.files.manifest} and {recovery.files.run} are missing; the"
                " description of the run is made again from its config and world"
            )
            return recovery
        try:
            recovery.info = recovery.files.info()
        except DatasetError as error:
            recovery.notes.append(f"{error}; it is made again from the run's config and world")
        return recovery

    def write(self) -> None:
        """Write the restored files; damaged ones are set aside."""
        for repair in self._repairs:
            repair()

    def config(self) -> RunConfig:
        """The config of the run: from its file, or else from the description of the run.

        Raises :class:`OperatorError` if neither has one.
        """
        file = self.files.directory / CONFIG_FILE
        copy = None if self.info is None else self.info.identity.more.get("config")
        kept = (
            from_dict(cast("Mapping[str, Any]", copy), installed=False)
            if isinstance(copy, dict)
            else None
        )
        if kept is not None and _is_cut_off(file, to_yaml(to_dict(kept)).encode()):
            self.notes.append(f"{file} is cut off; it is restored from the description of the run")
            self._config_restored = True
            return kept
        try:
            config = _read_config(file)
        except OperatorError as error:
            if kept is None:
                raise
            self.notes.append(f"{error}; it is restored from the description of the run")
            self._config_restored = True
            return kept
        if kept is not None and (lines := "; ".join(difference(kept, config))):
            self.notes.append(
                f"{file} is not the config that the run began with ({lines}); that one is restored"
            )
            self._config_restored = True
            return kept
        return config

    def config_text(self, sound: str) -> bytes:
        """The bytes of config.yaml, or of its ``sound`` text if the file is damaged."""
        file = self.files.directory / CONFIG_FILE
        return sound.encode() if self._config_restored else file.read_bytes()

    def world(self, name: str, home: Path) -> tuple[Path, bytes] | None:
        """The world of the run, unpacked below ``home`` as ``name``, and its archive; None if it is
        lost.

        Nothing of it is executed.
        """
        for number, path in enumerate(self._archives()):
            expected = path.name.removesuffix(".tar.zst")
            archive = path.read_bytes()
            own = home / str(number) / name
            if _unpacked_digest(archive, own) == expected == (self._world_digest() or expected):
                return own, archive
        return None

    def _archives(self) -> list[Path]:
        return sorted((self.files.directory / "world").glob("*.tar.zst"))

    def _world_digest(self) -> str | None:
        return None if self.info is None else self.info.identity.world_digest

    def packed_again(
        self, replan: Callable[[], PreparedRun], name: str, home: Path
    ) -> tuple[Path, bytes]:
        """Pack the world's folder again if it is the world that the run began with. ``replan`` is
        how the run finds it.

        Raises :class:`ResumeRefused` if it has changed.
        """
        found = self._archives()
        expected = self._world_digest() or next(
            (path.name.removesuffix(".tar.zst") for path in found), None
        )
        missing = self.files.directory / "world" / f"{expected or '*'}.tar.zst"
        problem = f"{found[0]} is damaged" if found else f"{missing} is missing"
        if expected is None:
            raise ResumeRefused(f"{problem}, and nothing tells which world it was")
        try:
            run = replan()
        except (OperatorError, WorldError) as error:
            raise ResumeRefused(f"{problem}, and its world cannot be read again: {error}") from None
        folder, digest = run.world.path, run.world.digest
        if digest != expected:
            raise ResumeRefused(
                f"{problem}, and the world {folder} is another one by now (digest {digest}, not"
                f" {expected}): put back one of the two to resume; `synth inspect` and `synth"
                " export` read the run as it is"
            )
        archive = pack_world(folder)
        self._repairs.append(partial(self._write_archive, f"{expected}.tar.zst", archive))
        self.notes.append(f"{problem}; it is packed again from {folder}")
        return unpack_world(archive, home / "again" / name), archive

    def _write_archive(self, name: str, archive: bytes) -> None:
        folder = self.files.directory / "world"
        folder.mkdir(exist_ok=True)
        for damaged in sorted(folder.glob("*.tar.zst")):
            set_aside(self.files, damaged)
        write_whole(folder / name, archive)

    def description(self, run: PreparedRun) -> RunInfo | None:
        """The description of a run whose own is lost; None if it is not."""
        if self.info is not None:
            return None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return RunInfo(run.layout, run.identity, run.spec.runtime.max_attempts, now)

    def check_plan(self, run: PreparedRun, recording: str) -> None:
        """Raise :class:`ResumeRefused` if a recorded run is not what it was when this one
        began.
        """
        if self.info is not None and self.info.identity.plan_digest != run.identity.plan_digest:
            raise ResumeRefused(
                f"{recording} holds other rollouts than it did when this run began; put it back to"
                " resume, or begin again in another output.dir"
            )

    def check_tasks(self, run: PreparedRun) -> None:
        """Have the tasks proved again if their table is damaged."""
        path = self.files.tasks
        if not path.exists():
            if self.info is not None and any(self.files.data.glob("*.parquet")):
                self.notes.append(f"{path} is missing; its tasks are proved again")
            return
        try:
            with open_parquet(path) as file:
                rows = sum(
                    file.read_row_group(group).num_rows for group in range(file.num_row_groups)
                )
            damage = None if rows == run.plan.tasks else f"{path} has {rows} rows"
        except DatasetError as error:
            damage = str(error)
        if damage is not None:
            self.notes.append(f"{damage}; it is set aside and its tasks are proved again")
            self._repairs.append(partial(set_aside, self.files, path))


def _unpacked_digest(archive: bytes, into: Path) -> str | None:
    try:
        return world_digest(unpack_world(archive, into))
    except WorldError:
        return None


def _is_cut_off(file: Path, whole: bytes) -> bool:
    """True if the file holds the beginning of what it should hold, which may be YAML as well."""
    if not file.is_file():
        return False
    text = file.read_bytes()
    return len(text) < len(whole) and whole.startswith(text)


def _read_config(file: Path) -> RunConfig:
    """Read a config. Raises :class:`OperatorError` for a file that is none."""
    try:
        raw: Any = yaml.safe_load(file.read_bytes())
    except FileNotFoundError:
        raise OperatorError(f"{file} is missing") from None
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{file} cannot be read: {unreadable(error, 'YAML')}") from None
    if not isinstance(raw, dict):
        raise OperatorError(f"{file} is not the config of a run")
    return from_dict(cast("dict[str, Any]", raw), installed=False)


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
    found = _Recovery.open(directory)
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
    directory: Path, changes: Mapping[str, object], console: Console, consent: Consent, begun: Begun
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
