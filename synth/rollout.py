"""A rollout: one job, from a fresh sandbox to a row of the dataset."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from envs.errors import EnvsError
from envs.types import Limits
from envs.world.loader import World
from envs.world.template_cache import Templates
from synth.core.agent.memory import segments
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import RolloutIdentity
from synth.core.dataset.clean import clean_row
from synth.core.dataset.columns import SCHEMA_VERSION
from synth.core.dataset.sanitize import sanitize
from synth.core.rewards.gate_costs import notes_in
from synth.core.types.events import injected_faults
from synth.core.validation.prove import PlayedProof
from synth.episode import Episode, Score
from synth.errors import ModelError, SynthError
from synth.middleware import MiddlewareMaker, start
from synth.model import Completion, Model, Sampling, first_answer
from synth.rewards import Evidence, blame
from synth.task import Job, Task
from synth.user import User
from synth.verdict import Outcome
from synth.wrapper import RolloutWrapper, wrapped, wrapped_probe

if TYPE_CHECKING:
    from synth.core.agent.event_stream import EventStream
    from synth.core.runner.audit_files import AuditLog


@dataclass(frozen=True)
class RolloutContext:
    """Everything that the rollouts of a worker share.

    ``user`` answers the agent; None: the scripted one. ``wrappers`` stand around each rollout and
    ``middlewares`` around its calls, the first outermost. ``audit`` logs every tool call; None:
    none is logged. ``event_stream`` gets the events of the rollouts while they run.
    """

    world: World
    templates: Templates
    model: Model
    limits: Limits
    agent: AgentLimits
    user: User | None = None
    middlewares: Sequence[tuple[str, MiddlewareMaker]] = ()
    audit: AuditLog | None = None
    wrappers: Sequence[RolloutWrapper] = ()
    sampling: Sampling = field(default_factory=Sampling)
    config_digest: str = ""
    synth_version: str = ""
    event_stream: EventStream | None = None


@dataclass(frozen=True)
class _RolloutResult:
    """A finished rollout before it becomes a row."""

    run: AgentRun
    score: Score
    episode: Episode
    tools: Sequence[Any]
    segments: Sequence[object]
    latency_s: float
    columns: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass
class PartialUsage:
    """The cost of a rollout that broke, under the names of the row's columns.

    ``stats`` is None if nothing is known.
    """

    stats: dict[str, object] | None = None


async def play(
    job: Job, context: RolloutContext, usage: PartialUsage | None = None
) -> dict[str, Any]:
    """Play the job inside the wrappers and return its row: the dataset's columns, JSON columns as
    Python values.

    If it raises, ``usage`` holds what had been spent.

    Raises :class:`~synth.errors.ModelError`, :class:`~envs.errors.SandboxError` or
    :class:`~envs.errors.ExecutorError`: a rollout that broke is not a row.
    """
    return await wrapped(context.wrappers, _play)(job, context, usage or PartialUsage())


async def _play(job: Job, context: RolloutContext, usage: PartialUsage) -> dict[str, Any]:
    return (await _played(job, context, usage))[1]


async def _played(
    job: Job, context: RolloutContext, usage: PartialUsage, *, proves: bool = False
) -> tuple[Task, dict[str, Any]]:
    started = time.perf_counter()
    audit = None
    if context.audit is not None:
        audit = context.audit.start({"job": job.index, "rollout": job.id})
    with (
        context.templates.use(job.task.universe) as template,
        Episode(
            job.task,
            context.world,
            template,
            context.limits,
            user=context.user,
            seed=job.seed,
            audit=audit,
        ) as episode,
    ):
        proof = PlayedProof(episode, context.world) if proves else None
        middlewares = [start(name, maker) for name, maker in context.middlewares]
        agent = episode.agent(
            proof or context.model,
            context.agent,
            middlewares=middlewares,
            identity=RolloutIdentity(job.id, job.index, job.seed, job.task.id),
            event_stream=context.event_stream,
        )
        if audit is not None:
            audit.step = lambda: 0 if agent.so_far is None else len(agent.so_far.completions)
        try:
            say = None if episode.user is None else (proof or episode).say
            run = await agent.run(episode.messages, say)
        except BaseException as error:
            usage.stats = _cost_until(error, agent.so_far)
            raise
        episode.said = sanitize(run.said)[0]
        if proof is not None:
            episode.task = proof.settle(run, template, context.limits)
        score = await episode.scored()
        columns = dict[str, object]()
        for wrapper in context.wrappers:
            score = await wrapper.scored(episode.evidence(), score, job.seed, columns)
        for middleware in middlewares:
            middleware.rollout_scored(score.reward, score.verdicts)
        latency_s = time.perf_counter() - started
        parts = segments(agent.memory)
        result = _RolloutResult(run, score, episode, agent.tools, parts, latency_s, columns)
        return episode.task, to_row(replace(job, task=episode.task), context, result)


async def play_as_proof(job: Job, context: RolloutContext) -> tuple[Task, dict[str, Any]] | None:
    """Play a job whose task is not proved yet; returns the proved task and the row.

    None if the rollout does not prove it; the reason is left to
    :func:`~synth.core.validation.prove.prove`. The rollout has neither wrappers nor middlewares,
    and the model is the plain expert.
    """
    try:
        task, row = await _played(job, context, PartialUsage(), proves=True)
    except (SynthError, EnvsError):
        return None
    return (task, row) if row["outcome"] is Outcome.SUCCESS else None


async def probe(job: Job, context: RolloutContext) -> Completion | None:
    """Ask the model for a short answer to the first prompt of a job, with its tools.

    Raises :class:`~synth.errors.ModelError`.
    """
    return await wrapped_probe(context.wrappers, _probe)(job, context)


async def _probe(job: Job, context: RolloutContext) -> Completion | None:
    with (
        context.templates.use(job.task.universe) as template,
        Episode(
            job.task, context.world, template, context.limits, user=context.user, seed=job.seed
        ) as episode,
    ):
        answer = await context.model.probe(job.task, episode.tools, episode.messages, job.seed)
        return None if answer is None else first_answer(answer)


def _cost_until(error: BaseException, run: AgentRun | None) -> dict[str, object] | None:
    if run is None:
        return None
    last = error.retries if isinstance(error, ModelError) else ()
    return cost_of(run) | {"retries": [one.to_json() for one in (*run.retries, *last)]}


def cost_of(run: AgentRun) -> dict[str, object]:
    """The cost of a rollout, under the names of the row's columns."""
    usage, user, approver = run.usage, run.user_usage, run.approver_usage
    return {
        "num_turns": len(run.completions),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": run.cost_usd,
        "user_input_tokens": user.input_tokens,
        "user_output_tokens": user.output_tokens,
        "user_cost_usd": run.user_cost_usd,
        "approver_input_tokens": approver.input_tokens,
        "approver_output_tokens": approver.output_tokens,
        "approver_cost_usd": run.approver_cost_usd,
        **dict.fromkeys(("judge_input_tokens", "judge_output_tokens", "judge_cost_usd")),
    }


def outcome_of(score: Score) -> Outcome:
    """Success if every gate passed; a rollout without a reward is neither success nor failure.

    Weighted scores of a world's rewards.py lower the reward, not the outcome.
    """
    if score.reward is None:
        return Outcome.UNSCORED
    return Outcome.SUCCESS if score.solved else Outcome.FAILURE


def to_row(job: Job, context: RolloutContext, result: _RolloutResult) -> dict[str, Any]:
    """The dataset's row of a finished rollout."""
    return clean_row(
        {
            **_identity_columns(job, context),
            **_conversation_columns(result),
            **_outcome_columns(result),
            **_model_columns(result.run),
            **cost_of(result.run),
            **result.columns,
            "cached_tokens": result.run.usage.cached_tokens,
            "reasoning_tokens": result.run.usage.reasoning_tokens,
            "latency_s": round(result.latency_s, 6),
            "retries": [retry.to_json() for retry in result.run.retries],
            "user_model": None if result.episode.user is None else result.episode.user.name,
            "model": context.model.name,
            "sampling": context.sampling.to_json(),
            "config_digest": context.config_digest,
            "synth_version": context.synth_version,
            "schema_version": SCHEMA_VERSION,
            "created_at": dt.datetime.now(dt.UTC),
        }
    )


def _identity_columns(job: Job, context: RolloutContext) -> dict[str, object]:
    task = job.task
    return {
        "trajectory_id": job.id,
        "task_id": task.id,
        "job_index": job.index,
        "family": task.family,
        "case": task.case,
        "env": task.env,
        "env_digest": context.world.digest,
        "split": task.split,
        "universe": task.universe,
        "sample_index": job.sample,
        "seed": job.seed,
        "parent_id": None if job.branch is None else job.branch.parent,
        "branch_step": None if job.branch is None else job.branch.step,
        "renaming": task.extras.get("renaming", {}).get("number"),
        "renaming_names": task.extras.get("renaming"),
        "phrasing": task.extras.get("phrasing"),
        "source_id": None,
        "narrated_turns": None,
    }


def _conversation_columns(result: _RolloutResult) -> dict[str, object]:
    run, own = result.run, result.tools[len(result.episode.offered) :]
    return {
        "messages": run.messages,
        "tools": result.tools,
        "middleware_tools": [tool["function"]["name"] for tool in own],
        "segments": list(result.segments),
        "events": run.recorded_events,
        "call_changes": call_changes(run),
        "executions": [execution.to_json() for execution in result.episode.executions],
        "injected_faults": injected_faults(run.events),
    }


def _outcome_columns(result: _RolloutResult) -> dict[str, object]:
    run, episode, score = result.run, result.episode, result.score
    outcome = outcome_of(score)
    assert run.stop_reason is not None, "a run that returned has stopped"
    errors = [call.result.category or "unknown" for call in run.outcomes if not call.result.ok]
    return {
        "outcome": outcome,
        "stop_reason": run.stop_reason,
        "reward": score.reward,
        "verdicts": [verdict.to_json() for verdict in score.verdicts],
        "state_diff": episode.diff().to_json(),
        "state_hash_before": episode.state_hash_before,
        "state_hash_after": episode.state_hash(),
        "submitted": None if episode.submitted is None else dict(episode.submitted),
        "num_tool_calls": len(run.outcomes),
        "num_tool_errors": len(errors),
        "error_categories": sorted(errors),
        "blame": None
        if outcome is Outcome.SUCCESS
        else blame(_evidence_of_all(run, episode), score.verdicts, run.stop_reason),
        "notes": [note["check"] for item in score.verdicts for note in notes_in(item.detail)],
    }


def _model_columns(run: AgentRun) -> dict[str, object]:
    """Token ids, log probabilities and provider fields, as far as any completion has them."""
    turns = run.completions
    with_ids = any(turn.token_ids is not None for turn in turns)
    with_logprobs = any(turn.logprobs is not None for turn in turns)
    with_provider = any(turn.provider for turn in turns)
    return {
        "token_ids": [list(turn.token_ids or ()) for turn in turns] if with_ids else None,
        "logprobs": [list(turn.logprobs or ()) for turn in turns] if with_logprobs else None,
        "provider_fields": [dict(turn.provider) for turn in turns] if with_provider else [],
    }


def _evidence_of_all(run: AgentRun, episode: Episode) -> Evidence:
    """The evidence of the episode, with the calls that the environment did not see.

    Injected faults are among them, and share the blame.
    """
    evidence = episode.evidence()
    if len(run.outcomes) == len(evidence.calls):
        return evidence
    return replace(evidence, calls=[episode.own_call(outcome) for outcome in run.outcomes])


def call_changes(run: AgentRun) -> list[dict[str, object]]:
    """The rows that each writing call changed, with the call's place in the rollout."""
    return [
        {
            "call": index,
            "id": outcome.call.id,
            "name": outcome.call.name,
            "changes": [change.to_json() for change in outcome.changes],
        }
        for index, outcome in enumerate(run.outcomes)
        if outcome.changes
    ]
