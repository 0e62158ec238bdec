"""A copy of a world in which drafts are proved, and the tasks.yaml that the good ones get into."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs.world.files import world_files
from envs.world.loader import World
from synth.core.dataset.store.atomic_files import disk, write_file
from synth.core.tasks.yaml.source_map import Map, Seq, load_yaml
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.authoring.drafting.insertion import NEW_FILE, with_family
from synth.ext.authoring.drafting.proof import Examination, Survey, examine, survey
from synth.ext.authoring.tasks_file import family_text
from synth.plugins import FAMILY_READERS

FILE = "tasks.yaml"


class Workbench:
    """The copy of one world, in a folder that the caller removes.

    The world's own tasks.yaml is read anew for each draft: its author may work on it meanwhile.
    """

    def __init__(self, world: World, scratch: Path, options: Options, seconds: float) -> None:
        self._options, self._seconds = options, seconds
        self.file = world.path / FILE
        self.scratch = scratch / "draft.yaml"
        self._folder = scratch / world.path.name
        for name, source in world_files(world.path).items():
            target = self._folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        self._known: Survey | None = None

    @property
    def known(self) -> Survey:
        """The families that there are, read when they are first asked for."""
        if self._known is None:
            (self._folder / FILE).write_text(self._text(), "utf-8")
            self._known = survey(self._folder, self._options) if self._has_families() else Survey()
        return self._known

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        """The families of the world's tasks.yaml."""
        if not self.file.is_file():
            return []
        top = load_yaml(self.file)
        listed: object = top.get("families") if isinstance(top, Map) else None
        return [item for item in listed if isinstance(item, Map)] if isinstance(listed, Seq) else []

    @property
    def taken(self) -> set[str]:
        """The ids of all families."""
        return {one.family for one in self.known.signatures} | {
            str(body.get("id")) for body in self.bodies
        }

    def prove(self, body: Mapping[str, Any]) -> Examination:
        """Prove a family as it would stand in tasks.yaml. Raises :class:`Refusal`."""
        inserted = with_family(self._text(), body)
        (self._folder / FILE).write_text(inserted.text, "utf-8")
        found = examine(self._folder, self._options, str(body["id"]), self.known, self._seconds)
        if found.cause:
            reasons = [self._shown(reason, inserted.line) for reason in found.reasons]
            raise Refusal(found.cause, reasons)
        return found

    def learn(self, found: Examination) -> None:
        """Let later drafts be compared with a family that was kept, and attacked with its
        writes.
        """
        known = self.known
        strays = {
            universe: [*known.strays.get(universe, ()), *found.strays.get(universe, ())]
            for universe in {*known.strays, *found.strays}
        }
        own = [] if found.signature is None else [found.signature]
        self._known = Survey([*known.signatures, *own], strays)

    def add(self, body: Mapping[str, Any]) -> None:
        """Write a family into the world's tasks.yaml, unless one of its name stands there."""
        if any(known.get("id") == body["id"] for known in self.bodies):
            return
        target = self.file.resolve()
        text = with_family(self._text(), body).text
        data = text.encode()
        if target.is_file() and b"\r\n" in target.read_bytes():
            data = text.replace("\n", "\r\n").encode()
        write_file(target, data, target.with_name(f".{target.name}.new"))

    def _text(self) -> str:
        if not self.file.is_file():
            return NEW_FILE
        with disk(self.file, "read"):
            return self.file.read_text("utf-8")

    def _has_families(self) -> bool:
        others = (self._folder / name for name in FAMILY_READERS.builtin if name != FILE)
        return bool(self.bodies) or any(file.is_file() for file in others)

    def _shown(self, reason: str, first: int) -> str:
        """A reason with lines of the family instead of places in files of this machine."""

        def line(found: re.Match[str]) -> str:
            return f"line {int(found.group(1)) - first + 1}: "

        bare = re.sub(rf"\S*{re.escape(FILE)}:(\d+): ", line, reason)
        return bare.replace(f"{self._folder}/", "").replace(str(self._folder), "the world")


def numbered(body: Mapping[str, Any]) -> str:
    """A family as it is read, with the numbers of its lines."""
    lines = family_text(body).splitlines()
    return "\n".join(f"{number:3} {line}" for number, line in enumerate(lines, 1))


def check_insertion(file: Path) -> None:
    """Raise OperatorError if no family can be added to a tasks.yaml."""
    if file.is_file():
        try:
            with_family(file.read_text("utf-8"), {"id": "family"})
        except UnicodeDecodeError:
            raise OperatorError(f"{file}: not UTF-8") from None
