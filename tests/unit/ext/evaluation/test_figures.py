"""The figures of an evaluation, and the pages made of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from synth.core.dataset.reader import Dataset
from synth.core.report.compare import compare
from synth.errors import DatasetError
from synth.ext.evaluation.pages import comparison_page, evaluate, model_card, on_screen, report_page
from tests.sample_rows import row, unscored, verdict, write_run

LOST = verdict("state", 0.0, "missing: loans")
MORE = {"num_turns": 40, "input_tokens": 9_000, "output_tokens": 900, "latency_s": 500.0}


def sample(index: int, task: str, number: int, passed: bool, **more):
    failed = {} if passed else {"outcome": "failure", "reward": 0.0, "verdicts": [LOST]}
    return row(index, task_id=task, sample_index=number, **failed, **more)


@pytest.fixture
def document(tmp_path: Path):
    rows = [
        sample(0, "t1", 0, True, family="easy", universe=7),
        sample(1, "t1", 1, True, family="easy", universe=7),
        sample(2, "t2", 0, False, family="hard", universe=8, stop_reason="max_turns"),
        sample(3, "t2", 1, True, family="hard", universe=8, **MORE),
        unscored(4) | {"task_id": "t3"},
    ]
    with Dataset.open(write_run(tmp_path / "run", rows)) as dataset:
        return evaluate(dataset, {"t1": "simple", "t2": None})


def test_rates_are_those_of_scored_samples_by_every_name(document):
    figures = document["pass"]
    assert (figures["passed"], figures["samples"], figures["tasks"]) == (3, 4, 2)
    assert (figures["pass_at"], figures["all_of"]) == ({"1": 0.75, "2": 1.0}, {"1": 0.75, "2": 0.5})
    assert figures["intervals"]["all_of"]["2"] == [0.0, 1.0]
    rates = {part["name"]: part["pass"]["rate"] for part in document["families"]}
    assert rates == {"easy": 1.0, "hard": 0.5}
    (simple,) = document["difficulties"]
    assert simple["name"] == "simple"
    one = row(0)
    assert simple["turns"] == one["num_turns"]
    assert simple["tokens"] == one["input_tokens"] + one["output_tokens"]
    assert simple["seconds"] == one["latency_s"]
    ends = {part["name"]: part["pass"]["passed"] for part in document["stop_reasons"]}
    assert ends == {"finished": 3, "max_turns": 0}
    assert document["unscored"] == 1
    assert document["why_failed"][0] | {"count": 1} == {
        "verifier": "state",
        "blame": None,
        "stop_reason": "max_turns",
        "count": 1,
    }
    assert {7, 8} <= set(document["universes"])


def test_the_report_says_what_is_not_counted_and_gives_each_measure(document):
    page = report_page(document)
    assert "3 of 4 rollouts of 2 tasks passed" in page
    assert "Not counted: 1 without a score." in page
    assert "| pass^2 | 50.0% |  |" in page
    assert "| hard | 1 | 2 | 50.0% |" in page


def test_the_card_opens_with_what_hubs_read(document):
    _, header, text = model_card(document).split("---\n", 2)
    (entry,) = yaml.safe_load(header)["model-index"]
    (result,) = entry["results"]
    assert {one["type"]: one["value"] for one in result["metrics"]} == {
        "pass@1": 0.75,
        "pass@2": 1.0,
        "pass^2": 0.5,
    }
    assert "| pass@1 | 75.0% |" in text


def test_before_and_after_stand_side_by_side(tmp_path: Path):
    tasks = [f"t{number}" for number in range(6)]
    before = [sample(index, task, 0, False) for index, task in enumerate(tasks)]
    after = [sample(index, task, 0, True, model="new") for index, task in enumerate(tasks)]
    paths = write_run(tmp_path / "a", before), write_run(tmp_path / "b", after)
    page = comparison_page(compare(*map(Dataset.open, paths)))
    assert "| all | 6 | 0.0% | 100.0% | +100.0 |  | 0.0312 |" in page


def test_a_run_without_a_score_has_nothing_to_report(tmp_path: Path):
    with (
        Dataset.open(write_run(tmp_path / "run", [unscored(0)])) as dataset,
        pytest.raises(DatasetError, match="no scored row"),
    ):
        evaluate(dataset, {})


def test_a_terminal_shows_the_lowest_families_and_ends_with_the_headline(tmp_path: Path):
    rows = [sample(index, f"t{index}", 0, index > 0, family=f"f{index:02}") for index in range(20)]
    with Dataset.open(write_run(tmp_path / "run", rows)) as dataset:
        found = evaluate(dataset, {})
    lines = on_screen(found).splitlines()
    assert "## Families (8 lowest of 20)" in lines
    assert sum(line.startswith(("| f0", "| f1")) for line in lines) == 8
    assert any(line.startswith("| f00 | 1 | 1 | 0.0% |") for line in lines)
    assert lines.index("19 of 20 rollouts of 20 tasks passed, in universe 0.") > len(lines) - 6
    assert sum(line.startswith(("| f0", "| f1")) for line in report_page(found).splitlines()) == 20
