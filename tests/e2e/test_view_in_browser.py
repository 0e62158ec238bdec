"""The viewer in a real browser: it shows what is there, runs nothing of it and asks nobody."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.ext.view.cli import ViewServer, main
from tests.e2e import chromium
from tests.e2e.chromium import HOSTILE, opened
from tests.sample_rows import all_kinds, failed, row, says, user, write_run

sync_api = chromium.sync_api()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view")
    first, *others = all_kinds()
    first["call_changes"] = [
        {"call": 1, "id": "c2", "name": "record_vitals", "changes": first["state_diff"]}
    ]
    rows = [first, *others, row(6, messages=[user(HOSTILE), says(HOSTILE)], family=HOSTILE[:40])]
    run = write_run(folder / "run", rows)
    out = folder / "view.html"
    main([str(run), str(run), "--out", str(out)])
    return out


@contextmanager
def serving(run: Path) -> Iterator[str]:
    """The address of a server of the run, which lives in a thread of its own."""
    server, loop = ViewServer([run]), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
        yield server.url
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.requests = []
    page.problems = []
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "console", lambda said: page.problems.append(said.text) if said.type == "error" else None
    )
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    yield page
    assert page.requests == [file.as_uri()]
    assert page.problems == []
    assert page.evaluate("window.owned") is None
    context.close()


def test_it_lists_all_rows_and_opens_the_first(page: Any):
    assert "14 of 14" in page.inner_text(".count")
    assert page.inner_text(".detail h1")
    assert page.locator(".call").count() > 0


def test_row_changes_stand_beside_the_call_that_made_them(page: Any):
    call = page.locator(".call:has(.effect)").first
    assert "row changes of this call" in call.inner_text().lower()
    assert call.locator(".change .op").first.inner_text().split()[0] in {
        "insert",
        "update",
        "delete",
    }


def test_a_filter_narrows_the_list(page: Any):
    page.click("text=Filters")
    page.select_option("select[aria-label=Outcome]", "failure")
    assert "4 of 14" in page.inner_text(".count")
    assert set(page.locator(".item").evaluate_all("items => items.map(i => i.className)")) == {
        "item failure"
    }
    page.click("text=Clear")
    assert "14 of 14" in page.inner_text(".count")


def test_search_marks_what_it_finds(page: Any):
    page.fill("input[type=search]", "zero")
    sync_api.expect(page.locator(".count")).to_contain_text("2 of 14")
    page.locator(".item").first.click()
    assert page.locator("mark").first.inner_text() == "zero"


def test_hostile_text_is_shown_and_does_nothing(page: Any):
    page.fill("input[type=search]", "reversed")
    sync_api.expect(page.locator(".count")).to_contain_text("2 of 14")
    page.locator(".item").first.click()
    shown = page.inner_text(".bubble >> nth=0")
    assert "<script>window.owned = 1</script>" in shown
    assert "U+202E" in shown
    assert "U+001B" in shown
    assert "U+200B" in shown
    assert page.locator(".detail img, .detail script").count() == 0


def test_keys_move_and_addresses_lead_back(page: Any):
    page.keyboard.press("j")
    sync_api.expect(page).to_have_url(re.compile("#/row/"))
    first = page.url
    page.keyboard.press("j")
    sync_api.expect(page).not_to_have_url(first)
    page.keyboard.press("k")
    sync_api.expect(page).to_have_url(first)
    page.keyboard.press("o")
    page.wait_for_selector(".tiles")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1


def test_two_keys_at_once_move_twice(page: Any):
    press = "key => dispatchEvent(new KeyboardEvent('keydown', {key}))"
    page.evaluate("window.step = " + press)
    page.evaluate("() => { step('j'); step('j'); step('k'); }")
    assert page.url.endswith("a177c0ffee5eed01")


def test_a_run_compared_with_itself_has_no_flips(page: Any):
    page.keyboard.press("c")
    page.wait_for_selector("text=No task flipped")
    assert "+" not in page.inner_text(".tiles")


def test_flips_say_why_and_lead_to_both_sides(browser: Any, tmp_path: Path):
    before = write_run(tmp_path / "before", [row(0), failed(1), row(2)])
    after = write_run(tmp_path / "after", [failed(0), row(1), row(2)])
    page = opened(browser, tmp_path, before, after)
    page.keyboard.press("c")
    page.wait_for_selector("text=Lost (1)")
    lost = page.locator("table.flips").first
    assert "state: collateral: medications" in lost.inner_text()
    lost.locator("a").click()
    page.wait_for_selector(".pair")
    assert page.locator(".pair > section").count() == 2


def test_samples_of_a_task_part_where_they_differ(browser: Any, tmp_path: Path):
    same = {"task_id": "t"}
    changed = [*row(0)["messages"][:4], says("It is not noted.")]
    worse = row(1, sample_index=1, messages=changed, reward=0.0, outcome="failure", **same)
    page = opened(browser, tmp_path, write_run(tmp_path / "run", [row(0, **same), worse]))
    page.keyboard.press("b")
    page.wait_for_selector(".parting")
    assert (
        page.locator(".same > summary").all_inner_texts()
        == ["The first 4 messages are the same on both sides"] * 2
    )
    page.keyboard.press("o")
    page.wait_for_selector("text=pass^2")


def test_branches_are_a_tree(browser: Any, tmp_path: Path):
    root, first, second = row(0, task_id="t"), row(1, task_id="t"), row(2, task_id="t")
    first |= {"parent_id": root["trajectory_id"], "branch_step": 2}
    second |= {"parent_id": first["trajectory_id"], "branch_step": 1}
    page = opened(browser, tmp_path, write_run(tmp_path / "run", [root, first, second]))
    assert nodes_of(page) == [*("root", "sample 0, from turn 2", "sample 0, from turn 1")]
    page.click("text=from turn 2")
    page.wait_for_selector("text=/messages are those of the parent/")
    assert page.locator(".tree ul ul .node").count() == 1


def test_branches_of_another_run_are_in_its_tree(browser: Any, tmp_path: Path):
    root, first, second = row(0, task_id="t"), row(1, task_id="t"), row(2, task_id="t")
    for index, branch in enumerate((first, second)):
        branch |= {"parent_id": root["trajectory_id"], "branch_step": 1, "job_index": index}
        branch["sample_index"] = index
    parents = write_run(tmp_path / "run", [root])
    branches = write_run(tmp_path / "branches", [first, second])
    page = opened(browser, tmp_path, parents, branches)
    assert nodes_of(page) == ["root", "sample 0, from turn 1", "sample 1, from turn 1"]
    page.click("text=from turn 1 >> nth=0")
    page.wait_for_selector("text=/messages are those of the parent/")
    page = opened(browser, tmp_path, branches)
    assert nodes_of(page) == ["sample 0, from turn 1", "sample 1, from turn 1"]
    assert "in another run" in page.inner_text(".tree")


def nodes_of(page: Any) -> list[str]:
    texts = page.locator(".tree .node a:first-child").all_inner_texts()
    return [text.replace("\u00a0", " ") for text in texts]


def test_rewards_are_filtered_and_failures_say_why_in_the_list(page: Any):
    page.click("text=Filters")
    page.select_option("select[aria-label=Reward]", "between 0 and 1")
    assert "2 of 14" in page.inner_text(".count")
    page.select_option("select[aria-label=Reward]", "0")
    assert "collateral: medications" in page.inner_text(".item >> nth=0")


def test_a_server_takes_sql_and_explains_what_it_cannot_read(browser: Any, tmp_path: Path):
    run = write_run(tmp_path / "run", all_kinds())
    with serving(run) as url:
        context = browser.new_context()
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        box = page.locator("input[aria-label='SQL condition over the columns']")
        box.fill("num_turns < 3")
        box.press("Enter")
        sync_api.expect(page.locator(".count")).to_contain_text("1 of 6")
        box.fill("num_turnz < 3")
        box.press("Enter")
        sync_api.expect(page.locator(".count")).to_contain_text("num_turnz")
        context.close()


def test_two_keys_and_a_note_review_the_open_row(browser: Any, tmp_path: Path):
    """Issue 38: accept, reject and a note are columns of the dataset."""
    run = write_run(tmp_path / "run", all_kinds())
    with serving(run) as url:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        page.wait_for_selector(".headline")
        page.keyboard.press("a")
        sync_api.expect(page.locator(".detail .pill", has_text="review: accept")).to_be_visible()
        page.keyboard.press("j")
        page.wait_for_selector(".headline")
        page.keyboard.press("x")
        sync_api.expect(page.locator(".detail .pill", has_text="review: reject")).to_be_visible()
        page.locator("input[aria-label=Note]").fill("no such patient")
        page.locator("input[aria-label=Note]").press("Enter")
        sync_api.expect(page.locator("input[aria-label=Note]")).to_have_value("no such patient")
        box = page.locator("input[aria-label='SQL condition over the columns']")
        box.fill("review = 'reject'")
        box.press("Enter")
        sync_api.expect(page.locator(".count")).to_contain_text("1 of 6")
        context.close()
    found = [(one["review"], one["review_note"]) for one in Dataset.open(run).rows()]
    assert found[:3] == [("accept", None), ("reject", "no such patient"), (None, None)]


@pytest.mark.parametrize(
    ("size", "scheme"), [((1280, 900), "light"), ((768, 1024), "dark"), ((390, 844), "light")]
)
def test_nothing_is_wider_than_the_screen(
    browser: Any, file: Path, size: tuple[int, int], scheme: str
):
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    page.locator(".item").nth(1).click()
    page.wait_for_selector(".turn")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate("document.querySelector('.detail').scrollWidth") <= size[0]
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    for key in ("o", "c"):
        page.keyboard.press(key)
        page.wait_for_selector(".tiles")
        assert page.evaluate("document.querySelector('.detail').scrollWidth") <= size[0], key
    context.close()


def test_the_skip_link_leads_to_the_transcript_and_stays_there(page: Any):
    page.locator(".item").nth(2).click()
    address = page.url
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "detail"
    assert page.url == address


def test_every_control_has_a_name(page: Any):
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, select, input, a')]"
        ".filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.title)).length"
    )
    assert nameless == 0
