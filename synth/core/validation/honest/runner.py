"""The honest battery of one family in one universe: agents that do the work must win."""

from __future__ import annotations

from collections.abc import Sequence

from envs.errors import EnvsError
from synth.agent import ReactAgent
from synth.core.models.scripted.expert import GoldStuckError
from synth.core.types.reply import Act
from synth.core.validation.attacks.runner import Case, FamilyRunner
from synth.core.validation.honest.base import HonestAgent, HonestResult, ProvedTask
from synth.core.validation.prove import GOLD_LIMITS
from synth.episode import Episode
from synth.errors import TaskError
from synth.model import Conversation
from synth.plugins import HONEST_AGENTS, REWARDS
from synth.rewards import author_error
from synth.user import UserTurn
from synth.verdict import Verdict


class HonestRunner(FamilyRunner):
    """Plays honest agents."""

    async def run(self, cases: Sequence[Case], names: Sequence[str]) -> None:
        """Play the agents of these names on all cases. Each that loses a task is a finding, unless
        the family excepts it.
        """
        excepted = self.family.honest_except
        for name in names:
            agent: HonestAgent = HONEST_AGENTS.load(name)()
            try:
                results = [await self._play(agent, case) for case in cases]
            except (TaskError, EnvsError) as error:
                self.report.problems.append(
                    f"{self.where}the honest agent {agent.name} breaks the world: {error}"
                )
                continue
            played = [(case, result) for case, result in zip(cases, results, strict=True) if result]
            lost = [(case, result) for case, result in played if result.lost]
            if lost and (reason := excepted.get(agent.name)) is not None:
                self.report.honest_excepted[agent.name] = reason
                continue
            if played:
                self.report.honest_won[agent.name] += len(played) - len(lost)
                self.report.honest_played[agent.name] += len(played)
            if lost:
                self._lost(agent, lost, len(played))

    async def _play(self, agent: HonestAgent, case: Case) -> HonestResult | None:
        """Play one task; None if the agent's style makes no difference to it."""
        proved = ProvedTask(case.task, case.evidence, self.world, self.template, self.limits)
        conversation = await agent.start(proved)
        if conversation is None:
            return None
        result = await play(conversation, proved)
        if result.lost and not agent.applies(proved, result):
            return None
        return result

    def _lost(
        self, agent: HonestAgent, lost: Sequence[tuple[Case, HonestResult]], played: int
    ) -> None:
        case, result = lost[0]
        count = f"{len(lost)} of {played} {'task' if played == 1 else 'tasks'}"
        message = (
            f"the honest agent {agent.name} loses {count}: {result.lost} (task {case.task.id});"
            f" mend the family, or except the agent by honest: {{except: {{{agent.name}: reason}}}}"
        )
        self.report.honest_lost.append(self.finding(agent.name, message, "gold"))


async def play(conversation: Conversation, proved: ProvedTask) -> HonestResult:
    """Play a conversation on a fresh sandbox, with the user.

    Raises :class:`TaskError` for an error of the world's author.
    """
    with Episode(proved.task, proved.world, proved.template, proved.limits) as episode:
        agent = ReactAgent(conversation, episode.call, GOLD_LIMITS)
        stuck = ""

        async def say(text: str, acts: Sequence[Act] = ()) -> UserTurn:
            return await episode.say(text)  # in words alone, as other models speak

        try:
            run = await agent.run(episode.messages, say)
            episode.said = run.said
        except GoldStuckError as error:
            stuck = f"it cannot go on: {error.message}"
        score, evidence = episode.score(), episode.evidence()
    if (message := author_error(score.verdicts)) is not None:
        raise TaskError(message)
    fault = next((turn.fault for turn in evidence.turns if turn.fault), None)
    short = _short(score.verdicts)
    reasons = [stuck, f"the user is at fault: {fault}" if fault else ""]
    reasons += [verdict.reason for verdict in short]
    lost_to = frozenset(verdict.verifier for verdict in short)
    lost = "; ".join(filter(None, reasons))
    return HonestResult(lost, lost_to, evidence, score, agent.memory.messages, stuck)


def _short(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that are not full. Scores that the author of a world has written need not be
    full.
    """
    return [
        verdict
        for verdict in verdicts
        if verdict.score is None
        or (verdict.score < 1.0 and (verdict.gate or verdict.verifier in REWARDS.builtin))
    ]
