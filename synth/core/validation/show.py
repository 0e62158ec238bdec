"""Rollouts of attackers and honest agents in full, which `synth check --show` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from envs.sandboxes.base import Template
from envs.types import Limits, RowChange
from envs.world.loader import World
from synth.agent import ReactAgent
from synth.core.foundation.hashing import canonical
from synth.core.models.scripted.expert import GoldStuckError
from synth.core.personal import people_of
from synth.core.validation.attacks.base import dishonest_attacks
from synth.core.validation.attacks.lazy import lazy_agents
from synth.core.validation.attacks.mutants import mutants, strays_for
from synth.core.validation.attacks.runner import STRAYS, Case, is_judged
from synth.core.validation.attacks.steps import Attack, ToolStep, acts
from synth.core.validation.base import validations_of
from synth.core.validation.honest.base import HonestAgent, ProvedTask
from synth.core.validation.prove import GOLD_LIMITS
from synth.episode import Episode, Score
from synth.plugins import HONEST_AGENTS
from synth.task import Message, Task


@dataclass(frozen=True)
class ShownRollout:
    """One rollout as lines of text. ``missing`` are row changes that gold makes and it does not,
    ``besides`` those that it makes and gold does not. ``judged``: its lie is left to a judge.
    """

    task: str
    agent: str
    transcript: Sequence[str]
    missing: Sequence[str]
    besides: Sequence[str]
    verdicts: Sequence[str]
    solved: bool
    judged: bool = False


async def honest_rollouts(
    name: str, cases: Sequence[Case], world: World, template: Template, limits: Limits
) -> list[ShownRollout]:
    """The rollouts of an honest agent on proved tasks, without those that it does not play."""
    agent: HonestAgent = HONEST_AGENTS.load(name)()
    out: list[ShownRollout] = []
    for case in cases:
        proved = ProvedTask(case.task, case.evidence, world, template, limits)
        conversation = await agent.start(proved)
        if conversation is None:
            continue
        with Episode(case.task, world, template, limits) as episode:
            react = ReactAgent(conversation, episode.call, GOLD_LIMITS)
            stuck: list[str] = []
            try:
                run = await react.run(episode.messages, episode.say)
                episode.said = run.said
            except GoldStuckError as error:
                stuck = [f"(cannot go on: {error.message})"]
            lines = [*_messages(react.memory.messages), *stuck]
            out.append(_shown(case.task, agent.name, lines, episode.score(), episode))
    return out


async def attack_rollouts(
    kind: str, cases: Sequence[Case], world: World, template: Template, limits: Limits
) -> list[ShownRollout]:
    """The rollouts of the attacks of a kind on proved tasks of one family."""
    return [
        await _played(attack, case.task, world, template, limits)
        for case in cases
        for attack in _attacks(case, cases, world, template, limits)
        if attack.kind == kind
    ]


def attack_kinds(
    cases: Sequence[Case], world: World, template: Template, limits: Limits
) -> list[str]:
    """The kinds of attacks that are played on a family."""
    found = (_attacks(case, cases, world, template, limits) for case in cases)
    return list(dict.fromkeys(attack.kind for attacks in found for attack in attacks))


def _attacks(
    case: Case, cases: Sequence[Case], world: World, template: Template, limits: Limits
) -> Iterator[Attack]:
    yield from lazy_agents(case.task, case.moves, world.tools)
    for validation, options in validations_of(case.task):
        with Episode(case.task, world, template, limits) as episode:
            yield from list(validation.lazy(case.task, options, case.moves, episode.evidence()))
        yield from validation.weaker(options, case.moves)
    elsewhere = [
        act for other in cases if other is not case for act in acts(other.moves) if act.writes
    ]
    strays = strays_for(case.moves, elsewhere)[:STRAYS]
    schemas = {tool.name: tool.parameters for tool in world.tools}
    yield from mutants(case.moves, strays, schemas, case.task, elsewhere)
    moves = [move for other in cases if other is not case for move in other.moves]
    people = people_of(world, template)
    attacks = dishonest_attacks(case.task, case.moves, moves, people, world.tools)
    yield from (attack for _, attack in attacks)


async def _played(
    attack: Attack, task: Task, world: World, template: Template, limits: Limits
) -> ShownRollout:
    lines = [f"user: {task.prompt}"]
    with Episode(task, world, template, limits) as episode:
        for move in attack.moves:
            if isinstance(move, ToolStep):
                outcome = await episode.call(move.name, move.arguments)
                lines += [_call(move.name, dict(move.arguments)), f"tool: {outcome.content}"]
                continue
            turn = await episode.say(move.text)
            lines.append(f"agent: {move.text}")
            if turn.ends:
                break
            lines.append(f"user: {turn.text}")
        agent = f"{attack.kind}: {attack.label}"
        score = episode.score()
        shown = _shown(task, agent, lines, score, episode)
        return replace(shown, judged=score.solved and is_judged(attack, score))


def _shown(
    task: Task, agent: str, lines: Sequence[str], score: Score, episode: Episode
) -> ShownRollout:
    assert task.end is not None
    gold = [_change(RowChange.from_json(change)) for change in task.end.changes]
    own = [_change(change) for change in episode.evidence().changes]
    verdicts = [
        f"{verdict.verifier}: {'unscored' if verdict.score is None else f'{verdict.score:g}'},"
        f" {verdict.reason}"
        for verdict in score.verdicts
    ]
    return ShownRollout(
        task.id,
        agent,
        lines,
        [line for line in gold if line not in own],
        [line for line in own if line not in gold],
        verdicts,
        score.solved,
    )


def _messages(messages: Sequence[Message]) -> Iterator[str]:
    """A conversation's messages as lines, without the system's."""
    for message in messages:
        if message["role"] == "assistant":
            calls = cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ())
            if message.get("content"):
                yield f"agent: {message['content']}"
            for call in calls:
                yield _call(call["function"]["name"], call["function"]["arguments"])
        elif message["role"] != "system":
            yield f"{message['role']}: {message['content']}"


def _call(name: str, arguments: object) -> str:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"call: {name} {text}"


def _change(change: RowChange) -> str:
    before, after = dict(change.before or {}), dict(change.after or {})
    key = ", ".join(f"{name}={value!r}" for name, value in change.key.items())
    cells = canonical(after if change.op != "delete" else before)
    return f"{change.op} {change.table} ({key}) {cells}"
