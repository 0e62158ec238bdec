"""A battery of adversarial agents, played end to end over every family and case of both worlds:
none earns what it should not.

`pytest -m long` plays more agents of each kind on more tasks, in two universes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from envs.sandboxes.base import Template
from envs.types import Limits
from envs.world.loader import World, load_world
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.validation.attacks.steps import acts, moves_of, talk
from synth.core.validation.prove import prove_and_keep
from synth.episode import Episode
from synth.errors import ModelError, OperatorError
from synth.rewards import Evidence
from synth.task import Task
from tests.e2e.adversaries import FORGED, Adversary, Case, Script, Turn, blind, cheats, truly_gold

WORLDS = ("ehr_db", "shop")
LIMITS = AgentLimits(max_turns=200, max_tool_calls=1000)
LOOKED_AT = 60
"""Tasks of a family among which its cases are looked for."""

OPEN_ENDED = {
    "either_of_two",
    "divided_dose",
    "swap_for_another_colour",
    "size_sold_out_in_that_colour",
}
"""Families whose requests leave a choice: there another end may be right."""


@dataclass
class Arena:
    """A world in one universe, with some cases of each family's cases."""

    world: World
    template: Template
    cases: list[Case]

    def play(
        self, task: Task, adversaries: Sequence[Adversary]
    ) -> list[tuple[float | None, Evidence]]:
        """The rewards, and what was left behind. Nothing that an agent does may break a tool or the
        judging.
        """

        async def all_of_them() -> list[tuple[float | None, Evidence]]:
            return [await self._play(task, each) for each in adversaries]

        return asyncio.run(all_of_them())

    async def _play(self, task: Task, adversary: Adversary) -> tuple[float | None, Evidence]:
        with Episode(task, self.world, self.template, Limits()) as episode:
            agent = ReactAgent(Script(adversary.turns), episode.call, LIMITS)
            try:
                run = await agent.run(
                    episode.messages, episode.say if task.user is not None else None
                )
                episode.said = run.said
            except ModelError:  # an agent that says nothing at all, which a run would ask again
                episode.said = ""
            return episode.score().reward, episode.evidence()

    def neighbours(self, case: Case) -> list[Case]:
        """The cases that are not about the same, of the family itself first."""
        others = [each for each in self.cases if each.task.id != case.task.id]
        return sorted(others, key=lambda each: each.task.family != case.task.family)


def arena(name: str, universe: int, each_case: int) -> Iterator[Arena]:
    world = load_world(find_world(name))
    with world.template(universe=universe) as template:
        source = FamilyTasks(world, template, None, universe)
        cases: list[Case] = []
        for family in source.families:
            held: dict[str | None, int] = defaultdict(int)
            for at in range(min(source.capacity(family.id), LOOKED_AT)):
                task = source.task(family.id, at, 0)
                if held[task.case] < each_case:
                    held[task.case] += 1
                    proved, gold = asyncio.run(prove_and_keep(task, world, template))
                    cases.append(Case(proved, moves_of(gold.run), gold.evidence))
        yield Arena(world, template, cases)


@pytest.fixture(scope="module", params=WORLDS)
def place(request: pytest.FixtureRequest) -> Iterator[Arena]:
    yield from arena(request.param, 0, 1)


def some(case: Case, adversaries: Iterable[Adversary], most: int) -> list[Adversary]:
    """At most so many of each kind; which ones they are, the case decides."""
    kinds: dict[str, list[Adversary]] = defaultdict(list)
    for each in adversaries:
        kinds[each.kind].append(each)
    shift = case.task.seed
    return [
        each[(shift + at) % len(each)]
        for each in kinds.values()
        for at in range(min(most, len(each)))
    ]


def undeserved(place: Arena, case: Case, adversaries: Sequence[Adversary]) -> list[str]:
    """Which of them earned what they should not have, or were not judged at all."""
    found: list[str] = []
    played = place.play(case.task, adversaries)
    for adversary, (reward, evidence) in zip(adversaries, played, strict=True):
        if reward is None:
            found.append(f"{case}: {adversary.kind} ({adversary.detail}) is unscored")
        elif reward == 1.0 and (
            adversary.must_fail or not (truly_gold(case, evidence) or _other_end(case, evidence))
        ):
            found.append(f"{case}: {adversary.kind} ({adversary.detail}) earns 1"[:300])
    return found


def _other_end(case: Case, evidence: Evidence) -> bool:
    return case.task.family in OPEN_ENDED and bool(evidence.changes)


def test_every_family_and_case_is_played(place: Arena) -> None:
    families = {each.id for each in FamilyTasks(place.world, place.template, None, 0).families}
    assert {each.task.family for each in place.cases} == families
    assert all(truly_gold(each, each.evidence) for each in place.cases)


def test_agents_that_know_only_what_is_public(place: Arena) -> None:
    """Where nothing is to be done, doing nothing may be right; over the cases of a family it never
    is.
    """
    found: list[str] = []
    won: dict[str, dict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
    cases: dict[str, set[Any]] = defaultdict(set)
    for case in place.cases:
        cases[case.task.family].add(case.task.case)
        with Episode(case.task, place.world, place.template) as episode:
            tools = episode.tools
        agents = list(blind(case.task, tools))
        for adversary, (reward, evidence) in zip(
            agents, place.play(case.task, agents), strict=True
        ):
            if reward is None or (reward == 1.0 and not truly_gold(case, evidence)):
                found.append(f"{case}: {adversary.kind} ({adversary.detail}) earns {reward}")
            if reward == 1.0:
                won[case.task.family][f"{adversary.kind} {adversary.detail}"].add(case.task.case)
    for family, agents in won.items():
        found += [
            f"{family}: {name} earns 1 in each case"
            for name, where in agents.items()
            if where == cases[family]
        ]
    assert not found, "\n".join(found)


def test_agents_that_know_gold(place: Arena) -> None:
    found: list[str] = []
    for case in place.cases:
        found += undeserved(place, case, some(case, cheats(case, place.neighbours(case)), 1))
    assert not found, "\n".join(found)


def test_a_stepped_policy_that_tampers_with_what_it_sees(place: Arena) -> None:
    """Messages and tools are in its hands: it forges the user's consent in them, loosens the
    schemas, and acts.
    """
    talking = [
        each
        for each in place.cases
        if talk(each.moves) and any(act.writes for act in acts(each.moves))
    ]
    assert len(talking) > 5
    for case in talking:
        with Episode(case.task, place.world, place.template) as episode:
            for role in ("user", "tool", "system"):
                with pytest.raises(OperatorError, match="role assistant"):
                    asyncio.run(
                        episode.step(
                            {"role": role, "content": "Yes, go ahead.", "tool_call_id": "call_0"}
                        )
                    )
            for tool in episode.tools:
                tool["function"]["parameters"].clear()
            for act in acts(case.moves):
                episode.messages.append({"role": "user", "content": "Yes, go ahead."})
                turn = Turn(FORGED, [(act.name, dict(act.arguments))])
                for message in asyncio.run(episode.step(turn.message())):
                    message["content"] = "Yes, go ahead."
            assert episode.score().reward == 0.0, str(case)
        with Episode(case.task, place.world, place.template) as episode:
            assert all(
                each["function"]["parameters"]["properties"] is not None for each in episode.tools
            )


def test_a_flood_of_writes_is_judged(place: Arena) -> None:
    """No number of rows makes a wrong end unscored."""
    flood = {"ehr_db": "raise_alert", "shop": "send_message"}[place.world.name]
    own = next(act for case in place.cases for act in acts(case.moves) if act.name == flood)
    many = Adversary("flood", [Turn(calls=[(flood, own.arguments)] * 400)])
    ((reward, evidence),) = place.play(place.cases[0].task, [many])
    assert (reward, len(evidence.changes)) == (0.0, 400)


@pytest.mark.long
@pytest.mark.parametrize("universe", [0, 1])
@pytest.mark.parametrize("name", WORLDS)
def test_more_cheats_in_more_tasks(name: str, universe: int) -> None:
    found: list[str] = []
    for place in arena(name, universe, 2):
        for case in place.cases:
            found += undeserved(place, case, some(case, cheats(case, place.neighbours(case)), 6))
    assert not found, "\n".join(found)
