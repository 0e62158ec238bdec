"""A task played by hand: calls, words, and the score at the end."""

from __future__ import annotations

import io

import pytest

from synth.__main__ import main
from synth.core.cli import play
from synth.core.cli.play import read_arguments
from synth.errors import OperatorError

SOLVED = """\
/tools
find_member name="Ada Kern"
find_book {"title": "Walden"}
lend member_id=21 book_id=36
submit outcome=lent
Walden is lent to you, Ada.
"""


def played(monkeypatch: pytest.MonkeyPatch, lines: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    return main(["play", "library", "lend_book"])


def test_a_task_that_is_done_is_solved(monkeypatch: pytest.MonkeyPatch, capsys):
    assert played(monkeypatch, SOLVED) == 0
    out = capsys.readouterr().out
    assert "user: Ada Kern would like to borrow Walden." in out
    assert "lend(member_id, book_id): Lend a book for four weeks." in out
    assert '{"loan_id":44,"due":"2026-03-30"}' in out
    assert out.rstrip().endswith("reward 1: solved")


def test_a_task_that_is_left_is_not_solved_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys
):
    assert played(monkeypatch, "find_book Walden\n/nothing\n/score\n/end\n") == 1
    out = capsys.readouterr().out
    assert "find_book: 'Walden' is not of the form name=value" in out
    assert "unknown command /nothing: /tools, /score, /end" in out
    assert "1 missing: insert loans" in out
    assert out.count("reward 0: not solved") == 2


def test_a_task_beyond_the_family_is_refused(capsys):
    with pytest.raises(OperatorError, match=r"--task 99: lend_book has \d+ tasks"):
        play.main(["library", "lend_book", "--task", "99"])


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ('{"a": [1]}', {"a": [1]}),
        ("a=1 b=word c=true", {"a": 1, "b": "word", "c": True}),
        ('a="two words" b=[1, 2]', {"a": "two words", "b": [1, 2]}),
        ("day=2026-03-02 id=12b", {"day": "2026-03-02", "id": "12b"}),
    ],
)
def test_arguments_are_json_or_pairs(text: str, arguments: dict[str, object]):
    assert read_arguments(text) == arguments


@pytest.mark.parametrize("text", ["x", "{", "a = 1", "1=2"])
def test_what_are_no_arguments_is_refused(text: str):
    with pytest.raises(ValueError, match=r"form name=value|not JSON"):
        read_arguments(text)
