"""Spans and metrics of a whole run, read back from an OTLP collector on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.config.compose import compose
from synth.ext.serving.known_rollouts import open_served
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint
from tests.otlp_collector import Collector, attributes, collector

ROOT = Path(__file__).parents[2]
PLAN = ("tasks.count=6", "seed=3")
KEY, HEADER = "sk-canary-4711-abcdefghijkl", "Bearer canary-0815-qrstuvwx"


def play(
    folder: Path, kept: Collector, *more: str, world: str = "env=library"
) -> list[dict[str, Any]]:
    config = compose([*PLAN, world], multirun=False, config_dir=None)[0].config
    with open_served(config) as served, endpoint(served.repertoire, api_key=KEY) as url:
        done = synth(
            *("run", *PLAN, world, "runtime=inline", "output.dir=out", "preflight=false"),
            *("model=openai", "model.name=expert", f"model.base_url={url}", "model.send_seed=true"),
            *("telemetry.callbacks=[otel]", f"telemetry.otel.endpoint={kept.url}"),
            *("telemetry.otel.headers_env=COLLECTOR_HEADERS", *more),
            cwd=folder,
            env={"OPENAI_API_KEY": KEY, "COLLECTOR_HEADERS": f"authorization={HEADER}"},
        )
    assert "warning" not in done.stderr
    return stable_rows(folder / "out")


def test_a_run_is_read_back_from_a_collector_without_a_word_or_a_secret(tmp_path: Path):
    with collector() as kept:
        rows = play(tmp_path, kept)
    (run,) = kept.named("invoke_workflow")
    rollouts = kept.named("invoke_agent")
    assert attributes(run)["synth.run.status"] == "complete"
    assert {attributes(span)["gen_ai.conversation.id"] for span in rollouts} == {
        row["trajectory_id"] for row in rows
    }
    for span in rollouts:
        (link,) = span.links
        assert (link.trace_id, link.span_id) == (run.trace_id, run.span_id)
        row = next(
            row
            for row in rows
            if row["trajectory_id"] == attributes(span)["gen_ai.conversation.id"]
        )
        assert attributes(span)["synth.reward"] == row["reward"]
        judged = [attributes(event) for event in span.events]
        assert [event["gen_ai.evaluation.name"] for event in judged] == [
            verdict["verifier"] for verdict in row["verdicts"]
        ]
        children = [other for other in kept.spans if other.parent_span_id == span.span_id]
        kinds = [attributes(child)["gen_ai.operation.name"] for child in children]
        assert kinds.count("chat") == row["num_turns"]
        assert kinds.count("execute_tool") == row["num_tool_calls"]
        assert {child.trace_id for child in children} == {span.trace_id}
    assert {header["authorization"] for header in kept.headers} == {HEADER}
    _metrics_agree(kept, rows)
    sent = b"".join(kept.raw)
    for row in rows:
        for message in row["messages"]:
            assert not message.get("content") or message["content"].encode() not in sent
    assert KEY.encode() not in sent
    assert HEADER.encode() not in sent


def _metrics_agree(kept: Collector, rows: list[dict[str, Any]]) -> None:
    assert sum(point.as_int for point in kept.points("synth.rollouts")) == len(rows)
    assert sum(point.as_int for point in kept.points("synth.rollouts.waiting")) == 0
    rewards = kept.points("synth.rollout.reward")
    assert sum(point.sum for point in rewards) == sum(row["reward"] for row in rows)
    assert sum(point.as_int for point in kept.points("synth.tool.calls")) == sum(
        row["num_tool_calls"] for row in rows
    )
    chats = kept.points("gen_ai.client.operation.duration")
    assert sum(point.count for point in chats) == sum(row["num_turns"] for row in rows)


def test_a_share_of_the_rollouts_has_spans_and_all_are_counted(tmp_path: Path):
    with collector() as kept:
        rows = play(tmp_path, kept, "telemetry.otel.sample=0.000001")
    assert len(kept.named("invoke_workflow")) == 1
    assert not kept.named("invoke_agent")
    assert sum(point.as_int for point in kept.points("synth.rollouts")) == len(rows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("telemetry.callbacks=[otle]", "telemetry.callbacks: unknown callback 'otle'"),
        ("telemetry.callbacks=[otel,otel]", "telemetry.callbacks: 'otel' is listed twice"),
        ("telemetry.otel.endpoint=localhost", "telemetry.otel.endpoint: starts with http://"),
        ("+telemetry.options.mine.x=1", "telemetry.callbacks does not list it"),
    ],
)
def test_a_mistake_in_the_section_is_one_message(tmp_path: Path, given: str, said: str):
    done = synth("run", given, "output.dir=out", cwd=tmp_path, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
