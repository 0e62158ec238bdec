"""The task source ``actions``: a list of scenarios with expected calls, asked of any world that has
such tools. Each entry is made into a task and proved; what fails is left out with its reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from envs.errors import EnvsError
from envs.sandboxes.base import Template
from envs.types import Pins
from envs.world.loader import World
from synth.core.foundation.hashing import canonical, digest
from synth.core.rewards.process_gates import ReadBefore, tool_of
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.pools import PublishedFamily, TaskInstance
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import FileFamilies
from synth.core.tasks.setup_calls import SETUP, open_environment
from synth.core.tasks.yaml.body import Body, WorldRules
from synth.core.tasks.yaml.family import read_rules
from synth.core.tasks.yaml.step_templates import ConfirmTemplate, StepTemplate
from synth.core.tasks.yaml.user import SequelText, TopicText, UserText
from synth.core.types.checks import Gate
from synth.core.types.steps import CallStep, InstructStep
from synth.core.validation.argument_provenance import ungrounded_arguments
from synth.core.validation.prove import prove_and_keep
from synth.errors import TaskError
from synth.ext.action_lists.entries import Entry, ExpectedCall, Kind, LeftOut, Refused, read_entries
from synth.ext.action_lists.gold import GoldMaker, MadeGold, later_calls, topic_words
from synth.ext.action_lists.script import IDENTITY, WISHES, Script, script_of
from synth.ext.action_lists.wording import wants_consent
from synth.source import TaskSource
from synth.task import Task

_IDENTITY_WORDS = (
    "name",
    "email",
    "user id",
    "zip code",
    "phone number",
    "account",
    "verify",
    "verification",
    "authenticate",
    "identify",
)
_WISH_WORDS = ("preference", "prefer", "wish", "instructions", "condition")


@dataclass(frozen=True)
class _MadeBody:
    """The body of a task, and values of its gold's arguments, each with the tool, that an agent
    works out. ``useless_reads`` as in :class:`MadeGold`.
    """

    body: Body
    inferred: Collection[tuple[str, object]]
    useless_reads: Sequence[str]


def settled_script(entry: Entry, writers: Collection[str]) -> Script:
    """The script of an entry, in which each later sentence is a request that follows a write.

    One without a value of its own belongs to the opening, any other that cannot follow a write to
    the wishes.
    """
    script = script_of(entry.scenario)
    dues = later_calls(entry.calls, script)
    kept: dict[int, list[str]] = {}
    opening, wishes = [script.opening], [script.topics.get(WISHES, "")]
    for sentence, due in zip(script.later, dues, strict=True):
        follows = any(call.name in writers for call in entry.calls[: max(due - 1, 0)])
        if due == 0:
            opening.append(sentence)
        elif not follows or (kept and due < max(kept)):
            wishes.append(sentence)
        else:
            kept.setdefault(due, []).append(sentence)
    topics = {**script.topics, WISHES: " ".join(filter(None, wishes))}
    return Script(
        " ".join(opening),
        {name: text for name, text in topics.items() if text},
        [" ".join(texts) for texts in kept.values()],
        script.manner,
    )


def _body_of(
    entry: Entry,
    draft: Task,
    world: World,
    template: Template,
    rules: WorldRules,
    *,
    asks_consent: bool,
) -> _MadeBody:
    """The whole body of an entry's task. Raises
    :class:`~synth.ext.action_lists.entries.Refused`.
    """
    writers = {tool.name for tool in world.whole_toolbox.tools if not tool.read_only}
    script = settled_script(entry, writers)
    try:
        ahead = open_environment(draft, world, template)
    except TaskError as error:
        raise Refused(Kind.NOT_SET_UP, error.message) from None
    with closing(ahead), closing(open_environment(draft, world, template)) as behind:
        maker = GoldMaker(entry, script, world, template, draft, ahead, behind)
        gold = maker.make(asks_consent=asks_consent)
    gold = replace(gold, steps=_with_reads(gold.steps, rules, world))
    calls = [
        ExpectedCall(step.tool, step.arguments)
        for step in gold.steps
        if isinstance(step, CallStep | InstructStep)
    ]
    body = _body(_user(script, gold, calls), rules, gold.steps, _gates(entry, gold))
    return _MadeBody(body, gold.inferred, gold.useless_reads)


def _with_reads(
    steps: Sequence[StepTemplate], rules: WorldRules, world: World
) -> list[StepTemplate]:
    """Gold with the reads that the world demands before its calls and that it does not make, as far
    as the arguments of a call are enough for them. They come before the call is proposed.
    """
    demands = ReadBefore().parse_options(rules.read_before)
    out: list[StepTemplate] = []
    for step in steps:
        if isinstance(step, CallStep):
            place = len(out)
            while place and isinstance(out[place - 1], ConfirmTemplate):
                place -= 1
            made = {
                (one.tool, canonical(dict(one.arguments)))
                for one in out
                if isinstance(one, CallStep)
            }
            for lookups in demands.get(step.tool, ()):
                reads = [_read(world, tool_of(lookup), step) for lookup in lookups]
                known = [read for read in reads if read is not None]
                if known and made.isdisjoint(
                    (one.tool, canonical(dict(one.arguments))) for one in known
                ):
                    out.insert(place, known[0])
        out.append(step)
    return out


def _read(world: World, name: str, call: CallStep) -> CallStep | None:
    """The call of a read with the arguments that it shares with a call; None if it needs others."""
    parameters = world.toolbox[name].parameters
    known = {
        key: call.arguments[key]
        for key in parameters.get("properties", {})
        if key in call.arguments
    }
    return CallStep(name, known) if known.keys() >= set(parameters.get("required", ())) else None


def _body(
    user: UserText, rules: WorldRules, gold: Sequence[StepTemplate], gates: Sequence[Gate]
) -> Body:
    return Body(
        user=user,
        answer=None,
        compare_answer={},
        oracle={},
        gold=gold,
        gates=gates,
        compare=rules.compare,
        alternatives=(),
        transient=rules.transient,
        uses=frozenset(),
    )


def _user(script: Script, gold: MadeGold, calls: Sequence[ExpectedCall]) -> UserText:
    first, *later = gold.consents
    return UserText(
        says=[script.opening],
        persona=[script.manner] if script.manner else (),
        knows={name: _topic(name, text, calls) for name, text in script.topics.items()},
        consents=first,
        then=[
            SequelText("done", [text], {}, consents)
            for text, consents in zip(script.later, later, strict=True)
        ],
    )


def _topic(name: str, text: str, calls: Sequence[ExpectedCall]) -> TopicText:
    words = topic_words(calls, text)
    if name == IDENTITY:
        named = " and the ".join(words) or "name and the user id or email address"
        words = list(dict.fromkeys([*words, *_IDENTITY_WORDS]))
        return TopicText(
            [text], [f"To verify your identity, could you tell me the {named}?"], words
        )
    named = " and the ".join(words)
    about = f", such as the {named}" if named else ""
    words = list(dict.fromkeys([*words, *_WISH_WORDS]))
    return TopicText([text], [f"Could you tell me your preferences{about}?"], words)


def _gates(entry: Entry, gold: MadeGold) -> list[Gate]:
    gates = [Gate("state")]
    before = [word for word, there in (("ask", gold.asks), ("confirm", gold.confirms)) if there]
    if before and gold.writes:
        gates.append(Gate("no_write_before", before))
    if gold.required:
        gates.append(Gate("required_calls", sorted(set(gold.required))))
    done = (step for step in gold.steps if isinstance(step, CallStep | InstructStep))
    options: dict[str, object] = {"acts": sorted({step.tool for step in done})}
    if entry.outputs:
        options["must"] = list(entry.outputs)
    return [*gates, Gate("reply", options)]


AUTO, ALWAYS, NEVER = "auto", "always", "never"
"""Values of the option `consent`."""

_YAML, _OTHERS = "tasks.yaml", ("tasks.py", "questions.json")


@dataclass(frozen=True)
class ListSettings:
    """The file of a list, the options of its task source, and the family's id."""

    path: Path
    consent: str
    family: str

    @property
    def sha256(self) -> str:
        """The digest of the file."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @classmethod
    def of(cls, path: str, consent: str) -> ListSettings:
        """The settings for a path; the family is named after the file."""
        file = Path(path).expanduser()
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", file.stem)[:64] or "list"
        return cls(file, consent, name if re.match(r"[A-Za-z0-9_]", name) else f"_{name[:63]}")


@dataclass(frozen=True)
class _ActionFamily(PublishedFamily):
    """The family of a list. ``worked_out`` holds the inferred arguments of each task's gold, by
    the task's id in the list.
    """

    worked_out: Mapping[str, Collection[tuple[str, object]]]

    def inferred(self, task: Task) -> Collection[tuple[str, object]]:
        return self.worked_out.get(str(task.slots["task_id"]), ())


class ListTasks(FamilyTasks):
    """The proved tasks of a list in one universe. ``refused`` holds what is left out,
    ``useless_reads`` the reads that are not made, ``entries`` the list's, by the task's
    id in it.
    """

    refused: Sequence[LeftOut] = ()
    entries: Mapping[str, Entry] = MappingProxyType({})
    useless_reads: Mapping[str, Sequence[str]] = MappingProxyType({})

    def make(
        self, family: str, case: str | None, instance: TaskInstance, phrasing: str | None = None
    ) -> Task:
        task = super().make(family, case, instance, phrasing)
        setup = self.entries[str(task.slots["task_id"])].setup
        made = [{"tool": call.name, "arguments": dict(call.arguments)} for call in setup]
        return task.with_extra(SETUP, made or None)


def list_tasks(
    settings: ListSettings,
    world: World,
    template: Template,
    families: Sequence[str] | None,
    universe: int,
) -> ListTasks:
    """Make and prove the tasks of a list.

    Raises :class:`~synth.errors.OperatorError` for a file that cannot be read, and
    :class:`TaskError` for an unknown family.
    """
    refused: list[LeftOut] = []
    inferred: dict[str, Collection[tuple[str, object]]] = {}
    useless: dict[str, Sequence[str]] = {}
    entries = _distinct(read_entries(settings.path), refused)
    identity = digest(settings.sha256, settings.consent)
    rules = _rules(world, template, universe)

    def pool(listed: Sequence[TaskInstance], names: Sequence[str] | None = None) -> ListTasks:
        about = f"Tasks of the list {settings.path.name}."
        family = _ActionFamily(settings.family, str(settings.path), 1, about, listed, inferred)
        read = FileFamilies([family], rules)
        tasks = ListTasks(world, template, names, universe, given=lambda _: read, identity=identity)
        tasks.entries = entries
        return tasks

    pool((), families)  # an unknown family is refused before the work
    drafted = pool(  # without gold, to know the clock and the seed of a task
        [
            _listed(entry, _body(UserText([entry.scenario.request]), rules, (), ()))
            for entry in entries.values()
        ]
    )
    policy = wants_consent(world.policy)
    kept: dict[str, TaskInstance] = {}
    for entry in entries.values():
        told = entry.scenario
        wanted = policy or wants_consent(f"{told.request}\n{told.instructions}")
        asks = wanted if settings.consent == AUTO else settings.consent == ALWAYS
        (draft,) = drafted.find(settings.family, {"task_id": entry.id})
        try:
            made = _body_of(entry, draft, world, template, rules, asks_consent=asks)
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
    reads = {tool.name for tool in world.whole_toolbox.tools if tool.read_only}
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


def _distinct(found: Sequence[Entry | LeftOut], refused: list[LeftOut]) -> dict[str, Entry]:
    """The readable entries by id; of those that share an id, the first."""
    out: dict[str, Entry] = {}
    for item in found:
        if isinstance(item, LeftOut):
            refused.append(item)
        elif item.id in out:
            message = f"the id {item.id!r} stands there twice; the first task with it is kept"
            refused.append(LeftOut(item.id, Kind.DUPLICATE_ID, message))
        else:
            out[item.id] = item
    return out


def _rivals(entries: Sequence[Entry], reads: Collection[str]) -> list[LeftOut]:
    """The entries whose users say the same in the same state, and that expect other writes or
    outputs.
    """
    asked: dict[str, dict[str, str]] = {}
    for entry in entries:
        said = entry.scenario
        words = f"{said.request} {said.known} {said.unknown} {said.instructions}".casefold()
        calls = [(one.name, canonical(one.arguments)) for one in entry.calls]
        writes = sorted(call for call in calls if call[0] not in reads)
        gold = canonical([writes, sorted(entry.outputs)])
        state = canonical([(one.name, one.arguments) for one in entry.setup])
        same = " ".join(re.findall(r"\w+", words)) + state
        asked.setdefault(same, {})[entry.id] = gold
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


def _listed(entry: Entry, body: Body) -> TaskInstance:
    return TaskInstance({"task_id": entry.id}, entry.id, body)


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
    return "; ".join(message for _, message in ungrounded_arguments(proved, gold, pure, inferred))


@dataclass(frozen=True)
class ActionListOptions:
    """``path`` is the file of the list. ``consent`` says which writes wait for the user's yes:
    ``auto`` (where the world's policy or the scenario asks for it), ``always`` or ``never``.
    """

    path: str
    consent: Literal["auto", "always", "never"] = "auto"


class ActionListSource(TaskSource):
    """The tasks of one list are one family, named after the file."""

    Options = ActionListOptions
    path_is = "the file of the list, as in tasks.path=tasks.json"

    def __init__(self, options: ActionListOptions) -> None:
        super().__init__(options)
        self._settings = ListSettings.of(options.path, options.consent)

    def open(
        self,
        world: World,
        template: Template,
        families: Sequence[str] | None = None,
        universe: int = 0,
    ) -> ListTasks:
        settings = self._settings
        tasks = list_tasks(settings, world, template, families, universe)
        if not tasks.families or not tasks.capacity(settings.family):
            first = f"; the first: {tasks.refused[0]}" if tasks.refused else ""
            message = f"no task of the list proves itself in {world.name}{first}"
            raise TaskError(message, str(settings.path), family=settings.family)
        return tasks
