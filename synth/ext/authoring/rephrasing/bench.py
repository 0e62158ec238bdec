"""Proofs of a world's families in other words, in one thread of this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from envs.sandboxes.base import Template
from envs.world.loader import World
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.phrasings import (
    REQUEST,
    UserPhrasing,
    as_written,
    digest_of,
    places_of,
    reworded_user,
    slots_in,
    slots_of,
)
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.template import fill, text_of
from synth.core.tasks.yaml.user import UserText
from synth.core.validation.check import FamilyChecker, Options, Proved
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.authoring.rephrasing.checks import FamilyWords, GoldSample, check_words
from synth.ext.variety.wording.masked import texts_in
from synth.task import Task

REASONS = 3
"""Findings of a proof that are kept."""


class NotRephrased(Exception):
    """A family cannot have other words; the message says why."""


class _TrialTasks(FamilyTasks):
    """Tasks in their author's words, or all in the words of ``trial``, a user of one family."""

    trial: tuple[str, UserText] | None = None

    def words(
        self, family: str, user: UserText, draw: int, phrasing: str | None
    ) -> tuple[str | None, UserText, object]:
        if self.trial is not None and self.trial[0] == family:
            return None, self.trial[1], self.trial[1].says[0]
        return None, user, user.says[draw % len(user.says)]


class PhrasingBench:
    """The families of a world's folder. Close it, in the thread that used it.

    Raises what :class:`FamilyChecker` raises.
    """

    def __init__(self, folder: Path, options: Options) -> None:
        self._pool: _TrialTasks | None = None
        self._checker = FamilyChecker(folder, options, self._open)
        try:
            self.families = self._checker.families()
        except BaseException:
            self._checker.close()
            raise

    def _open(
        self, world: World, template: Template, families: Sequence[str] | None, universe: int
    ) -> FamilyTasks:
        self._pool = _TrialTasks(world, template, families, universe)
        return self._pool

    @property
    def _tasks(self) -> _TrialTasks:
        assert self._pool is not None, "the families are read at the beginning"
        return self._pool

    def _family(self, name: str) -> Family:
        family = next(family for family in self._tasks.families if family.id == name)
        if not isinstance(family, Family):
            raise NotRephrased("its words are in Python, not in tasks.yaml")
        return family

    def words(self, name: str) -> FamilyWords:
        """The words of a family, which has to prove itself as it is.

        Raises :class:`NotRephrased`.
        """
        family = self._family(name)
        proved, problems = self._prove(name)
        if problems:
            raise NotRephrased(f"it does not prove itself as it is: {problems[0]}")
        user = family.body.user
        texts = {
            place: list(dict.fromkeys(map(as_written, found)))
            for place, found in places_of(user).items()
        }
        return FamilyWords(
            name,
            digest_of(user),
            texts,
            [_sample(case.task, user) for case in proved.cases],
            [tool.name for tool in self._checker.world.tools],
            [one.texts[REQUEST] for one, _ in self._tasks.phrasings.get(name, ())],
        )

    def judge(self, phrasing: UserPhrasing, own: FamilyWords, kept: Sequence[str]) -> None:
        """Raise :class:`Refusal` for a phrasing that cannot be kept beside the requests ``kept``:
        by its words, or since its family does not prove itself with it.
        """
        check_words(phrasing, own, kept)
        family = self._family(phrasing.family)
        try:
            user = reworded_user(family.body.user, phrasing, slots_of(family))
        except ValueError as error:
            raise Refusal("form", (str(error),)) from None
        tasks = self._tasks
        tasks.trial = (phrasing.family, user)
        try:
            problems = self._prove(phrasing.family)[1]
        finally:
            tasks.trial = None
        if problems:
            raise Refusal("proof", problems[:REASONS])

    def _prove(self, name: str) -> tuple[Proved, list[str]]:
        """Prove a family as `synth check` does, but for the attacks on it, which do not read the
        user's words; returns what speaks against it as well.
        """
        proved = self._checker.prove(name, 0)
        report = self._checker.attack(proved, None)
        problems = [*report.problems, *report.honest_lost]
        return proved, [" ".join(problem.split()) for problem in problems]

    def close(self) -> None:
        self._checker.close()


def _sample(task: Task, user: UserText) -> GoldSample:
    """What the checks of words know about a task."""
    texts = [text for found in places_of(user).values() for text in found]
    names = {name.partition(".")[0] for text in texts for name in slots_in(text)}
    filled = [text_of(fill(text, "$slot", task.slots)) for text in texts]
    end = task.end
    values = set[str]() if end is None else texts_in([list(end.played), end.answer])
    slots = {name: text_of(task.slots[name]) for name in sorted(names)}
    return GoldSample(slots, " ".join([*filled, task.system]), frozenset(values))
