"""``synth run --dry-run``: the plan of a job. Nothing is called and nothing is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from envs.tools.toolbox import tool_count
from synth.core.agent.submit_tool import submit_toolbox
from synth.core.config.compose import Composed
from synth.core.config.prices import INPUT, OUTPUT, prices_of
from synth.core.foundation.standard_output import say
from synth.core.renaming.opening import rules_of, tools_of
from synth.core.runner.runtimes.auto import choose
from synth.core.runner.setup import Workload
from synth.plan import job
from synth.plugins import RUN_HOOKS
from synth.prepare import PreparedRun, prepare
from synth.task import Task

CHARACTERS_PER_TOKEN = 4
SAMPLED_TASKS = 20
"""Tasks whose gold solutions an estimate is made of."""

RESULT_TOKENS, ANSWER_TOKENS = 150, 60
"""Tokens of a tool's result, and of a turn of the agent: round figures."""


def show(jobs: Sequence[Composed], *, as_json: bool) -> int:
    """Print the plan of each job; returns 0."""
    plans = [describe(_prepared(composed)) for composed in jobs]
    if as_json:
        whole = plans if any(composed.directory for composed in jobs) else plans[0]
        say(json.dumps(whole, indent=2, ensure_ascii=False))
        return 0
    for composed, plan in zip(jobs, plans, strict=True):
        if composed.directory:
            say(f"[{composed.directory}]")
        say("\n".join(_lines(plan)))
    return 0


def _prepared(composed: Composed) -> PreparedRun:
    run = prepare(composed.config)
    hooks = [RUN_HOOKS.load(name)(own) for name, own in composed.config.brought(RUN_HOOKS)]
    return replace(run, notes=[*run.notes, *(note for hook in hooks for note in hook.notes(run))])


def describe(run: PreparedRun) -> dict[str, Any]:
    """The plan of a run as plain data."""
    spec, plan = run.spec, run.plan
    task = plan.task(0)
    tools = _offered_tools(run, task)
    workload = Workload(plan.tasks, plan.jobs, run.free_sql)
    kind, why = choose(spec.runtime, run.worker_setup(b""), workload)
    composed, requests = Counter[int](), Counter[str]()
    for block in plan.blocks:
        composed.update(block.composed)
        requests.update(block.requests)  # pyright: ignore[reportArgumentType]
    universes = [
        {"universe": block.source.universe, "split": block.split, "tasks": block.tasks}
        for block in plan.blocks
    ]
    return {
        "world": {"name": run.world.name, "digest": run.world.digest, "path": str(run.world.path)},
        "tasks": plan.tasks,
        "samples": plan.samples,
        "rollouts": plan.jobs,
        "shards": len(run.layout),
        "seed": plan.seed,
        **({"universes": universes} if len(universes) > 1 else {}),
        "families": [
            {"family": name, "tasks": share, "capacity": plan.capacity(name)}
            | ({"requests": round(requests[name])} if composed else {})
            for name, share in plan.share.items()
        ],
        **({"composed": dict(sorted(composed.items()))} if composed else {}),
        **({"notes": list(run.notes)} if run.notes else {}),
        **({"account": run.account.to_json()} if run.account.entries else {}),
        "model": spec.endpoint.name or spec.endpoint.kind,
        "most_calls": plan.jobs * spec.agent.max_turns,
        "tools": {"count": len(tools), "tokens": len(json.dumps(tools)) // CHARACTERS_PER_TOKEN},
        "estimate": estimate(run, tools) if spec.asks_endpoint else None,
        "runtime": {"kind": kind if spec.runtime.kind == "auto" else spec.runtime.kind}
        | ({"why": why} if spec.runtime.kind == "auto" else {}),
        "first": {
            "id": job(0, task, plan.samples, plan.seed).id,
            "task": task.id,
            "system": rules_of(task),
            "user": task.prompt,
            "tools": tools,
        },
    }


def _offered_tools(run: PreparedRun, task: Task) -> list[dict[str, Any]]:
    """The tools of a task as the model is offered them, ``submit`` included."""
    boxes, answer = [run.world.toolbox], task.submit_parameters
    if answer is not None:
        boxes.append(submit_toolbox(answer, several=bool(task.parts)))
    return tools_of(task, boxes)


def estimate(run: PreparedRun, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Tokens and dollars of an agent that works as gold does, without a cache of prompts.

    A guess of the order of magnitude: real models take detours and think.
    """
    plan = run.plan
    count = min(plan.tasks, SAMPLED_TASKS)
    step = plan.tasks // count
    read = written = 0
    fixed = len(json.dumps(tools)) // CHARACTERS_PER_TOKEN
    for index in range(0, count * step, step):
        task = plan.task(index)
        prompt = fixed + (len(task.system) + len(task.prompt)) // CHARACTERS_PER_TOKEN
        turns = len(task.gold) + 1
        grown = (RESULT_TOKENS + ANSWER_TOKENS) * turns * (turns - 1) // 2
        read += prompt * turns + grown
        written += ANSWER_TOKENS * turns
    paid, generated = (total * plan.jobs // count for total in (read, written))
    model = run.spec.endpoint
    prices = prices_of(asdict(model), model.name)
    usd = None
    if INPUT in prices and OUTPUT in prices:
        usd = round((paid * prices[INPUT] + generated * prices[OUTPUT]) / 1e6, 4)
    return {"input_tokens": paid, "output_tokens": generated, "cost_usd": usd}


def _lines(plan: Mapping[str, Any]) -> list[str]:
    world, first = plan["world"], plan["first"]
    lines = [
        f"world     {world['name']} {world['digest']} ({world['path']})",
        (
            f"plan      {plan['tasks']} tasks x {plan['samples']} samples = {plan['rollouts']}"
            f" rollouts in {plan['shards']} shards, seed {plan['seed']}"
        ),
    ]
    lines += [
        f"          universe {block['universe']} ({block['split']}): {block['tasks']} tasks"
        for block in plan.get("universes", ())
    ]
    lines += [
        f"          {count} composed tasks of {size} requests"
        for size, count in plan.get("composed", {}).items()
    ]
    asked = [entry for entry in plan["families"] if entry["tasks"]]
    lines += [
        f"          {entry['family']}: {entry['tasks']} of {entry['capacity']:,}"
        + (f", about {entry['requests']} requests" if "requests" in entry else "")
        for entry in asked
    ]
    if idle := len(plan["families"]) - len(asked):
        lines.append(f"          {idle} more families get no task of this count")
    lines += [f"note      {note}" for note in plan.get("notes", ())]
    lines.append(f"model     {plan['model']}: at most {plan['most_calls']:,} calls")
    offered = plan["tools"]
    lines.append(
        f"tools     {tool_count(offered['count'])}; about {offered['tokens']:,} tokens of each"
        " prompt describe them"
    )
    if (guess := plan["estimate"]) is not None:
        cost = "price unknown" if guess["cost_usd"] is None else f"about ${guess['cost_usd']:,.2f}"
        lines.append(
            f"estimate  {guess['input_tokens']:,} input and {guess['output_tokens']:,} output"
            f" tokens if the model works as gold does, {cost}"
        )
    runtime = plan["runtime"]
    lines.append(
        f"runtime   {runtime['kind']}" + (f": {runtime['why']}" if "why" in runtime else "")
    )
    lines.append(f"\nfirst rollout {first['id']}, task {first['task']}\n")
    lines += [f"[{role}]\n{first[role]}\n" for role in ("system", "user")]
    lines.append("[tools]")
    lines += [json.dumps(tool["function"], ensure_ascii=False) for tool in first["tools"]]
    return lines
