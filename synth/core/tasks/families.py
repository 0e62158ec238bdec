"""The families of a world's folder as a task source."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy

from envs.sandboxes.base import Template
from envs.types import Pins
from envs.world.loader import World
from synth.core.foundation.hashing import derive_seed, digest
from synth.core.tasks.forms import form_of
from synth.core.tasks.grounding import permuted
from synth.core.tasks.phrasings import UserPhrasing, as_written, name_of, world_phrasings
from synth.core.tasks.pools import CasePool, TaskInstance, case_pools, turn
from synth.core.tasks.queries import Queries
from synth.core.tasks.readers import FileFamilies, read_families
from synth.core.tasks.system_prompt import system_prompt
from synth.core.tasks.yaml.body import WorldRules
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.gates import realise_gates, with_defaults
from synth.core.tasks.yaml.scope import nearest
from synth.core.tasks.yaml.step_templates import realise
from synth.core.tasks.yaml.template import fill, text_of
from synth.core.tasks.yaml.user import UserText
from synth.core.types.checks import EndRules
from synth.errors import EmptyFamilyError, TaskError
from synth.source import TaskFamily, TaskPool, TaskSource
from synth.task import Task

WORKDAY_MINUTES = 8 * 60
"""The longest time by which a task's clock is later than the world's ``now``: a working day."""


FAMILY = "family"
"""The kind of a family in an account."""

MOST_NAMED = 8
"""Parts of an account that an error names."""


class FamilySource(TaskSource):
    """The task source ``families``: what the files of a world's folder ask."""

    def open(
        self,
        world: World,
        template: Template,
        families: Sequence[str] | None = None,
        universe: int = 0,
    ) -> FamilyTasks:
        return FamilyTasks(world, template, families, universe)


class FamilyTasks(TaskPool):
    """The tasks of one universe of a world, by default of the families in the world's folder.

    ``given`` are families of another origin. The grounding rows are held in memory, and nothing
    else is. Raises :class:`~synth.errors.TaskError` for a family that cannot be grounded; one that
    has no task in a universe after the first is ``absent``. ``phrasings`` are the users of families
    in other words, by default from the world's phrasings.jsonl.
    """

    def __init__(
        self,
        world: World,
        template: Template,
        families: Sequence[str] | None = None,
        universe: int = 0,
        *,
        given: Callable[[Queries], FileFamilies] | None = None,
        identity: str = "",
    ) -> None:
        self.world = world
        self.template = template
        self.universe = universe
        self.identity = self._origin = identity
        with template.open(Pins()) as sandbox:
            queries = Queries(sandbox, template)
            read = read_families(world, universe, queries) if given is None else given(queries)
            self.rules = read.rules or WorldRules()
            self.account = read.account
            absent = dict(read.absent)
            self.all_families = frozenset([*absent, *(family.id for family in read.families)])
            self._form = form_of(self.rules.form, read.families)
            known = read.families if template.fingerprint is None else self._reading(read, families)
            chosen = self._chosen(known, families, absent)
            self._pools: dict[str, list[CasePool]] = {}
            for family in chosen:
                try:
                    self._pools[family.id] = case_pools(family, queries)
                except EmptyFamilyError as error:
                    if universe == 0:
                        raise
                    absent[family.id] = error.message
        self.families = [family for family in chosen if family.id in self._pools]
        self.absent = {name: absent[name] for name in absent if not families or name in families}
        self.phrasings: Mapping[str, Sequence[tuple[UserPhrasing, UserText]]] = {}
        if given is None:
            known = () if self.world.databases else self.all_families
            found = world_phrasings(self.world.path, read.families, known)
            self.phrasings, self.notes = found.users, found.notes
        self._barred: Mapping[str, Collection[str]] = {}
        self._named = self._in_words(chosen)

    def _reading(self, read: FileFamilies, names: Sequence[str] | None) -> list[TaskFamily]:
        """The families whose gold can be played: in a database that cannot be written, no tool of
        it writes.

        Raises :class:`~synth.errors.TaskError` if one of ``names`` cannot be asked, or none can.
        """
        writable = self.template.writable
        writers = {tool.name for tool in self.world.tools if not (tool.read_only or writable)}
        kept: list[TaskFamily] = []
        for family in read.families:
            self.account.found(FAMILY)
            if found := writers & set(family.calls):
                why = f"gold calls {', '.join(sorted(found))}, which may write"
                self.account.leave_out(FAMILY, family.id, why)
            else:
                self.account.use(FAMILY)
                kept.append(family)
        unasked = [one for one in self.account.entries if one.kind == FAMILY]
        refused = [one for one in unasked if one.name in (names or ())]
        if refused or not kept:
            lines = refused or self.account.entries
            words = "; ".join(f"{one.name}: {one.why}" for one in lines[:MOST_NAMED])
            raise TaskError(f"nothing can be asked of the attached database. {words}")
        return kept

    def _chosen(
        self, known: Sequence[TaskFamily], names: Sequence[str] | None, absent: Collection[str]
    ) -> list[TaskFamily]:
        by_id = {family.id: family for family in known}
        if self.world.databases:  # one family per database, hence none of some names here
            return [family for family in known if not names or family.id in names]
        for name in names or ():
            if name not in by_id and name not in absent:
                raise TaskError(f"unknown family {name!r}; {nearest(name, by_id)}", known[0].file)
        wanted = [by_id[name] for name in dict.fromkeys(names or ()) if name in by_id]
        return wanted if names else list(known)

    def capacity(self, family: str) -> int:
        return sum(len(pool) for pool in self._pools[family])

    def cases(self, family: str) -> list[str | None]:
        return [pool.case for pool in self._pools[family]]

    def task(self, family: str, index: int, seed: int) -> Task:
        """The ``index``-th task of a family under a run's seed.

        Cases alternate as long as both last. The task's own id, wording and clock depend on its
        content only.
        """
        pool, index = turn(self._pools[family], index)
        position = permuted(index, len(pool), f"{seed}/{family}/{pool.case}")
        return self.make(family, pool.case, pool[position])

    def phrasing_names(self) -> dict[str, list[str]]:
        return {name: [one[0] for one in found] for name, found in self._named.items()}

    def without_phrasings(self, names: Mapping[str, Collection[str]]) -> FamilyTasks:
        pool = copy(self)
        pool._barred = names  # noqa: SLF001
        pool.identity = digest(self._origin, {name: list(found) for name, found in names.items()})
        return pool

    def find(
        self, family: str, slots: Mapping[str, object], phrasing: str | None = None
    ) -> list[Task]:
        """The family's tasks about these slots, in the words of that name where they are known.

        There is one, unless another version of the family made the slots.
        """
        return [
            self.make(family, pool.case, instance, phrasing)
            for pool in self._pools[family]
            for instance in pool.find(slots)
        ]

    def make(
        self, family: str, case: str | None, instance: TaskInstance, phrasing: str | None = None
    ) -> Task:
        """The task about some slots. Each text is drawn on its own, by the task's content;
        ``phrasing`` names the words of its user.

        Raises :class:`TaskError` for a text that names a field that a slot does not have.
        """
        try:
            return self._realised(family, case, instance, phrasing)
        except TaskError as error:
            known = next(known for known in self.families if known.id == family)
            raise TaskError(error.message, known.file, known.line, family) from None

    def _realised(
        self, family: str, case: str | None, instance: TaskInstance, phrasing: str | None
    ) -> Task:
        slots, body = instance.slots, instance.body
        identity = digest(family, case, self.universe, slots)
        draw = derive_seed(identity)
        started = dt.datetime.fromisoformat(self.rules.now)
        now = (started + dt.timedelta(minutes=draw % WORKDAY_MINUTES)).isoformat(timespec="seconds")
        chosen, words, opening = self.words(family, body.user, draw, phrasing)
        prompt = text_of(fill(opening, "$slot", slots))
        if body.hint is not None:
            prompt = f"{prompt} {text_of(fill(body.hint, '$slot', slots))}"
        user = words.role(prompt, slots, case, draw)
        asked = (
            {name: topic.asked for name, topic in user.every_topic.items()}
            if user is not None
            else {}
        )
        who = body.user.signed_in
        signed_in = None if who is None else text_of(fill(who, "$slot", slots))
        return Task(
            id=f"{family}-{identity}",
            family=family,
            env=self.world.name,
            prompt=prompt,
            gold=realise(body.gold, slots, case, draw >> 8, asked),
            slots=slots,
            key=instance.key,
            case=case,
            universe=self.universe,
            now=now,
            seed=draw,
            system=system_prompt(self.world.policy, now, signed_in),
            answer=body.answer,
            form=self._form,
            rules=EndRules(
                body.compare, body.compare_answer, body.transient, tuple(body.alternatives)
            ),
            gates=realise_gates(
                with_defaults(body.gates, self.world, self.rules.read_before), slots
            ),
            oracle_sql=body.oracle,
            user=user,
            extras={
                name: value
                for name, value in (("difficulty", body.difficulty), ("phrasing", chosen))
                if value is not None
            },
        )

    def words(
        self, family: str, user: UserText, draw: int, phrasing: str | None
    ) -> tuple[str | None, UserText, object]:
        """The words of a task's user: their name, the user, and the compiled request. They
        have the name ``phrasing``, or else are drawn.
        """
        named = self._named.get(family)
        if named is None:
            return None, user, user.says[draw % len(user.says)]
        for one in named:
            if one[0] == phrasing:
                return one
        barred = self._barred.get(family, ())
        open_to = [one for one in named if one[0] not in barred] if barred else named
        return open_to[draw % len(open_to)]

    def _in_words(
        self, families: Sequence[TaskFamily]
    ) -> dict[str, list[tuple[str, UserText, object]]]:
        """The user of each family of tasks.yaml in each of its wordings, by name: first the
        author's.
        """
        named: dict[str, list[tuple[str, UserText, object]]] = {}
        for family in families:
            if isinstance(family, Family):
                user = family.body.user
                own = [(name_of(as_written(text)), user, text) for text in user.says]
                others = self.phrasings.get(family.id, ())
                more = [(one.name, other, other.says[0]) for one, other in others]
                named[family.id] = [*own, *more]
        return named
