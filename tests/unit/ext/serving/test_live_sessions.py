"""Sessions that a client plays: each is a rollout on a sandbox of its own, judged at its end."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console

from synth.core.dataset.reader import Dataset
from synth.core.report.summary import summarize
from synth.core.report.table import next_steps
from synth.core.runner.resuming import resume
from synth.errors import OperatorError, ResumeRefused
from synth.ext.serving.live.session import LONGEST, RemoteSession, SessionError
from tests.unit import talking_world
from tests.unit.ext.serving.live_world import desk, run_of

PRICES = {'Lamp "XL"': 9.5, "Chair": 20.0, "Desk": 120.25}


async def solve(session: RemoteSession) -> None:
    price = PRICES[session.job.task.slots["name"]]
    assert (await session.call("submit", {"price": price})).ok
    assert (await session.say(f"It costs {price}.")).over


async def test_a_session_is_judged_when_the_user_ends_it(tmp_path: Path):
    async with desk(run_of(tmp_path)) as at:
        session = await at.book.session("a")
        assert [tool["name"] for tool in await session.tools()][-1] == "submit"
        await session.call("find_items", {"name": "Desk"})
        await solve(session)
    (report,) = at.reports
    assert (report.session, report.reward, report.stop_reason) == ("a", 1.0, "user_ended")
    assert report.calls == 2


async def test_the_user_answers_and_the_conversation_goes_on(tmp_path: Path):
    async with desk(run_of(tmp_path, ["plan_asked"])) as at:
        session = await at.book.session("a")
        answer = await session.say("On which day?")
        assert session.job.task.slots["day"] in answer.text
        assert not answer.over


async def test_two_sessions_do_not_see_each_others_rows(tmp_path: Path):
    async with desk(run_of(tmp_path, ["plan_asked"])) as at:
        first, second = await at.book.session("a"), await at.book.session("b")
        await first.call("plan_item", {"name": "Desk", "due": "2026-04-03"})
        assert "2026-04-03" in (await first.call("all_items", {})).text
        assert "2026-04-03" not in (await second.call("all_items", {})).text


async def test_who_leaves_without_a_turn_leaves_nothing_behind(tmp_path: Path):
    async with desk(run_of(tmp_path)) as at:
        task = (await at.book.session("a")).job.task.id
        await at.book.end("a")
        assert (await at.book.session("b")).job.task.id == task
    assert at.reports == []


async def test_who_leaves_in_the_middle_is_judged(tmp_path: Path):
    async with desk(run_of(tmp_path)) as at:
        session = await at.book.session("a")
        await session.call("all_items", {})
        await at.book.end("a")
        assert at.book.open == 0
    assert [(report.stop_reason, report.reward) for report in at.reports] == [("empty_reply", 0.0)]


async def test_an_idle_session_ends(tmp_path: Path):
    async with desk(run_of(tmp_path), idle_s=0.01) as at:
        session = await at.book.session("a")
        await session.call("all_items", {})
        await asyncio.wait([session.finished])
        with pytest.raises(SessionError, match="over"):
            await session.call("all_items", {})
    assert at.reports[0].stop_reason == "empty_reply"


async def test_a_session_has_a_bounded_number_of_turns(tmp_path: Path):
    async with desk(run_of(tmp_path, max_turns=2)) as at:
        session = await at.book.session("a")
        await session.call("all_items", {})
        assert (await session.call("all_items", {})).over
        with pytest.raises(SessionError, match="max_turns"):
            await session.call("all_items", {})


async def test_a_session_has_a_bounded_time(tmp_path: Path):
    async with desk(run_of(tmp_path, timeout_s=1.0)) as at:
        session = await at.book.session("a")
        await session.call("all_items", {})
        await asyncio.wait([session.finished])
    assert at.reports[0].stop_reason == "time_budget"


async def test_sessions_at_once_are_bounded(tmp_path: Path):
    async with desk(run_of(tmp_path), at_once=1) as at:
        await at.book.session("a")
        with pytest.raises(SessionError) as refused:
            await at.book.session("b")
        assert refused.value.kind == "too_many_sessions"
        await at.book.end("a")
        await at.book.session("b")


async def test_calls_that_arrive_together_are_turns_one_after_another(tmp_path: Path):
    async with desk(run_of(tmp_path)) as at:
        session = await at.book.session("a")
        names = ["Desk", "Chair", "Lamp"]
        answers = await asyncio.gather(
            *(session.call("find_items", {"name": name}) for name in names)
        )
        assert all(name in answer.text for name, answer in zip(names, answers, strict=True))


async def test_a_caller_that_gives_up_does_not_confuse_the_next(tmp_path: Path):
    async with desk(run_of(tmp_path)) as at:
        session = await at.book.session("a")
        await session.tools()
        call = asyncio.create_task(session.call("find_items", {"name": "Desk"}))
        await asyncio.sleep(0)
        call.cancel()
        assert "Chair" in (await session.call("find_items", {"name": "Chair"})).text


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [({"name": "x" * (LONGEST + 1)}, "too_large"), ({"name": float("nan")}, "bad_arguments")],
)
async def test_hostile_arguments_are_refused_and_the_session_goes_on(
    tmp_path: Path, arguments: dict[str, object], kind: str
):
    async with desk(run_of(tmp_path)) as at:
        session = await at.book.session("a")
        with pytest.raises(SessionError) as refused:
            await session.call("find_items", arguments)
        assert refused.value.kind == kind
        for words in ("", " \n", "x" * (LONGEST + 1)):
            with pytest.raises(SessionError):
                await session.say(words)
        unknown = await session.call("drop_everything", {})
        assert not unknown.ok
        assert "unknown_tool" in unknown.text
        await solve(session)
    assert at.reports[0].reward == 1.0


async def test_a_recording_is_continued_and_then_complete(tmp_path: Path):
    run, out = run_of(tmp_path, count=2), tmp_path / "out"
    for number in range(2):
        async with desk(run, record=out) as at:
            await solve(await at.book.session(f"s{number}"))
    with Dataset.open(out) as dataset:
        rows = list(dataset.rows())
    assert [row["job_index"] for row in rows] == [0, 1]
    assert [row["model"] for row in rows] == ["client", "client"]
    async with desk(run, record=out) as at:
        with pytest.raises(SessionError, match="every task"):
            await at.book.session("late")


async def test_a_recording_of_other_tasks_is_not_continued(tmp_path: Path):
    out = tmp_path / "out"
    async with desk(run_of(tmp_path, count=2), record=out):
        pass
    with pytest.raises(ResumeRefused, match="other tasks"):
        async with desk(run_of(tmp_path, count=3), record=out):
            pass


async def test_a_folder_with_something_else_is_not_recorded_into(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep", "utf-8")
    with pytest.raises(OperatorError):
        async with desk(run_of(tmp_path), record=tmp_path / "mine"):
            pass
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


async def test_a_rollout_that_breaks_is_an_error_row(tmp_path: Path):
    """A tool of the world has a mistake of its author's."""
    code = talking_world.make(tmp_path / "talk") / "executors.py"
    text = code.read_text("utf-8")
    broken = '    if colour == "green":\n        raise KeyError("canary")\n    change = text('
    code.write_text(text.replace("    change = text(", broken), "utf-8")
    out = tmp_path / "out"
    async with desk(run_of(tmp_path, count=2), record=out) as at:
        session = await at.book.session("a")
        with pytest.raises(SessionError, match="broke: ExecutorError"):
            await session.call("plan_item", {"name": "Desk", "due": "x", "colour": "green"})
        await at.book.end("a")
        await solve(await at.book.session("b"))
    assert [report.broke is None for report in at.reports] == [False, True]
    with Dataset.open(out) as dataset:
        (error,) = dataset.errors()
        assert [row["job_index"] for row in dataset.rows()] == [1]
    assert (error["job_index"], error["error_type"]) == (0, "ExecutorError")
    assert "plan_item" in error["message"]


async def test_no_run_can_go_on_with_a_recording(tmp_path: Path):
    out = tmp_path / "out"
    async with desk(run_of(tmp_path, count=2), record=out) as at:
        await solve(await at.book.session("a"))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    said = io.StringIO()
    with pytest.raises(OperatorError, match="synth mcp WORLD --record DIR"):
        resume(out, {}, Console(file=said))
    assert "Go on with" not in said.getvalue()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert all("--resume" not in step for step in next_steps(summarize(Dataset.open(out))))
