"""The viewer's file: everything is in it, nothing of a transcript can run, and large runs are refused."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from synth.core.dataset.reader import Dataset
from synth.errors import DatasetError, OperatorError
from synth.ext.view import page
from synth.ext.view.cli import main
from synth.ext.view.payload import level, notable_events, why
from tests.sample_rows import all_kinds, error_row, failed, row, user, write_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    errors = [error_row(6), error_row(7, retryable=False)]
    return write_run(tmp_path_factory.mktemp("runs") / "ehr", all_kinds(), errors=errors)


def data_of(text: str) -> Any:
    packed = re.search(r'id="data">([^<]*)</script>', text)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_holds_every_row_and_each_prompt_once(run: Path, tmp_path: Path):
    assert main([str(run), "--out", str(tmp_path / "view.html")]) == 0
    data = data_of((tmp_path / "view.html").read_text("utf-8"))
    with Dataset.open(run) as dataset:
        rows = list(dataset.rows())
    assert [shown["id"] for shown in data["rows"]] == [given["trajectory_id"] for given in rows]
    assert [shown["reward"] for shown in data["rows"]] == [given["reward"] for given in rows]
    systems = {
        message["content"]
        for given in rows
        for message in given["messages"]
        if message["role"] == "system"
    }
    assert sorted(data["prompts"]) == sorted(systems)
    assert data["runs"][0]["rows"] == len(rows)
    assert data["runs"][0]["errors"] == 2


def test_only_the_pages_own_script_and_style_may_run(run: Path, tmp_path: Path):
    out = tmp_path / "view.html"
    main([str(run), "--out", str(out)])
    text = out.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert "connect-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_page_names_no_address_but_that_of_svg():
    named = {
        address
        for name in ("page.html", "page.css", *(f"{part}.js" for part in page.SCRIPTS))
        for address in re.findall(r"https?://[^\s\"'`)]+", page.asset(name))
    }
    assert named == {"http://www.w3.org/2000/svg"}


def test_a_message_cannot_close_the_data(tmp_path: Path):
    hostile = "</script><script>alert(1)</script>"
    run = write_run(tmp_path / "run", [row(0, messages=[user(hostile)])])
    main([str(run), "--out", str(tmp_path / "view.html")])
    text = (tmp_path / "view.html").read_text("utf-8")
    assert hostile not in text
    assert data_of(text)["rows"][0]["messages"][0]["content"] == hostile


def test_too_many_rows_are_refused_with_both_ways_out(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(page, "MAX_ROWS", 5)
    with pytest.raises(OperatorError, match=r"6 rows .* --limit N .* --serve"):
        main([str(run), "--out", str(tmp_path / "view.html")])
    assert not (tmp_path / "view.html").exists()
    assert main([str(run), "--out", str(tmp_path / "view.html"), "--limit", "2"]) == 0
    assert len(data_of((tmp_path / "view.html").read_text("utf-8"))["rows"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "argument --limit: '0' must be a whole number of at least 1"),
        (["--out", "/no/such/folder/view.html"], "cannot write /no/such/folder/view.html"),
        (["--serve", "--limit", "3"], "leave out --limit, --where and --out"),
    ],
)
def test_bad_options_give_one_message(run: Path, arguments: list[str], message: str):
    with pytest.raises(OperatorError, match=re.escape(message)):
        main([str(run), *arguments])


def test_a_condition_chooses_the_rows(run: Path, tmp_path: Path):
    out = tmp_path / "view.html"
    assert main([str(run), "--out", str(out), "--where", "reward < 1"]) == 0
    shown = data_of(out.read_text("utf-8"))["rows"]
    assert [row["outcome"] for row in shown] == ["failure", "failure"]
    out.unlink()
    with pytest.raises(DatasetError, match="--where"):
        main([str(run), "--out", str(out), "--where", "rewardd < 1"])
    assert not out.exists()


def test_difficulty_is_the_authors_word_or_the_calls_of_gold():
    levels = {"a": "moderate", "b": 0, "c": 4, "d": 70}
    assert [level(levels, task) for task in "abcde"] == [
        *("moderate", "0 calls", "3 to 4 calls", "17 calls or more", None)
    ]


def test_why_a_rollout_failed_is_its_verdicts():
    assert why(failed(0)["verdicts"]) == "state: collateral: medications\nmedication_id=5"
    assert why(row(0)["verdicts"]) == ""


def test_what_holds_no_dataset_is_refused(tmp_path: Path):
    with pytest.raises(DatasetError, match="does not exist"):
        main([str(tmp_path / "nothing")])


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path):
    """The page is written beside and renamed; nothing is left beside it."""
    run = write_run(tmp_path / "run", [row(0)])
    out = tmp_path / "pages" / "view.html"
    out.parent.mkdir()
    main([str(run), "--out", str(out)])
    first = out.stat().st_ino
    main([str(run), "--out", str(out)])
    assert out.stat().st_ino != first
    assert list(out.parent.iterdir()) == [out]
    with pytest.raises(OperatorError, match=f"cannot write {tmp_path}/pages: Is a directory"):
        main([str(run), "--out", str(out.parent)])
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_events_that_repeat_the_messages_are_left_out():
    plain = {"event": "completion", "finish_reason": "stop"}
    odd = {"event": "completion", "finish_reason": "length"}
    draft = {"event": "user_turn", "discarded": [{"text": "no"}]}
    events = [plain, {"event": "tool_result"}, odd, {"event": "user_turn"}, draft]
    assert notable_events(events) == [odd, draft]
