"""Narration of one recorded rollout.

The recorded calls are made again in a fresh sandbox, and have to lead where they led before
anything is paid for. Then the teacher writes texts turn by turn, and each of them is checked: by
its form, by what was known at its place (:mod:`synth.ext.rationales.turn_context`), and by the
reward where the gates read it. What was written is then played through the runner like any rollout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from synth.core.agent.rollout_result import AgentRun
from synth.core.models.replay.model import ReplayedConversation
from synth.core.models.replay.records import Record, record_of
from synth.core.rewards.reply.sentences import ReplyFinding
from synth.core.runner.recorded_calls import again
from synth.core.runner.recorded_plan import turn_places
from synth.core.types.events import Usage
from synth.episode import Episode
from synth.errors import NarrationRefused
from synth.ext.rationales.teacher import NO_TASK, RefusedText, Step, Teacher, teacher_messages
from synth.ext.rationales.turn_context import TurnContext, arguments_of
from synth.model import Completion, Model
from synth.rewards import Utterance
from synth.rollout import PartialUsage, RolloutContext, cost_of
from synth.task import Job, Message, NarratedPart, Narration, Task
from synth.verdict import Outcome
from synth.wrapper import Play, Probe, RolloutWrapper

NOTE = "narration"
"""The key of a turn's provider fields that says what the teacher wrote into it."""

_OWN_COSTS = (
    *("input_tokens", "output_tokens", "cost_usd"),
    *("cached_tokens", "reasoning_tokens"),
)


@dataclass
class _TurnTexts:
    """The kept and the refused texts of one turn; ``requests`` counts the teacher's answers."""

    kept: dict[NarratedPart, str] = field(default_factory=dict[NarratedPart, str])
    refused: list[RefusedText] = field(default_factory=list[RefusedText])
    requests: int = 0

    def note(self, teacher: str) -> dict[str, Any]:
        return {
            "teacher": teacher,
            "wrote": list(self.kept),
            "requests": self.requests,
            "refused": [text.to_json() for text in self.refused],
        }


class _NarratedModel(Model):
    """Plays one record back; ``name`` is the teacher's, whose words are in it."""

    def __init__(self, name: str, source: str, record: Record) -> None:
        self.name = name
        self._source, self._record = source, record

    def start(self, task: Task, tools: Sequence[object], seed: int) -> ReplayedConversation:
        return ReplayedConversation(lambda: self._record, f"the source {self._source}")


class Rationales(RolloutWrapper):
    """Plays recorded rollouts again, with texts of a teacher."""

    async def play(
        self, job: Job, context: RolloutContext, usage: PartialUsage, inner: Play
    ) -> dict[str, Any]:
        if job.narration is None:
            return await inner(job, context, usage)
        return await narrate(job, job.narration, context, usage, inner)

    async def probe(self, job: Job, context: RolloutContext, inner: Probe) -> Completion | None:
        if job.narration is None:
            return await inner(job, context)
        return await _probe_teacher(job, context)


async def narrate(
    job: Job, narration: Narration, context: RolloutContext, usage: PartialUsage, inner: Play
) -> dict[str, Any]:
    """Return the row of a narrated rollout. If it raises, ``usage`` holds what the teacher cost.

    Raises :class:`~synth.errors.NarrationRefused` if the calls do not lead where they led, and the
    errors of :func:`~synth.rollout.play`.
    """
    teacher = Teacher(context.model, job.seed)
    try:
        texts = await _texts(job, narration, context, teacher)
        record = _narrated(record_of(narration.row), texts, context.model.name)
        model = _NarratedModel(context.model.name, narration.source, record)
        row = await inner(job, replace(context, model=model), PartialUsage())
        if row["outcome"] != Outcome.SUCCESS or row["reward"] < narration.row["reward"]:
            reasons = [one["reason"] for one in row["verdicts"] if one["score"] != 1]
            raise NarrationRefused(
                f"with the teacher's words the reward of {narration.source} is {row['reward']}, and"
                f" it was {narration.row['reward']}: {'; '.join(reasons)}"
            )
    except BaseException:
        usage.stats = cost_of(_asked(teacher))
        raise
    spent = _asked(teacher)
    costs = cost_of(spent) | {
        "cached_tokens": spent.usage.cached_tokens,
        "reasoning_tokens": spent.usage.reasoning_tokens,
    }
    if not teacher.completions:
        costs["cost_usd"] = 0.0
    row |= {name: costs[name] for name in _OWN_COSTS}
    row |= {name: narration.row[name] for name in ("parent_id", "branch_step")}
    row["source_id"] = narration.source
    row["narrated_turns"] = sum(bool(turn.kept) for turn in texts.values())
    return row


def _asked(teacher: Teacher) -> AgentRun:
    """The teacher's answers as side questions of a run, whose cost is theirs."""
    return AgentRun([], side=teacher.completions)


async def _texts(
    job: Job, narration: Narration, context: RolloutContext, teacher: Teacher
) -> dict[int, _TurnTexts]:
    """The texts that the teacher writes, by turn."""
    with (
        context.templates.use(job.task.universe) as template,
        Episode(
            job.task, context.world, template, context.limits, user=context.user, seed=job.seed
        ) as episode,
    ):
        async for _ in again(narration.row["events"], episode):
            pass
        score = await episode.scored()
        if not score.solved or episode.state_hash() != narration.row["state_hash_after"]:
            raise NarrationRefused(
                f"the calls of {narration.source} lead to another end now; `synth replay` of its"
                " run shows where"
            )
        writer = _TurnWriter(job, narration, context, episode, teacher, score.reward or 0.0)
        return await writer.write()


class _TurnWriter:
    """The turns of one rollout, in order. ``messages`` hold what was kept so far."""

    def __init__(
        self,
        job: Job,
        narration: Narration,
        context: RolloutContext,
        episode: Episode,
        teacher: Teacher,
        reward: float,
    ) -> None:
        self._job, self._narration, self._context = job, narration, context
        self._episode, self._teacher, self._reward = episode, teacher, reward
        self._messages: list[Message] = [dict(one) for one in narration.row["messages"]]
        self._places = turn_places(self._messages)

    async def write(self) -> dict[int, _TurnTexts]:
        """Ask for the texts of each turn."""
        return {
            turn: await self._turn(turn, wanted)
            for turn in range(len(self._places))
            if (wanted := parts_wanted(self._messages, self._narration.parts, turn))
        }

    async def _turn(self, turn: int, wanted: Sequence[NarratedPart]) -> _TurnTexts:
        place = self._places[turn]
        message, seen = self._messages[place], self._messages[:place]
        tools, texts = self._narration.row["tools"], _TurnTexts()
        step, moment = Step(seen, message, tools), self._moment(turn)
        missing: list[NarratedPart] = list(wanted)
        for _ in range(self._narration.tries):
            texts.requests += 1
            so_far = [text for text in texts.refused if text.part in missing]
            given, refused = await self._teacher.ask(step, missing, so_far)
            for part, text in given.items():
                if objections := await self._objections(turn, part, text, moment):
                    kinds = dict.fromkeys(one.check for one in objections)
                    words = "; ".join(dict.fromkeys(one.words for one in objections))[:500]
                    refused.append(RefusedText(part, ", ".join(kinds), words, text))
                else:
                    texts.kept[part] = text
            texts.refused += refused
            missing = [part for part in wanted if part not in texts.kept]
            if not missing:
                break
        self._messages[place] = {**message, **_keys(texts)}
        return texts

    def _moment(self, turn: int) -> TurnContext:
        place, episode = self._places[turn], self._episode
        message = self._messages[place]
        evidence = episode.evidence()
        return TurnContext(
            self._job.task,
            self._messages[:place],
            self._messages[place + 1 :],
            [*arguments_of(message), message["content"]],
            episode.calls[: episode.utterances[turn].after],
            evidence.tools,
            evidence.writers,
        )

    async def _objections(
        self, turn: int, part: NarratedPart, text: str, moment: TurnContext
    ) -> list[ReplyFinding]:
        """Objections to a text; the gates are asked if there are no others."""
        found = list(moment.objections(text, claiming=part != "reply"))
        if part == "reply":
            found += moment.lost_values(text, self._messages[self._places[turn]]["content"])
        if not found and part == "reply" and not await self._user_agrees(turn, text):
            found = [ReplyFinding("another answer", "the user would answer something else to it")]
        if not found and part != "reasoning":
            found = await self._lost_reward(turn, text)
        return found

    async def _user_agrees(self, turn: int, text: str) -> bool:
        """True if the user answers other last words as it answered the recorded ones."""
        user, heard = self._context.user, self._heard(turn)
        if self._episode.user is None or user is None:
            return True
        talks = [user.start(self._job.task.role, self._job.seed) for _ in range(2)]
        for words in heard[:-1]:
            for talk in talks:
                await talk.reply(words)
        return await talks[0].reply(heard[-1]) == await talks[1].reply(text)

    def _heard(self, turn: int) -> list[str]:
        """The words that the user got, up to a turn."""
        messages = (self._messages[place] for place in self._places[: turn + 1])
        return [message["content"] for message in messages if "tool_calls" not in message]

    async def _lost_reward(self, turn: int, text: str) -> list[ReplyFinding]:
        """The verdicts against a text in the place of the recorded one; it stays there if there are
        none.
        """
        episode = self._episode
        utterances, said = list(episode.utterances), episode.said
        before: Utterance = utterances[turn]
        episode.utterances[turn] = replace(before, text=text)
        if turn == len(utterances) - 1:
            episode.said = text
        score = await episode.scored()
        if score.solved and (score.reward or 0.0) >= self._reward:
            return []
        episode.utterances[:], episode.said = utterances, said
        lost = [verdict for verdict in score.verdicts if verdict.score != 1]
        return [ReplyFinding(f"gate {verdict.verifier}", verdict.reason) for verdict in lost]


def parts_wanted(
    messages: Sequence[Message], parts: Sequence[NarratedPart], turn: int
) -> list[NarratedPart]:
    """The texts that a turn lacks. A turn that is not trained on gets none."""
    places = turn_places(messages)
    message = messages[places[turn]]
    if message.get("train") is False:
        return []
    calls, blank = "tool_calls" in message, not message["content"].strip()
    fits = {
        "reasoning": not (message.get("reasoning_content") or "").strip(),
        "words": calls and blank,
        "reply": not calls and not blank and turn == len(places) - 1,
    }
    return [part for part in dict.fromkeys(parts) if fits[part]]


def _keys(texts: _TurnTexts) -> Message:
    """The keys of a message that kept texts set."""
    names = {"reasoning": "reasoning_content", "words": "content", "reply": "content"}
    return {names[part]: text for part, text in texts.kept.items()}


def _narrated(record: Record, texts: dict[int, _TurnTexts], teacher: str) -> Record:
    """The record with the kept texts, without cost and without token ids, which do not fit them."""

    def written(turn: int, completion: Completion) -> Completion:
        plain = replace(completion, usage=Usage(), cost_usd=0.0, token_ids=None, logprobs=None)
        if turn not in texts:
            return plain
        provider = {**completion.provider, NOTE: texts[turn].note(teacher)}
        return replace(plain, provider=provider, **_keys(texts[turn]))

    completions = [written(turn, one) for turn, one in enumerate(record.completions)]
    return replace(record, completions=completions)


async def _probe_teacher(job: Job, context: RolloutContext) -> Completion | None:
    """Ask the teacher for a short answer about the first turn of a job.

    Raises :class:`~synth.errors.ModelError`.
    """
    narration = job.narration
    assert narration is not None
    messages = narration.row["messages"]
    place = turn_places(messages)[0]
    step = Step(messages[:place], messages[place], narration.row["tools"])
    return await context.model.probe(NO_TASK, (), teacher_messages(step, narration.parts), job.seed)
