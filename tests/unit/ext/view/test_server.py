"""The viewer's server: loopback, a token for every request, and rows as they stand on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from synth.core.dataset.reviews import Reviews
from synth.ext.view.cli import ViewServer
from tests.sample_rows import all_kinds, error_row, write_run


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ViewServer]:
    run = write_run(tmp_path / "ehr", all_kinds(), errors=[error_row(6), error_row(7)])
    server = ViewServer([run, run])
    await server.start()
    yield server
    await server.stop()


async def get(server: ViewServer, path: str, **headers: str) -> tuple[int, Any]:
    address = f"http://127.0.0.1:{server.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(address, headers=headers) as answer:
        kind = answer.headers["Content-Type"]
        return answer.status, await (answer.json() if "json" in kind else answer.text())


@pytest.mark.parametrize(
    "path",
    [*("/", "/api/index", "/api/row/0/x", "/api/search?q=x"), "/?token=no", "/?token=%C3%BC%FF"],
)
async def test_every_request_needs_the_token(server: ViewServer, path: str):
    status, text = await get(server, path)
    assert status == 403
    assert server.token not in text


async def test_another_name_for_loopback_is_refused(server: ViewServer):
    """A page elsewhere can point a name of its own at 127.0.0.1."""
    status, _ = await get(server, f"/?token={server.token}", Host="evil.example:80")
    assert status == 403


async def test_it_listens_on_loopback_only(server: ViewServer):
    assert server.url.startswith("http://127.0.0.1:")
    assert server._runner is not None
    assert [address[0] for address in server._runner.addresses] == ["127.0.0.1"]


async def test_the_index_names_every_row_of_both_runs(server: ViewServer):
    status, index = await get(server, f"/api/index?token={server.token}")
    assert status == 200
    assert [shown["run"] for shown in index["rows"]] == [0] * 6 + [1] * 6
    assert all("messages" not in shown for shown in index["rows"])
    assert [shown["turns"] for shown in index["rows"][:2]] == [3, 3]


async def test_a_row_comes_with_its_prompt_and_its_tools(server: ViewServer):
    _, index = await get(server, f"/api/index?token={server.token}")
    first = index["rows"][0]["id"]
    status, answer = await get(server, f"/api/row/1/{first}?token={server.token}")
    assert status == 200
    assert answer["row"]["id"] == first
    assert answer["tools"][answer["row"]["tools"]]


async def test_unknown_rows_are_not_found(server: ViewServer):
    for path in ("/api/row/7/x", "/api/row/x/y"):
        status, _ = await get(server, f"{path}?token={server.token}")
        assert status == 404
    status, text = await get(server, f"/api/row/0/nothing?token={server.token}")
    assert status == 409
    assert "nothing" in text


async def test_search_finds_text_in_transcripts_of_each_run(server: ViewServer):
    _, index = await get(server, f"/api/index?token={server.token}")
    _, row = await get(server, f"/api/row/0/{index['rows'][0]['id']}?token={server.token}")
    words = row["row"]["messages"][-1]["content"].upper()
    _, found = await get(server, f"/api/search?token={server.token}&q={words}")
    assert index["rows"][0]["id"] in found
    assert f"{index['rows'][0]['id']}@1" in found
    _, nothing = await get(server, f"/api/search?token={server.token}&q=zzzzzz")
    assert nothing == []


async def test_an_sql_condition_is_looked_up_here_and_a_wrong_one_is_explained(server: ViewServer):
    _, index = await get(server, f"/api/index?token={server.token}")
    lost = [row["id"] for row in index["rows"] if row["run"] == 0 and row["outcome"] == "failure"]
    search = f"/api/search?token={server.token}&where=reward%20%3C%201"
    _, found = await get(server, search)
    assert set(found) == {*lost, *(f"{one}@1" for one in lost)}
    _, both = await get(server, f"{search}&q=warfarin")
    assert len(both) == 2
    status, text = await get(server, f"/api/search?token={server.token}&where=rewardd%3C1")
    assert status == 409
    assert "rewardd" in text


async def test_the_index_says_why_a_row_failed(server: ViewServer):
    _, index = await get(server, f"/api/index?token={server.token}")
    reasons = {row["outcome"]: row["why"] for row in index["rows"]}
    assert reasons["success"] == ""
    assert reasons["unscored"] == "user: the user gave the wrong date"


async def test_a_reviewer_sees_and_takes_back_their_own_word_only(tmp_path: Path):
    """Issue 38: a second key on a row that another had accepted took a word back that nobody gave."""
    run = write_run(tmp_path / "ehr", all_kinds())
    shown: list[tuple[str | None, str | None]] = []
    for reviewer, note in (("ann", "right"), ("bob", "")):
        server = ViewServer([run], reviewer=reviewer)
        await server.start()
        _, index = await get(server, f"/api/index?token={server.token}")
        first = index["rows"][0]
        _, answer = await get(server, f"/api/row/0/{first['id']}?token={server.token}")
        shown += [(one["review"], one["review_note"]) for one in (first, answer["row"])]
        address = f"http://127.0.0.1:{server.port}/api/review/0/{first['id']}?token={server.token}"
        said = {"verdict": "accept", "note": note}
        async with aiohttp.ClientSession() as session, session.post(address, json=said) as reply:
            assert await reply.json() == {"review": "accept", "review_note": note or None}
        await server.stop()
    assert shown == [(None, None)] * 4
    assert Reviews.read(run).summary()["agreed"] == 1
