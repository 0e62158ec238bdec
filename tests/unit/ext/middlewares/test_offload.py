"""Long results go aside: what is shown, how it is read and searched, who may, and when it is
gone.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.types import ToolCall, ToolOutcome, ToolResult
from synth.agent import ReactAgent
from synth.core.agent.rollout_result import AgentLimits, AgentRun
from synth.core.agent.state import RolloutIdentity
from synth.core.agent.turn import ToolInterface
from synth.core.models.recap import GREP, READ, kept_in, read_piece
from synth.ext.middlewares import OffloadConfig
from synth.ext.middlewares.offload import BadPatternError, ToolResultOffloadMiddleware, places
from synth.model import Completion
from tests.unit.agent.test_react import DONE, OPENING, Lines, calls, check_transcript

Json = Any
LONG = {"patients": [{"id": at, "name": f"Zoë {at}"} for at in range(100)], "page": 1}
TEXT = json.dumps(LONG, ensure_ascii=False, separators=(",", ":"))
SMALL = OffloadConfig(max_chars=200, head_chars=40, tail_chars=20, read_chars=300)


async def dispatch(call: ToolCall) -> ToolOutcome:
    if call.name == "fail":
        result = ToolResult.failure("x" * 500, category="conflict")
    else:
        result = ToolResult(LONG if call.name == "list" else {"id": 1})
    return ToolOutcome(call, result, result.content())


def ask(call_id: str, name: str, **arguments: Json) -> Completion:
    return calls((call_id, name, json.dumps(arguments)))


async def played(*turns: Completion) -> AgentRun:
    agent = ReactAgent(
        Lines(*turns, DONE),
        ToolInterface(dispatch),
        AgentLimits(),
        middlewares=[ToolResultOffloadMiddleware(SMALL)],
        identity=RolloutIdentity(rollout_id="r1"),
    )
    run = await agent.run(OPENING)
    check_transcript(run.messages)
    return run


def shown(run: AgentRun) -> list[str]:
    return [each["content"] for each in run.messages if each["role"] == "tool"]


def results(run: AgentRun) -> list[Json]:
    return [each for each in run.recorded_events if each["event"] == "tool_result"]


async def test_a_long_result_is_previewed_and_recorded_whole():
    run = await played(ask("a", "list"), ask("b", "get"))
    (preview, short), (event, other) = shown(run), results(run)
    kept = kept_in(preview)
    assert kept is not None
    assert (kept.output_id, kept.size) == ("output_0", len(TEXT))
    assert "(100 patients)" in preview
    assert TEXT[:40] in preview
    assert preview.endswith(TEXT[-20:])
    assert len(preview) < 300
    assert event["result"] == LONG
    assert event["offloaded"] == "output_0"
    assert "by" not in event
    assert short == '{"id":1}'
    assert "offloaded" not in other


async def test_it_is_read_piece_by_piece_and_searched_and_these_calls_are_the_middlewares():
    run = await played(
        ask("a", "list"),
        ask("b", READ, output_id="output_0"),
        ask("c", READ, output_id="output_0", offset=300, limit=10),
        ask("d", GREP, output_id="output_0", pattern="Zoë 7"),
        ask("e", GREP, output_id="output_0", pattern='"id":9\\d', regex=True, max_matches=2),
        ask("f", GREP, output_id="output_0", pattern="nobody"),
    )
    _, first, second, literal, regex, nothing = shown(run)
    assert read_piece(first) == (TEXT[:300], 300)
    assert read_piece(second) == (TEXT[300:310], 310)
    assert literal.startswith("[output_0: 10 found; there may be more: go on with offset ")
    assert f"[at {TEXT.index('Zoë 7')}]" in literal
    assert regex.count("[at ") == 2
    assert nothing == "[output_0: nothing found]"
    assert [each.get("by") for each in results(run)] == [None] + ["offload"] * 5
    assert not any(each.changes for each in run.outcomes)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (READ, {"output_id": "output_1"}, "Unknown result 'output_1'; known are output_0"),
        (READ, {"output_id": "../outputs/1.txt"}, "Unknown result"),
        (READ, {"output_id": "output_0", "offset": 10**9}, "past its end"),
        (READ, {"output_id": "output_0", "offset": -1}, "-1"),
        (READ, {"output_id": "output_0", "limit": 0}, "0"),
        (READ, {}, "output_id"),
        (GREP, {"output_id": "output_0", "pattern": "(", "regex": True}, "not an RE2 expression"),
        (
            GREP,
            {"output_id": "output_0", "pattern": "(?=a)", "regex": True},
            "not an RE2 expression",
        ),
        (
            GREP,
            {"output_id": "output_0", "pattern": "((a?){50}){20}", "regex": True},
            "repeats too much",
        ),
        (GREP, {"output_id": "output_0", "pattern": ""}, "between 1 and 300 characters"),
        (GREP, {"output_id": "output_0", "pattern": "x" * 301}, "between 1 and 300 characters"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_reason(tool: str, arguments: Json, words: str):
    run = await played(ask("a", "list"), ask("b", tool, **arguments))
    event = results(run)[1]
    assert event["result"]["category"] == "invalid_arguments"
    assert words in event["result"]["message"]
    assert event["by"] == "offload"


async def test_another_rollouts_result_is_not_there():
    await played(ask("a", "list"))
    run = await played(ask("a", READ, output_id="output_0"))
    assert "none so far" in results(run)[0]["result"]["message"]


async def test_errors_are_never_put_aside():
    run = await played(ask("a", "fail"))
    assert "x" * 500 in shown(run)[0]


def test_searches_count_characters_and_do_not_explode():
    """Offsets are characters', not bytes'; what takes Python's matcher for ever is found to be
    nothing at once.
    """
    assert places("éé xé", "é", regex=False, ignore_case=False, offset=1, most=9) == [
        (1, 2),
        (4, 5),
    ]
    assert places("ABab", "ab", regex=False, ignore_case=True, offset=0, most=9) == [(0, 2), (2, 4)]
    assert places("a.b", ".", regex=False, ignore_case=False, offset=0, most=9) == [(1, 2)]
    assert places("aaa", "x*", regex=True, ignore_case=False, offset=0, most=9) == []
    assert places("a" * 100_000, "(a+)+$b", regex=True, ignore_case=False, offset=0, most=9) == []
    with pytest.raises(BadPatternError, match="lone surrogate"):
        places("aa", "\ud800", regex=False, ignore_case=False, offset=0, most=9)
    with pytest.raises(BadPatternError, match="not an RE2 expression"):
        places("aa", r"(a)\1", regex=True, ignore_case=False, offset=0, most=9)
