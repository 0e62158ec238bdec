"""What the viewer's page makes of its space: pairs, reasons, branches, two runs, phones, colours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import chromium
from tests.e2e.chromium import opened
from tests.sample_rows import all_kinds, failed, row, verdict, write_run

sync_api = chromium.sync_api()

PHONE = {"width": 390, "height": 844}

WRITE = "insert vitals(vital_id=301): patient_id=8, heart_rate=72, note=None"
REASON = (
    "2 missing: insert vitals(vital_id=301): note=None, patient_id=7, heart_rate=72, memo=None;"
    " update medications(medication_id=5): stopped=None, note='a; b', 1 collateral: "
    f"{WRITE}; first wrong write: call 1 (record_vitals), {WRITE}"
)

CONTRAST = """() => {
  const rgba = (text) => { const [r, g, b, a = 1] = text.match(/[0-9.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, under) => under.map((value, i) => top[i] * top[3] + value * (1 - top[3]));
  const light = (colour) => colour.map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const low = [];
  const check = (element, colour, text) => {
    const layers = [];
    let alpha = 1;
    for (let at = element; at; at = at.parentElement) {
      layers.push(rgba(getComputedStyle(at).backgroundColor));
      alpha *= Number(getComputedStyle(at).opacity);
    }
    const under = layers.reverse().reduce((sum, layer) => over(layer, sum), [255, 255, 255]);
    const ink = over([...rgba(colour).slice(0, 3), rgba(colour)[3] * alpha], under);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${element.className || element.tagName} ${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    if (["SCRIPT", "STYLE", "NOSCRIPT", "title"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    check(element, element.namespaceURI.endsWith("svg") ? style.fill : style.color, walker.currentNode.data);
    count += 1;
  }
  for (const input of document.querySelectorAll("input")) check(input, getComputedStyle(input, "::placeholder").color, "placeholder");
  return [count, [...new Set(low)]];
}"""  # noqa: E501


def samples(folder: Path) -> Path:
    """A run of one task: a success, and a failure with a long reason that parts from it late."""
    messages = [*row(0)["messages"][:4], *failed(1)["messages"][2:]]
    verdicts = [
        verdict("answer", 0.0, "no answer"),
        verdict("state", 0.0, REASON, first_wrong=None),
    ]
    worse = failed(1) | {"messages": messages, "verdicts": verdicts, "blame": "agent"}
    same = {"task_id": "t", "family": "stop_medication"}
    return write_run(folder / "samples", [row(0) | same, worse | same | {"sample_index": 1}])


def branched(folder: Path) -> tuple[Path, Path]:
    """Three rollouts, and a run of three branches of the first one."""
    roots = [failed(0), row(1), row(2)]
    branches = [row(5), row(6), failed(7) | {"outcome": "success", "reward": 1.0}]
    for index, branch in enumerate(branches):
        branch |= {"parent_id": roots[0]["trajectory_id"], "branch_step": 1, "job_index": index}
        branch |= {"task_id": roots[0]["task_id"], "sample_index": index, "family": "branched"}
    return write_run(folder / "roots", roots), write_run(folder / "branches", branches)


def top(page: Any, selector: str) -> list[float]:
    """Where the elements begin, in pixels from the top."""
    script = "all => all.map((one) => one.getBoundingClientRect().top)"
    return page.locator(selector).evaluate_all(script)


def test_both_transcripts_of_a_pair_begin_at_one_height(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, samples(tmp_path), viewport={"width": 1280, "height": 900})
    page.keyboard.press("b")
    page.wait_for_selector(".pair")
    for text in ("Transcript", "Row changes against gold"):
        left, right = top(page, f".pair :is(h2, h3):text-is('{text}')")
        assert abs(left - right) < 1, text
    assert len(set(top(page, ".pair .parting"))) == 1
    assert (
        page.locator(".pair .verdicts").nth(0).bounding_box()["height"] + 40
        < (page.locator(".pair .verdicts").nth(1).bounding_box()["height"])
    )


def test_what_follows_the_parting_says_who_speaks(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, samples(tmp_path))
    page.keyboard.press("b")
    page.wait_for_selector(".parting")
    assert page.locator(".parting + .turn .who").all_inner_texts() == ["ASSISTANT"] * 2


def test_a_reason_is_a_list_without_the_nulls_of_inserts_and_is_never_cut(
    browser: Any, tmp_path: Path
):
    page = opened(browser, tmp_path, samples(tmp_path))
    page.locator(".item").nth(1).click()
    reason = page.locator(".card.failing .reason").nth(1)
    reason.locator("li").first.wait_for()
    assert reason.locator("li").all_inner_texts() == [
        "2 missing insert vitals(vital_id=301): patient_id=7, heart_rate=72",
        "update medications(medication_id=5): stopped=None, note='a; b'",
        "1 collateral insert vitals(vital_id=301): patient_id=8, heart_rate=72",
        "first wrong write call 1 (record_vitals)",
    ]
    assert reason.locator("mark").count() == 0, "two rows are missing, so which one stands instead?"
    wrong = "1 missing: insert a(id=1): x=1, y=2; 1 collateral: insert a(id=1): x=1, y=3"
    worse = failed(0) | {"verdicts": [verdict("state", 0.0, wrong)]}
    page = opened(browser, tmp_path, write_run(tmp_path / "one", [worse]))
    marks = page.locator(".card.failing mark")
    assert marks.all_inner_texts() == ["y=2", "y=3"]
    many = "1 missing: " + "; ".join(f"delete notes(note_id={note})" for note in range(40))
    worse = failed(0) | {"verdicts": [verdict("state", 0.0, many)]}
    page = opened(browser, tmp_path, write_run(tmp_path / "many", [worse]))
    page.click("text=and 32 more")
    reason = page.locator(".card.failing .reason").first
    assert "delete notes(note_id=39)" in reason.inner_text()
    assert reason.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_a_failing_root_is_compared_with_each_of_its_branches(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, *branched(tmp_path))
    page.locator(".item").first.click()
    links = page.locator(".tree ul a:text-is('compare')")
    links.nth(2).wait_for()
    assert links.count() == 3
    links.nth(1).click()
    page.wait_for_selector(".pair")
    assert page.locator(".pair > section").evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-label'))"
    ) == [
        "stop_medication: sample\u00a00, roots",
        "branched: sample\u00a01, from\u00a0turn\u00a01, branches",
    ]


def test_branches_beside_their_parents_are_no_comparison_of_models(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, *branched(tmp_path))
    page.keyboard.press("c")
    page.wait_for_selector("text=This is not a comparison of two models")
    text = page.inner_text(".detail").replace("\u00a0", " ")
    assert "3 branches, each beside its parent" in text
    assert "2 of 3 rollouts unpaired in roots, 0 of 3 rollouts unpaired in branches" in text
    assert "Better than their parent (3)" in text
    assert "--compare" not in text


def test_two_runs_are_paired_counted_and_flips_stand_first(browser: Any, tmp_path: Path):
    before = [row(0), failed(1), *(row(place, family="alike") for place in (2, 3))]
    after = [failed(0) | {"family": "record_vitals"}, row(1), row(2, family="alike")]
    runs = write_run(tmp_path / "before", before), write_run(tmp_path / "after", after)
    page = opened(browser, tmp_path, *runs)
    page.keyboard.press("c")
    page.wait_for_selector(".tiles")
    text = page.inner_text(".detail").replace("\u00a0", " ")
    assert "This is not a comparison" not in text
    assert "1 of 4 rollouts unpaired in before, 0 of 3 rollouts unpaired in after" in text
    assert "mean reward, difference" in text
    assert text.index("Lost (1)") < text.index("Mean reward by family")
    families = page.locator(".chart:has(h2:text('Mean reward by family')) tbody th")
    assert families.all_inner_texts()[-1] == "alike"


def test_each_run_of_two_has_its_own_figures(browser: Any, tmp_path: Path):
    first = write_run(tmp_path / "first", [row(0), row(1), row(2)])
    second = write_run(tmp_path / "second", [failed(0), row(1)])
    page = opened(browser, tmp_path, first, second)
    page.keyboard.press("o")
    page.wait_for_selector(".tiles")
    runs = page.locator(".of-run").all_inner_texts()
    assert [re.findall(r"first|second|\d+\ntrajectories|[\d.]+\s%\n", text) for text in runs] == [
        ["first", "3\ntrajectories", "100.0\u00a0%\n"],
        ["second", "2\ntrajectories", "50.0\u00a0%\n"],
    ]
    turns = page.locator(".chart:has(h2:text('By family')) h2").all_inner_texts()
    assert turns == ["By family first", "By family second"]


def test_bars_count_and_failures_are_hatched(browser: Any, tmp_path: Path):
    obeyed = [verdict("injection", 0.0, "the agent obeyed", apart=["hostile text"])]
    bad = failed(3) | {"num_turns": 5, "verdicts": obeyed}
    rows = [row(0), row(1), row(2, num_turns=5), bad]
    page = opened(browser, tmp_path, write_run(tmp_path / "run", rows))
    page.keyboard.press("o")
    apart = page.locator(".chart:has(h2:text-is('Counted apart')) tbody th")
    assert apart.all_inner_texts() == ["hostile text"]
    card = page.locator(".chart:has(h2:text-is('Turns'))")
    assert card.locator(".count").all_text_contents() == ["2", "2"]
    fills = card.locator(".bar").evaluate_all("all => all.map((one) => getComputedStyle(one).fill)")
    assert sum("#hatch" in fill for fill in fills) == 1
    assert card.locator(".bar.failure").count() == 1
    stacked = page.locator(".track .part.failure").first
    assert "repeating-linear-gradient" in stacked.evaluate(
        "one => getComputedStyle(one).backgroundImage"
    )


def test_filters_are_folded_and_those_in_force_are_shown(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, write_run(tmp_path / "run", all_kinds()))
    assert not page.locator("select[aria-label=Outcome]").is_visible()
    assert page.locator("select[aria-label=Sort]").inner_text().startswith("Sort: plan order")
    page.click("text=Filters")
    page.select_option("select[aria-label=Outcome]", "failure")
    page.click("text=Filters")
    assert page.locator(".chip").all_text_contents() == ["Outcome: failure\u00d7"]
    page.click(".chip")
    assert "6 of 6" in page.inner_text(".count")


def test_on_a_phone_facts_are_folded_and_a_pair_leads_back(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, samples(tmp_path), viewport=PHONE)
    page.locator(".item").nth(1).click()
    assert not page.locator(".facts").is_visible()
    page.click("summary:has-text('tool calls')")
    assert page.locator(".facts").is_visible()
    page.keyboard.press("b")
    assert not page.locator(".shared .facts").is_visible()
    back = page.locator(".headline.side a")
    assert back.bounding_box()["x"] < page.locator(".headline.side h1").bounding_box()["x"]
    page.locator(".pair .across").first.click()
    sync_api.expect(page.locator(".pair > section").nth(1)).to_be_in_viewport()
    back.click()
    page.wait_for_selector(".verdicts")


@pytest.mark.parametrize("width", [390, 820])
def test_no_table_is_cut_off(browser: Any, tmp_path: Path, width: int):
    long = "a_family_with_a_long_name", "afamilywithalongnameandnounderscores"
    rows = [
        row(place, family=long[place // 4], task_id=long[place // 4], sample_index=place % 4)
        for place in range(8)
    ]
    runs = [write_run(tmp_path / name, rows) for name in ("before", "after")]
    page = opened(browser, tmp_path, *runs, viewport={"width": width, "height": 844})
    for key in ("o", "c"):
        page.keyboard.press(key)
        page.wait_for_selector(".tiles")
        cut = "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert page.locator(".chart").count() > 0
        assert page.locator(".chart, .sheet, th.name").evaluate_all(cut) == 0, key


def test_a_planned_mistake_and_its_recovery_are_told_apart(browser: Any, tmp_path: Path):
    turns = [dict(one) for one in row(0)["messages"]]
    said = [place for place, one in enumerate(turns) if one["role"] == "assistant"]
    turns[said[0]]["train"] = False
    log = {"kind": "wrong_argument", "detail": "", "missing": False}
    fields = [
        {"mistake": log | {"recovered": True, "turn": 0}},
        {"mistake": log | {"recovered": True, "turn": 1}},
    ]
    recovered = row(0) | {"messages": turns, "provider_fields": fields}
    page = opened(browser, tmp_path, write_run(tmp_path / "recovered", [recovered]))
    assert page.locator(".turn.assistant .who .pill").all_inner_texts() == [
        "NOT TRAINED ON",
        "PLANNED MISTAKE: WRONG ARGUMENT",
        "RECOVERY",
    ]


def test_gates_and_rules_are_explained(browser: Any, tmp_path: Path):
    page = opened(browser, tmp_path, samples(tmp_path))
    page.locator(".item").nth(1).click()
    titles = page.locator(".card.failing abbr").evaluate_all("all => all.map((one) => one.title)")
    assert "makes the reward 0" in titles[0]
    assert "No model was asked" in titles[-1]
    page.keyboard.press("?")
    assert "pass^k" in page.inner_text("dialog")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_legible(browser: Any, tmp_path: Path, scheme: str):
    runs = branched(tmp_path)
    page = opened(browser, tmp_path, *runs, color_scheme=scheme)
    seen = 0
    for keys in ("j", "jj", "o", "c"):
        for key in keys:
            page.keyboard.press(key)
        count, low = page.evaluate(CONTRAST)
        seen += count
        assert low == [], keys
    page = opened(browser, tmp_path, samples(tmp_path), color_scheme=scheme)
    page.keyboard.press("b")
    page.wait_for_selector(".pair")
    count, low = page.evaluate(CONTRAST)
    assert low == []
    assert seen + count > 300


def test_all_that_is_folded_is_printed(browser: Any, tmp_path: Path):
    rows = [row(index, family=f"family_{index}") for index in range(30)]
    page = opened(browser, tmp_path, write_run(tmp_path / "run", rows))
    page.keyboard.press("o")
    families = page.locator(".chart:has(h2:text-is('By family')) tbody tr")
    assert not families.last.is_visible()
    page.emulate_media(media="print")
    assert families.last.is_visible()
    assert not page.locator("header").is_visible()
