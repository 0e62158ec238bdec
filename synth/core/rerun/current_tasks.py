"""The tasks of a world as it is today, about the rows of a world as it was when a run
recorded it.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from envs.errors import WorldError
from envs.world.loader import World, load_world
from synth.core.foundation.suggestions import hint, nearest
from synth.core.rerun.recorded_run import Recording
from synth.core.runner.transforms import transforms_of
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.yaml.source_map import Map, Seq, load_yaml
from synth.core.types.phrasings import JOIN, VOICE
from synth.errors import TaskError
from synth.plugins import TASK_TRANSFORMS
from synth.task import Task

Json = Any

YAML, PYTHON, REWARDS = "tasks.yaml", "tasks.py", "rewards.py"


class PresentTasks:
    """Families of today, each set up on its own beside the recorded schema, rows and tools: one
    that needs a tool which was not there then takes no other with it.
    """

    def __init__(self, recording: Recording, folder: Path) -> None:
        self._recording = recording
        self._folder = folder
        self._rules, self._written = _families(folder / YAML)
        self._sources: dict[tuple[str, int], FamilyTasks | str] = {}
        self._transforms = transforms_of(
            recording.config.tasks, recording.config.brought(TASK_TRANSFORMS)
        )

    def find(self, task: Task) -> tuple[Task, World]:
        """The present task about a recorded task's slots, with its clock, and the world to prove it
        in.

        Raises :class:`TaskError` where the family is gone, cannot be read, or has no task about
        these slots.
        """
        source = self._source(task.family, task.universe)
        if task.parts:
            found = replace(task, parts=tuple(self._in(source, part) for part in task.parts))
        else:
            found = self._in(source, task)
        for transform in self._transforms:
            found = transform.again(found, task)
        return found, source.world

    def _in(self, source: FamilyTasks, task: Task) -> Task:
        words = task.extras.get("phrasing", "").partition(VOICE)[0]
        found = source.find(task.family, task.slots, words)
        if len(found) != 1:
            many = "no task" if not found else f"{len(found)} tasks"
            raise TaskError(f"the family has {many} about the slots {dict(task.slots)} now")
        kept = {"id": task.id, "now": task.now, "seed": task.seed, "split": task.split}
        return replace(found[0], **kept)

    def _source(self, family: str, universe: int) -> FamilyTasks:
        if (family, universe) not in self._sources:
            self._sources[family, universe] = self._read(family, universe)
        source = self._sources[family, universe]
        if isinstance(source, str):
            raise TaskError(source)
        return source

    def _read(self, family: str, universe: int) -> FamilyTasks | str:
        """The family's tasks on the recorded data, or why there are none."""
        names = family.split(JOIN)
        gone = [name for name in names if name not in self._written]
        if gone and not (self._folder / PYTHON).is_file():
            return (
                f"{self._folder.name} has no family {gone[0]!r}"
                f" now{hint(nearest(gone[0], self._written))}"
            )
        try:
            world = self._world(family)
            with self._recording.templates.use(universe) as template:
                return FamilyTasks(world, template, names, universe)
        except TaskError as error:
            return f"the family cannot be asked on the recorded data: {error.message}"
        except WorldError as error:
            return (
                "the family cannot be asked on the recorded data:"
                f" {str(error).replace(f'{self._home(family)}/', '')}"
            )

    def _home(self, family: str) -> Path:
        return self._recording.home / family / self._recording.world.name

    def _world(self, family: str) -> World:
        """The recorded world with today's family, or families of a composed task, in the place of
        its own.
        """
        folder = self._home(family)
        if not folder.exists():
            shutil.copytree(
                self._recording.world.path, folder, ignore=shutil.ignore_patterns("__pycache__")
            )
            for name in (YAML, PYTHON, REWARDS):
                (folder / name).unlink(missing_ok=True)
            if (self._folder / REWARDS).is_file():
                shutil.copyfile(self._folder / REWARDS, folder / REWARDS)
                self._add_modules(folder)
            written = [name for name in family.split(JOIN) if name in self._written]
            if written:
                families = [self._written[name] for name in written]
                document = {**self._rules, "families": families}
                if isinstance(form := document.get("form"), Map):
                    asked = {name for item in families for name in item.get("answer") or ()}
                    document["form"] = {name: form[name] for name in form if name in asked}
                (folder / YAML).write_text(
                    json.dumps(document, ensure_ascii=False, indent=1), "utf-8"
                )
            if len(written) < len(family.split(JOIN)):
                shutil.copyfile(self._folder / PYTHON, folder / PYTHON)
                self._add_modules(folder)
        return load_world(folder)

    def _add_modules(self, folder: Path) -> None:
        """Copy the modules that were added after the recording, which today's code may import."""
        for file in self._folder.glob("*.py"):
            if file.name != PYTHON and not (folder / file.name).exists():
                shutil.copyfile(file, folder / file.name)


def _families(file: Path) -> tuple[dict[str, Json], dict[str, Json]]:
    """The rules of a tasks.yaml for all families, and each of them by its id."""
    if not file.is_file():
        return {}, {}
    root: Json = load_yaml(file)
    entries: Json = root.get("families", Seq()) if isinstance(root, Map) else None
    if not isinstance(entries, Seq):
        raise TaskError("needs `families`, a list with at least one family", str(file))
    written = {str(entry.get("id")): entry for entry in entries if isinstance(entry, Map)}
    return {name: value for name, value in root.items() if name != "families"}, written
