"""A copy of a world in which drafts are proved, and the tasks.yaml that the good ones get into."""

from __future__ import annotations

import multiprocessing
import re
import resource
import shutil
import signal
import textwrap
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import yaml

from envs.errors import EnvsError
from envs.world.files import world_files
from envs.world.loader import World
from synth.core.dataset.store.atomic_files import disk, write_file
from synth.core.tasks.yaml.source_map import Map, Seq, load_yaml
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import FamilyChecker, Options
from synth.core.validation.executors import end_with_parent
from synth.errors import OperatorError, TaskError, all_task_errors
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.authoring.drafting.similarity import TASKS, Signature, signature, twin
from synth.ext.authoring.tasks_file import LEAST, family_text
from synth.plugins import FAMILY_READERS

MEMORY = 4 * 1024**3
"""Bytes that a proof may use."""

Strays = Mapping[int, Sequence[ToolStep]]
"""The writes of all families, by universe: a new family is attacked with them."""


@dataclass(frozen=True)
class _Survey:
    """The families that a world has."""

    signatures: Sequence[Signature] = ()
    strays: Strays = field(default_factory=dict[int, list[ToolStep]])


@dataclass(frozen=True)
class _Examination:
    """The finding on a draft: the cause and the reasons for which it is not kept, or nothing."""

    cause: str = ""
    reasons: Sequence[str] = ()
    capacity: int = 0
    signature: Signature | None = None
    strays: Strays = field(default_factory=dict[int, list[ToolStep]])


def survey(folder: Path, options: Options) -> _Survey:
    """The signatures and the writes of a world's families.

    Raises OperatorError for a world that cannot be read.
    """
    found = _in_process(_survey, (folder, options), None)
    if isinstance(found, _Survey):
        return found
    raise OperatorError(f"the world cannot be read: {found}")


def _examined(
    folder: Path, options: Options, family: str, known: _Survey, seconds: float
) -> _Examination:
    """Prove a family of the world in ``folder``, as `synth check` does, within ``seconds``."""
    found = _in_process(_examine, (folder, options, family, known), seconds)
    if isinstance(found, _Examination):
        return found
    if found is None:
        message = f"its proof takes more than {seconds:g} s: ask for fewer rows and calls"
        return _Examination("too slow", [message])
    return _Examination("broke off", [str(found)])


def _in_process(
    work: Callable[..., object], arguments: Sequence[object], seconds: float | None
) -> _Survey | _Examination | str | None:
    """The result of a function in a process of its own, or the reason why there is none; None if
    the time was over.

    The processes are forked from one that imports for all of them what a proof needs.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(there, work, *arguments))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(seconds) else None
    except EOFError:
        return "the proof ended its process: it may have used too much memory"
    finally:
        process.kill()
        process.join()
        here.close()


def _serve(there: Connection, work: Callable[..., object], *arguments: object) -> None:
    """Send the result of a function. Ctrl-C is for the parent, which then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    least = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (least, most))
    try:
        found = work(*arguments)
    except Exception as error:  # the boundary: what breaks a proof must not break the command
        found = f"{type(error).__name__}: {error}"
    there.send(found)


def _survey(folder: Path, options: Options) -> _Survey | str:
    strays: dict[int, list[ToolStep]] = {}
    signatures: list[Signature] = []
    try:
        with closing(FamilyChecker(folder, replace(options, per_case=1))) as checker:
            for name in checker.families():
                signatures.append(signature(name, checker.tasks(name, TASKS)))
                for universe in range(options.universes):
                    strays.setdefault(universe, []).extend(checker.prove(name, universe).writes)
    except (TaskError, EnvsError) as error:
        return str(error)
    return _Survey(signatures, strays)


def _examine(folder: Path, options: Options, family: str, known: _Survey) -> _Examination:
    try:
        with closing(FamilyChecker(folder, replace(options, families=(family,)))) as checker:
            checker.families()
            found = signature(family, checker.tasks(family, TASKS))
            if not any(found.tools):
                return _Examination("notation", ["gold calls no tool"])
            if other := twin(found, known.signatures):
                message = (
                    f"it repeats the family {other!r}: the same tools in the same order, and the"
                    " same words; write a family about other work"
                )
                return _Examination("duplicate", [message])
            return _proved(checker, family, known, found)
    except TaskError as error:
        return _Examination("notation", [str(one) for one in all_task_errors(error)])
    except EnvsError as error:
        return _Examination("notation", [str(error)])


def _proved(checker: FamilyChecker, family: str, known: _Survey, found: Signature) -> _Examination:
    strays: dict[int, list[ToolStep]] = {}
    capacity = 0
    for universe in range(checker.options.universes):
        if universe:
            checker.read(universe)
        proved = checker.prove(family, universe)
        capacity = capacity or proved.capacity
        if proved.problems:
            return _Examination("gold", list(proved.problems))
        strays[universe] = list(proved.writes)
        report = checker.attack(proved, [*known.strays.get(universe, ()), *proved.writes])
        for cause, reasons in (
            ("gold", report.problems),
            ("mutant survives", report.surviving),
            ("honest agent loses", report.honest_lost),
        ):
            if reasons:
                return _Examination(cause, list(reasons))
    if capacity < LEAST:
        return _Examination("too few tasks", [f"it has {capacity} task: at least {LEAST} are due"])
    return _Examination(capacity=capacity, signature=found, strays=strays)


NEW_FILE = "# Task families, written by a model and proved by `synth draft`.\nfamilies: []\n"
"""The text of a tasks.yaml without a family."""


@dataclass(frozen=True)
class _Inserted:
    """A text of tasks.yaml with a new family, whose own text begins in ``line`` (from 1)."""

    text: str
    line: int


def with_family(text: str, body: Mapping[str, object]) -> _Inserted:
    """The text with one more family at the end of its list.

    Raises OperatorError for a text whose list of families cannot be continued.
    """
    key, families = _families(text)
    new = family_text(body)
    if not families.value:
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        end = families.end_mark.index
        head = text[:start] + "families:\n"
        return _Inserted(head + new + text[end:].lstrip("\n"), head.count("\n") + 1)
    if families.flow_style:
        raise OperatorError(
            f"line {families.start_mark.line + 1} of tasks.yaml begins the list of families with"
            " `[`: write one `- id: ...` for each family, so that another can be added"
        )
    end = _end(text, families)
    head = text[:end].rstrip("\n") + "\n"
    indented = textwrap.indent(new, " " * families.start_mark.column)
    return _Inserted(head + indented + text[end:], head.count("\n") + 1)


def _families(text: str) -> tuple[Any, Any]:
    """The nodes of the key `families` and of its list."""
    try:
        root = cast("Any", yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise OperatorError(f"tasks.yaml is not valid YAML: {error}") from None
    if isinstance(root, yaml.MappingNode) and not root.flow_style:
        for key, value in cast("list[tuple[Any, Any]]", root.value):
            if key.value == "families" and isinstance(value, yaml.SequenceNode):
                return key, value
    raise OperatorError("tasks.yaml has no list `families`: add `families: []`")


def _end(text: str, families: Any) -> int:
    """The index behind the line in which the last family ends.

    A block's own end mark stands behind the comments that follow it; its last leaf's does not.
    """
    node = families
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    index = int(node.end_mark.index)
    if index and text[index - 1] == "\n":  # behind a block of text
        return index
    newline = text.find("\n", index)
    return len(text) if newline < 0 else newline + 1


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
        self._known: _Survey | None = None

    @property
    def known(self) -> _Survey:
        """The families that there are, read when they are first asked for."""
        if self._known is None:
            (self._folder / FILE).write_text(self._text(), "utf-8")
            others = (self._folder / name for name in FAMILY_READERS.builtin if name != FILE)
            some = self.bodies or any(file.is_file() for file in others)
            self._known = survey(self._folder, self._options) if some else _Survey()
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

    def prove(self, body: Mapping[str, Any]) -> _Examination:
        """Prove a family as it would stand in tasks.yaml. Raises :class:`Refusal`."""
        inserted = with_family(self._text(), body)
        (self._folder / FILE).write_text(inserted.text, "utf-8")
        found = _examined(self._folder, self._options, str(body["id"]), self.known, self._seconds)
        if found.cause:
            reasons = [self._shown(reason, inserted.line) for reason in found.reasons]
            raise Refusal(found.cause, reasons)
        return found

    def learn(self, found: _Examination) -> None:
        """Let later drafts be compared with a family that was kept, and attacked with its
        writes.
        """
        known = self.known
        strays = {
            universe: [*known.strays.get(universe, ()), *found.strays.get(universe, ())]
            for universe in {*known.strays, *found.strays}
        }
        own = [] if found.signature is None else [found.signature]
        self._known = _Survey([*known.signatures, *own], strays)

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
