"""One job from a fresh sandbox to a row of the dataset."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from envs.folder import World
from envs.templates import Templates
from envs.types import Limits
from synth.agent.middleware.base import MiddlewareMaker, start
from synth.agent.middleware.faults import injected
from synth.agent.run import AgentLimits, AgentRun
from synth.agent.segments import segments
from synth.agent.state import Identity
from synth.audit import AuditBook
from synth.dataset.clean import clean_row
from synth.dataset.sanitize import sanitize
from synth.episode import Episode, Score
from synth.models.base import Model, Sampling
from synth.types import Job, Outcome
from synth.users.base import User
from synth.verifiers import CallRecord, Evidence, blame

Json = Any

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Stage:
    """What all rollouts of a worker share. ``user`` is who answers in tasks that have a user; None: the scripted one.

    ``middlewares`` are what wraps each rollout's calls, by their names in the config, the first outermost. ``audit`` logs
    every tool call, if any does.
    """

    world: World
    templates: Templates
    model: Model
    limits: Limits
    agent: AgentLimits
    user: User | None = None
    middlewares: Sequence[tuple[str, MiddlewareMaker]] = ()
    audit: AuditBook | None = None
    sampling: Sampling = field(default_factory=Sampling)
    config_digest: str = ""
    synth_version: str = ""


@dataclass(frozen=True)
class Played:
    """A finished rollout before it becomes a row."""

    run: AgentRun
    score: Score
    episode: Episode
    tools: Sequence[Json]
    segments: Sequence[Json]
    latency_s: float


@dataclass
class Spent:
    """What a rollout that broke had cost by then, under the names of the row's columns; None: nothing is known."""

    stats: Json = None


async def play(job: Job, stage: Stage, spent: Spent | None = None) -> dict[str, Json]:
    """Play the job and return its row (keys are the dataset's columns, JSON columns as Python values).

    Where it raises, ``spent`` is told what had been spent.

    Raises :class:`~synth.errors.ModelError`, :class:`~envs.errors.SandboxError` or
    :class:`~envs.errors.ExecutorError`: a rollout that could not be held is no row.
    """
    started = time.perf_counter()
    audit = None if stage.audit is None else stage.audit.start({"job": job.index, "rollout": job.id})
    with (
        stage.templates.use(job.task.universe) as template,
        Episode(job.task, stage.world, template, stage.limits, user=stage.user, seed=job.seed, audit=audit) as episode,
    ):
        agent = episode.agent(
            stage.model,
            stage.agent,
            middlewares=[start(name, maker) for name, maker in stage.middlewares],
            identity=Identity(job.id, job.index, job.seed, job.task.id),
        )
        if audit is not None:
            audit.step = lambda: 0 if agent.so_far is None else len(agent.so_far.completions)
        try:
            run = await agent.run(episode.messages, episode.say if job.task.user is not None else None)
        except BaseException:
            if spent is not None and agent.so_far is not None:
                spent.stats = cost_of(agent.so_far)
            raise
        episode.said = sanitize(run.said)[0]
        score = await episode.scored()
        latency_s = time.perf_counter() - started
        return to_row(job, stage, Played(run, score, episode, agent.tools, segments(agent.memory), latency_s))


def cost_of(run: AgentRun) -> dict[str, Json]:
    """What a rollout cost, as its row has it."""
    usage, user, policy = run.usage, run.user_usage, run.policy_usage
    return {
        "num_turns": len(run.completions),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": run.cost_usd,
        "user_input_tokens": user.input_tokens,
        "user_output_tokens": user.output_tokens,
        "user_cost_usd": run.user_cost_usd,
        "policy_input_tokens": policy.input_tokens,
        "policy_output_tokens": policy.output_tokens,
        "policy_cost_usd": run.policy_cost_usd,
    }


def outcome_of(score: Score) -> Outcome:
    """Success is a full reward; anything less that was judged is failure; what was not judged is neither."""
    if score.reward is None:
        return Outcome.UNSCORED
    return Outcome.SUCCESS if score.reward >= 1.0 else Outcome.FAILURE


def to_row(job: Job, stage: Stage, played: Played) -> dict[str, Json]:
    """The dataset's row of a finished rollout."""
    run, episode, task = played.run, played.episode, job.task
    assert run.stop_reason is not None, "a run that returned has stopped"
    usage, user_usage = run.usage, run.user_usage
    errors = [each.result.category or "unknown" for each in run.outcomes if not each.result.ok]
    completions = run.completions
    with_ids = any(each.token_ids is not None for each in completions)
    with_logprobs = any(each.logprobs is not None for each in completions)
    with_provider = any(each.provider for each in completions)
    row: dict[str, Json] = {
        "trajectory_id": job.id,
        "task_id": task.id,
        "job_index": job.index,
        "family": task.family,
        "branch": task.branch,
        "env": task.env,
        "env_digest": stage.world.digest,
        "split": task.split,
        "universe": task.universe,
        "sample_index": job.sample,
        "seed": job.seed,
        "messages": run.messages,
        "tools": played.tools,
        "segments": list(played.segments),
        "events": run.events,
        "outcome": outcome_of(played.score),
        "stop_reason": run.stop_reason,
        "reward": played.score.reward,
        "verdicts": [each.to_json() for each in played.score.verdicts],
        "state_diff": episode.diff().to_json(),
        "call_changes": call_changes(run),
        "state_hash_before": episode.state_hash_before,
        "state_hash_after": episode.state_hash(),
        "submitted": None if episode.submitted is None else dict(episode.submitted),
        "num_turns": len(completions),
        "num_tool_calls": len(run.outcomes),
        "num_tool_errors": len(errors),
        "error_categories": sorted(errors),
        "blame": blame(evidence_of_all(run, episode), played.score.verdicts, run.stop_reason),
        "executions": [each.to_json() for each in episode.executions],
        "injected_faults": injected(run.events),
        "parent_id": None,
        "branch_step": None,
        "token_ids": [list(each.token_ids or ()) for each in completions] if with_ids else None,
        "logprobs": [list(each.logprobs or ()) for each in completions] if with_logprobs else None,
        "provider_fields": [dict(each.provider) for each in completions] if with_provider else [],
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": run.cost_usd,
        "latency_s": round(played.latency_s, 6),
        "user_model": None if episode.user is None else episode.user.name,
        "user_input_tokens": user_usage.input_tokens,
        "user_output_tokens": user_usage.output_tokens,
        "user_cost_usd": run.user_cost_usd,
        "policy_input_tokens": run.policy_usage.input_tokens,
        "policy_output_tokens": run.policy_usage.output_tokens,
        "policy_cost_usd": run.policy_cost_usd,
        "model": stage.model.name,
        "sampling": stage.sampling.to_json(),
        "config_digest": stage.config_digest,
        "synth_version": stage.synth_version,
        "schema_version": SCHEMA_VERSION,
        "created_at": dt.datetime.now(dt.UTC),
    }
    return clean_row(row)


def evidence_of_all(run: AgentRun, episode: Episode) -> Evidence:
    """The evidence with the calls that the environment did not see: faults that were injected have their part in the blame."""
    evidence = episode.evidence()
    if len(run.outcomes) == len(evidence.calls):
        return evidence
    calls = [
        CallRecord(each.call.name, each.arguments, each.result.ok, each.result.category, False, each.changes)
        for each in run.outcomes
    ]
    return replace(evidence, calls=calls)


def call_changes(run: AgentRun) -> list[Mapping[str, Json]]:
    """The rows that each writing call changed, with the call's place in the rollout."""
    return [
        {"call": at, "id": each.call.id, "name": each.call.name, "changes": [c.to_json() for c in each.changes]}
        for at, each in enumerate(run.outcomes)
        if each.changes
    ]
