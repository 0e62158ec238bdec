"""The model that judges rollouts: asks for votes, and counts what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from synth.core.foundation.hashing import derive_seed
from synth.core.types.events import Usage
from synth.episode import Score
from synth.errors import ModelError
from synth.ext.judge import JudgeConfig
from synth.ext.judge.model_judge import (
    NAME,
    Vote,
    judge_messages,
    read_vote,
    recorded_verdict,
    statements_of,
    verdict_of,
)
from synth.middleware import MiddlewareHome
from synth.model import Completion, Model
from synth.rewards import Evidence, total_reward
from synth.task import Task
from synth.verdict import Verdict
from synth.wrapper import RolloutWrapper

_NO_TASK: Final = Task(id="judge", family="judge", env="", prompt="", gold=())


@dataclass
class JudgeCost:
    """What the votes on one rollout have cost, under the names of the row's columns."""

    completions: list[Completion] = field(default_factory=list[Completion])

    @property
    def usd(self) -> float | None:
        """Cost of the answers, 0 without any; None if a price is unknown."""
        costs = [completion.cost_usd for completion in self.completions]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def to_row(self) -> dict[str, object]:
        """None where nobody judged; the cost is None if the price is unknown."""
        if not self.completions:
            return {"judge_input_tokens": None, "judge_output_tokens": None, "judge_cost_usd": None}
        used = sum((completion.usage for completion in self.completions), Usage())
        return {
            "judge_input_tokens": used.input_tokens,
            "judge_output_tokens": used.output_tokens,
            "judge_cost_usd": self.usd,
        }


class ModelJudge:
    """A model that decides about statements; ``votes`` answers decide on a rollout."""

    def __init__(self, model: Model, rubric: str | None, votes: int) -> None:
        self._model, self._rubric, self._votes = model, rubric, votes

    async def verdict(
        self, evidence: Evidence, verdicts: Sequence[Verdict], seed: int, cost: JudgeCost
    ) -> Verdict:
        """Ask for the votes on the statements of a rollout, all at once; nothing is asked where
        ``verdicts``, of its gates, have no notes.

        A vote that the endpoint does not give is missing; the verdict says so.
        """
        statements = statements_of(verdicts, self._rubric)
        if not statements:
            return verdict_of([], [], self._model.name)
        asked = judge_messages(evidence, statements)

        async def vote(number: int) -> Vote:
            own = derive_seed(seed, "judge", number)
            try:
                completion = await self._model.start(_NO_TASK, (), own).complete(asked)
            except ModelError as error:
                why = f"{type(error).__name__}: {error}"[:300]
                return Vote([None] * len(statements), [why] * len(statements))
            cost.completions.append(completion)
            return read_vote(completion.content, len(statements))

        votes = await asyncio.gather(*(vote(number) for number in range(self._votes)))
        return verdict_of(statements, votes, self._model.name)

    async def preflight(self) -> list[str]:
        """Warnings of the model's own check. Raises :class:`~synth.errors.ModelError`."""
        return await self._model.preflight()

    async def aclose(self) -> None:
        await self._model.aclose()


class Judging(RolloutWrapper):
    """Adds the judge's verdict to rollouts that pass every gate."""

    verifier = NAME

    Options = JudgeConfig

    def __init__(self, options: JudgeConfig, home: MiddlewareHome) -> None:
        super().__init__(options, home)
        assert home.asked is not None, "the section names a model"
        self._judge = ModelJudge(home.asked, options.rubric, options.votes)

    async def preflight(self) -> list[str]:
        return await self._judge.preflight()

    async def scored(
        self, evidence: Evidence, score: Score, seed: int, columns: MutableMapping[str, object]
    ) -> Score:
        if not score.solved:
            return score
        cost = JudgeCost()
        verdict = await self._judge.verdict(evidence, score.verdicts, seed, cost)
        columns.update(cost.to_row())
        verdicts = [*score.verdicts, verdict]
        return Score(verdicts, total_reward(verdicts))

    @classmethod
    def recorded(cls, verdicts: Sequence[Mapping[str, Any]], *, solved: bool) -> Verdict | None:
        return recorded_verdict(verdicts) if solved else None

    async def aclose(self) -> None:
        await self._judge.aclose()
