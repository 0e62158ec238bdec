"""The tasks of a list in a world: each entry is made into a task and proved; what fails is left
out with its reason.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from envs.errors import EnvsError
from envs.sandboxes.base import Template
from envs.types import Pins
from envs.world.loader import World
from synth.core.foundation.hashing import canonical
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.pools import ListedTask, PublishedFamily
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import FileFamilies
from synth.core.tasks.yaml.body import Body, WorldRules
from synth.core.tasks.yaml.family import read_rules
from synth.core.validation.argument_provenance import ungrounded_arguments
from synth.core.validation.prove import prove_and_keep
from synth.errors import TaskError
from synth.ext.action_lists.entries import Entry, Kind, LeftOut, Refused, Unreadable, read_entries
from synth.ext.action_lists.making import body_of, empty_body
from synth.ext.action_lists.wording import wants_consent
from synth.task import Task

AUTO, ALWAYS, NEVER = "auto", "always", "never"
"""Values of the option `consent`."""

_YAML, _OTHERS = "tasks.yaml", ("tasks.py", "questions.json")


@dataclass(frozen=True)
class ListSettings:
    """The file of a list, the options of its task source, and the family's id."""

    path: Path
    consent: str
    family: str

    @classmethod
    def of(cls, path: str, consent: str) -> ListSettings:
        """The settings for a path; the family is named after the file."""
        file = Path(path).expanduser()
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", file.stem)[:64] or "list"
        return cls(file, consent, name if re.match(r"[A-Za-z0-9_]", name) else f"_{name[:63]}")


@dataclass(frozen=True)
class ActionFamily(PublishedFamily):
    """The family of a list. ``worked_out`` holds the inferred arguments of each task's gold, by
    the task's id in the list.
    """

    worked_out: Mapping[str, Collection[tuple[str, object]]]

    def inferred(self, task: Task) -> Collection[tuple[str, object]]:
        return self.worked_out.get(str(task.slots["task_id"]), ())


class ListTasks(FamilyTasks):
    """The proved tasks of a list in one universe. ``refused`` holds what is left out,
    ``useless_reads`` the reads that are not made, by the task's id in the list.
    """

    refused: Sequence[LeftOut] = ()
    useless_reads: Mapping[str, Sequence[str]] = MappingProxyType({})


def list_tasks(
    settings: ListSettings,
    world: World,
    template: Template,
    families: Sequence[str] | None,
    universe: int,
    identity: str,
) -> ListTasks:
    """Make and prove the tasks of a list.

    Raises :class:`~synth.errors.OperatorError` for a file that cannot be read, and
    :class:`TaskError` for an unknown family.
    """
    refused: list[LeftOut] = []
    inferred: dict[str, Collection[tuple[str, object]]] = {}
    useless: dict[str, Sequence[str]] = {}
    entries = _distinct(read_entries(settings.path), refused)
    rules = _rules(world, template, universe)

    def pool(listed: Sequence[ListedTask], names: Sequence[str] | None = None) -> ListTasks:
        about = f"Tasks of the list {settings.path.name}."
        family = ActionFamily(settings.family, str(settings.path), 1, about, listed, inferred)
        read = FileFamilies([family], rules)
        return ListTasks(world, template, names, universe, given=lambda _: read, identity=identity)

    pool((), families)  # an unknown family is refused before the work
    drafts = {
        entry.id: _listed(entry, task)
        for entry, task in ((entry, empty_body(entry, rules)) for entry in entries.values())
    }
    drafted = pool(list(drafts.values()))
    policy = wants_consent(world.policy)
    kept: dict[str, ListedTask] = {}
    for entry in entries.values():
        wanted = policy or wants_consent(_whole_text(entry))
        asks = wanted if settings.consent == AUTO else settings.consent == ALWAYS
        (draft,) = drafted.find(settings.family, {"task_id": entry.id})
        try:
            made = body_of(entry, draft, world, template, rules, asks_consent=asks)
            kept[entry.id] = _listed(entry, made.body)
            inferred[entry.id] = made.inferred
            useless[entry.id] = made.useless_reads
        except Refused as error:
            refused.append(LeftOut(entry.id, error.kind, error.reason))
    candidates = pool(list(kept.values()))
    for name in list(kept):
        (task,) = candidates.find(settings.family, {"task_id": name})
        if reason := asyncio.run(_fault(task, world, template, inferred[name])):
            refused.append(LeftOut(name, Kind.NOT_PROVED, reason))
            del kept[name]
    reads = {tool.name for tool in world.tools if tool.read_only}
    for item in _rivals([entries[name] for name in kept], reads):
        refused.append(item)
        del kept[item.id]
    out = pool(list(kept.values()), families)
    out.useless_reads = useless
    places = {name: place for place, name in enumerate(entries)}
    out.refused = sorted(refused, key=lambda item: places.get(item.id, -1))
    out.account.found("task", len(kept) + len(out.refused))
    out.account.use("task", len(kept))
    for item in out.refused:
        out.account.leave_out("task", item.id, f"it {item.kind}: {item.reason}")
    return out


def _distinct(found: Sequence[Entry | Unreadable], refused: list[LeftOut]) -> dict[str, Entry]:
    """The readable entries by id; of those that share an id, the first."""
    out: dict[str, Entry] = {}
    for item in found:
        if isinstance(item, Unreadable):
            refused.append(LeftOut(item.id, Kind.UNREADABLE, item.reason))
        elif item.id in out:
            message = f"the id {item.id!r} stands there twice; the first task with it is kept"
            refused.append(LeftOut(item.id, Kind.DUPLICATE_ID, message))
        else:
            out[item.id] = item
    return out


def _rivals(entries: Sequence[Entry], reads: Collection[str]) -> list[LeftOut]:
    """The entries whose users say the same and that expect other writes or outputs."""
    asked: dict[str, dict[str, str]] = {}
    for entry in entries:
        said = entry.scenario
        words = f"{said.request} {said.known} {said.unknown} {said.instructions}".casefold()
        calls = [(one.name, canonical(one.arguments)) for one in entry.calls]
        writes = sorted(call for call in calls if call[0] not in reads)
        gold = canonical([writes, sorted(entry.outputs)])
        asked.setdefault(" ".join(re.findall(r"\w+", words)), {})[entry.id] = gold
    why = "no agent could tell apart"
    return [
        LeftOut(name, Kind.OTHER_GOLD, f"{why} {', '.join(golds)}")
        for golds in asked.values()
        if len(set(golds.values())) > 1
        for name in golds
    ]


def _rules(world: World, template: Template, universe: int) -> WorldRules:
    """The rules that the world's own families share; the default ones without such a file."""
    file = world.path / _YAML
    if any((world.path / name).is_file() for name in _OTHERS):
        return replace(FamilyTasks(world, template, None, universe).rules, form=None)
    if not file.is_file():
        return WorldRules()
    tools = {tool.name: tool.parameters for tool in world.tools}
    with template.open(Pins()) as sandbox:
        return replace(read_rules(file, tools, Queries(sandbox, template)), form=None)


def _listed(entry: Entry, body: Body) -> ListedTask:
    return ListedTask({"task_id": entry.id}, entry.id, None, body)


def _whole_text(entry: Entry) -> str:
    scenario = entry.scenario
    return f"{scenario.request}\n{scenario.instructions}"


async def _fault(
    task: Task, world: World, template: Template, inferred: Collection[tuple[str, object]]
) -> str:
    """The reason for which a task does not prove itself; empty if it does."""
    try:
        proved, gold = await prove_and_keep(task, world, template)
    except TaskError as error:
        return error.message
    except EnvsError as error:
        return str(error)
    pure = {tool.name for tool in world.tools if tool.pure}
    ungrounded = ungrounded_arguments(proved, gold, pure, inferred)
    return "; ".join(message for _, message in ungrounded)
