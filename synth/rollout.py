"""One job from a fresh sandbox to a row of the dataset."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envs.folder import World
from envs.templates import Templates
from envs.types import Limits
from synth.agent.react import AgentLimits, AgentRun, ReactAgent
from synth.dataset.wire import sanitize
from synth.episode import Episode, Score
from synth.models.base import Model, Sampling
from synth.types import Job, Outcome
from synth.users.base import User
from synth.verifiers import blame

Json = Any

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Stage:
    """What all rollouts of a worker share. ``user`` is who answers in tasks that have a user; None: the scripted one."""

    world: World
    templates: Templates
    model: Model
    limits: Limits
    agent: AgentLimits
    user: User | None = None
    sampling: Sampling = field(default_factory=Sampling)
    config_digest: str = ""
    synth_version: str = ""


@dataclass(frozen=True)
class Played:
    """A finished rollout before it becomes a row."""

    run: AgentRun
    score: Score
    episode: Episode
    latency_s: float


async def play(job: Job, stage: Stage) -> dict[str, Json]:
    """Play the job and return its row (keys are the dataset's columns, JSON columns as Python values).

    Raises :class:`~synth.errors.ModelError`, :class:`~envs.errors.SandboxError` or
    :class:`~envs.errors.ExecutorError`: a rollout that could not be held is no row.
    """
    started = time.perf_counter()
    with (
        stage.templates.use(job.task.universe) as template,
        Episode(job.task, stage.world, template, stage.limits, user=stage.user, seed=job.seed) as episode,
    ):
        conversation = stage.model.start(job.task, episode.tools, job.seed)
        agent = ReactAgent(conversation, episode.call, stage.agent)
        run = await agent.run(episode.messages, episode.say if job.task.user is not None else None)
        episode.said = sanitize(run.said)[0]
        score = episode.score()
        return to_row(job, stage, Played(run, score, episode, time.perf_counter() - started))


def outcome_of(score: Score) -> Outcome:
    """Success is a full reward; anything less that was judged is failure; what was not judged is neither."""
    if score.reward is None:
        return Outcome.UNSCORED
    return Outcome.SUCCESS if score.reward >= 1.0 else Outcome.FAILURE


def to_row(job: Job, stage: Stage, played: Played) -> dict[str, Json]:
    """The dataset's row of a finished rollout."""
    run, episode, task = played.run, played.episode, job.task
    usage, user_usage = run.usage, run.user_usage
    errors = [each.result.category or "unknown" for each in run.outcomes if not each.result.ok]
    changed = {"changed": False}

    def clean(value: Json) -> Json:
        value, touched = sanitize(value)
        changed["changed"] |= touched
        return value

    completions = run.completions
    with_ids = any(each.token_ids is not None for each in completions)
    with_logprobs = any(each.logprobs is not None for each in completions)
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
        "messages": clean(run.messages),
        "tools": clean(episode.tools),
        "segments": [],
        "events": clean(run.events),
        "outcome": outcome_of(played.score),
        "stop_reason": run.stop_reason,
        "reward": played.score.reward,
        "verdicts": clean([each.to_json() for each in played.score.verdicts]),
        "state_diff": clean(episode.diff().to_json()),
        "call_changes": clean(call_changes(run)),
        "state_hash_before": episode.state_hash_before,
        "state_hash_after": episode.state_hash(),
        "submitted": clean(None if episode.submitted is None else dict(episode.submitted)),
        "num_turns": len(completions),
        "num_tool_calls": len(run.outcomes),
        "num_tool_errors": len(errors),
        "error_categories": sorted(errors),
        "blame": blame(episode.evidence(), played.score.verdicts, run.stop_reason),
        "injected_faults": [],
        "parent_id": None,
        "branch_step": None,
        "token_ids": [list(each.token_ids or ()) for each in completions] if with_ids else None,
        "logprobs": [list(each.logprobs or ()) for each in completions] if with_logprobs else None,
        "provider_fields": clean([dict(each.provider) for each in completions if each.provider]),
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
        "model": stage.model.name,
        "sampling": stage.sampling.to_json(),
        "config_digest": stage.config_digest,
        "synth_version": stage.synth_version,
        "schema_version": SCHEMA_VERSION,
        "created_at": dt.datetime.now(dt.UTC),
    }
    return row | {"sanitized": changed["changed"]}


def call_changes(run: AgentRun) -> list[Mapping[str, Json]]:
    """The rows that each writing call changed, with the call's place in the rollout."""
    return [
        {"call": at, "id": each.call.id, "name": each.call.name, "changes": [c.to_json() for c in each.changes]}
        for at, each in enumerate(run.outcomes)
        if each.changes
    ]
