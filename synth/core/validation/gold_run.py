"""One playing of gold, and the end that it leaves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from synth.core.agent.rollout_result import AgentRun
from synth.core.types.difficulty import work_of
from synth.core.types.reply import GoldReply
from synth.core.types.steps import Action, AskStep, BranchStep, every_step
from synth.core.validation.gold_reply import Stated
from synth.rewards import Evidence
from synth.task import GoldEnd, Task


@dataclass(frozen=True)
class GoldRun:
    """One playing of gold: the run, the tools, the step behind each call, the evidence, what was
    said and saved, and the branches that were taken.
    """

    run: AgentRun
    tools: Sequence[Mapping[str, Any]]
    steps: Sequence[Action]
    evidence: Evidence
    stated: Stated = ()
    saved: Sequence[tuple[Action, Mapping[str, object]]] = ()
    taken: Sequence[tuple[BranchStep, bool]] = ()

    @property
    def writes(self) -> tuple[int, ...]:
        """The positions of the calls that changed rows."""
        return tuple(index for index, one in enumerate(self.run.outcomes) if one.changes)

    def end(self, reply: GoldReply) -> GoldEnd:
        """The end of the task that was played, with what its replies say."""
        submitted = self.evidence.submitted
        played = [
            {"tool": outcome.call.name, "arguments": dict(outcome.arguments or {})}
            for outcome in self.run.outcomes
        ]
        return GoldEnd(
            changes=[change.to_json() for change in self.evidence.changes],
            answer=None if submitted is None else dict(submitted),
            calls=len(played),
            writes=self.writes,
            played=played,
            reply=reply.to_json(),
            asked=self._asked(),
            work=dict(work_of(self.evidence.task)),
        )

    def _asked(self) -> dict[str, dict[str, int]]:
        """The topics asked for before a write, as :class:`~synth.task.GoldEnd` has them."""
        tools, writes = [self.run.outcomes[index].call.name for index in self.writes], self.writes
        steps = [one for one in every_step(self.evidence.task.gold) if isinstance(one, AskStep)]
        topics = {topic for step in steps for topic in step.topics}
        made: dict[str, dict[str, int]] = {}
        for turn in self.evidence.turns:
            done = sum(index < turn.after for index in writes)
            if done and done == len(tools):
                break
            for topic in sorted(topics.intersection(turn.told).difference(made)):
                made[topic] = {tool: tools[:done].count(tool) for tool in tools[done:] if done}
        return made

    def without(self, repeats: Collection[int], task: Task) -> GoldRun:
        """The playing of a task that lacks the steps with these ``id``, whose calls are left out;
        the run's messages are as they were.
        """
        kept = [place for place, step in enumerate(self.steps) if id(step) not in repeats]
        evidence = self.evidence
        evidence = replace(
            evidence,
            task=task,
            calls=[evidence.calls[place] for place in kept],
            turns=[replace(one, after=bisect_left(kept, one.after)) for one in evidence.turns],
            utterances=[replace(w, after=bisect_left(kept, w.after)) for w in evidence.utterances],
        )
        run = replace(self.run, outcomes=[self.run.outcomes[place] for place in kept])
        steps = [self.steps[place] for place in kept]
        return replace(self, run=run, steps=steps, evidence=evidence)
