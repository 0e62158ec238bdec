"""Rollouts of attackers and honest agents in full, which `synth check --show` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from envs.types import RowChange
from synth.core.foundation.hashing import canonical
from synth.core.validation.attacks.runner import AttackRunner, Case, is_judged
from synth.core.validation.attacks.steps import Attack, AttackResult, called
from synth.core.validation.honest.base import HonestAgent, HonestResult
from synth.core.validation.honest.runner import HonestRunner
from synth.episode import Score
from synth.rewards import Evidence
from synth.task import Message, Task


@dataclass(frozen=True)
class ShownRollout:
    """One rollout as lines of text, of an agent of a ``kind``. ``missing`` are row changes that
    gold makes and it does not, ``besides`` those that it makes and gold does not. ``judged``: its
    lie is left to a judge.
    """

    kind: str
    task: str
    agent: str
    transcript: Sequence[str]
    missing: Sequence[str]
    besides: Sequence[str]
    verdicts: Sequence[str]
    solved: bool
    judged: bool = False


@dataclass
class ShownAttacks(AttackRunner):
    """Plays the attacks, and keeps what happened in each."""

    shown: list[ShownRollout] = field(default_factory=list[ShownRollout])

    async def _play(self, attack: Attack, task: Task) -> AttackResult:
        played = await super()._play(attack, task)
        agent, score = f"{attack.kind}: {attack.label}", played.score
        judged = score.solved and is_judged(attack, score)
        self.shown.append(
            _shown(attack.kind, task, agent, played.transcript, score, played.evidence, judged)
        )
        return played


@dataclass
class ShownHonest(HonestRunner):
    """Plays honest agents, and keeps what happened to each."""

    shown: list[ShownRollout] = field(default_factory=list[ShownRollout])

    async def _play(self, agent: HonestAgent, case: Case) -> HonestResult | None:
        played = await super()._play(agent, case)
        if played is not None:
            lines = list(_messages(played.messages))
            if played.stuck:
                lines.append(f"({played.stuck})")
            self.shown.append(
                _shown(agent.name, case.task, agent.name, lines, played.score, played.evidence)
            )
        return played


def _shown(
    kind: str,
    task: Task,
    agent: str,
    lines: Sequence[str],
    score: Score,
    evidence: Evidence,
    judged: bool = False,
) -> ShownRollout:
    assert task.end is not None
    gold = [_change(RowChange.from_json(change)) for change in task.end.changes]
    own = [_change(change) for change in evidence.changes]
    verdicts = [
        f"{verdict.verifier}: {'unscored' if verdict.score is None else f'{verdict.score:g}'},"
        f" {verdict.reason}"
        for verdict in score.verdicts
    ]
    return ShownRollout(
        kind,
        task.id,
        agent,
        lines,
        [line for line in gold if line not in own],
        [line for line in own if line not in gold],
        verdicts,
        score.solved,
        judged,
    )


def _messages(messages: Sequence[Message]) -> Iterator[str]:
    """A conversation's messages as lines, without the system's."""
    for message in messages:
        if message["role"] == "assistant":
            calls = cast("Sequence[Mapping[str, Any]]", message.get("tool_calls") or ())
            if message.get("content"):
                yield f"agent: {message['content']}"
            for call in calls:
                yield called(call["function"]["name"], call["function"]["arguments"])
        elif message["role"] != "system":
            yield f"{message['role']}: {message['content']}"


def _change(change: RowChange) -> str:
    before, after = dict(change.before or {}), dict(change.after or {})
    key = ", ".join(f"{name}={value!r}" for name, value in change.key.items())
    cells = canonical(after if change.op != "delete" else before)
    return f"{change.op} {change.table} ({key}) {cells}"
