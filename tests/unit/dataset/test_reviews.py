"""Reviews of rows by people: kept beside the shards, read as columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.__main__ import main
from synth.core.dataset.reader import Dataset
from synth.core.dataset.reviews import Review, Reviews, add_review
from synth.core.dataset.several import open_datasets
from synth.errors import DatasetError
from tests.sample_rows import row, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "ehr", [row(index, task_id=f"t{index}") for index in range(4)])


def said(run: Path, index: int, reviewer: str, verdict: str, note: str = "") -> None:
    add_review(run, Review(row(index)["trajectory_id"], reviewer, verdict, note))  # pyright: ignore[reportArgumentType]


def columns(run: Path) -> list[tuple[str | None, str | None]]:
    return [
        (one["review"], one["review_note"])
        for one in Dataset.open(run).rows(["review", "review_note"])
    ]


def test_the_last_word_of_each_reviewer_is_the_column(run: Path):
    assert columns(run) == [(None, None)] * 4
    said(run, 0, "ann", "reject", "wrong date")
    said(run, 0, "ann", "accept", "right after all")
    said(run, 1, "ann", "accept")
    said(run, 1, "bob", "reject")
    said(run, 2, "bob", "reject")
    said(run, 2, "bob", "")
    expected = [("accept", "right after all"), ("disputed", None), (None, None), (None, None)]
    assert columns(run) == expected
    ids = [row(index)["trajectory_id"] for index in range(4)]
    assert Dataset.open(run).ids("review = 'accept'") == {ids[0]}
    assert Dataset.open(run).find(ids[0])["review_note"] == "right after all"


def test_only_accepted_rows_are_exported(run: Path, tmp_path: Path):
    said(run, 3, "ann", "accept")
    out = tmp_path / "train.jsonl"
    words = ["export", str(run), "--to", "openai-jsonl", "--out", str(out)]
    assert main([*words, "--where", "review = 'accept'"]) == 0
    assert len(out.read_text().splitlines()) == 1


def test_how_two_reviewers_agree(run: Path, capsys: pytest.CaptureFixture[str]):
    for index, (ann, bob) in enumerate([("accept", "accept"), ("reject", "reject")]):
        said(run, index, "ann", ann)
        said(run, index, "bob", bob)
    said(run, 2, "ann", "accept")
    said(run, 2, "bob", "reject")
    summary = Reviews.read(run).summary()
    assert (summary["pairs"], summary["agreed"], summary["reviewers"]) == (3, 2, 2)
    assert summary["kappa"] == pytest.approx(0.4)  # (2/3 - 4/9) / (1 - 4/9)
    assert main(["inspect", str(run)]) == 0
    words = "accept 1, reject 1, disputed 1; 2 reviewers agree on 2 of 3 (kappa 0.40)"
    assert words in capsys.readouterr().out


def test_reviews_of_several_runs_stay_with_their_own(run: Path, tmp_path: Path):
    other = write_run(tmp_path / "other", [row(index) for index in range(2)])
    said(other, 0, "ann", "reject")
    with open_datasets([run, other]) as both:
        assert [one["review"] for one in both.rows(["review"])] == [*[None] * 4, "reject", None]


def test_what_is_no_review_is_named_with_its_line(run: Path):
    with pytest.raises(DatasetError, match="accept, reject or nothing, not 'maybe'"):
        said(run, 0, "ann", "maybe")
    (run / "reviews.jsonl").write_text(json.dumps({"verdict": "accept"}) + "\n")
    with pytest.raises(DatasetError, match=r"reviews.jsonl:1 is not a review"):
        Reviews.read(run)
