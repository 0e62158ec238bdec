"""The parts of `synth draft`: insertion into tasks.yaml, the journal, the likeness of families."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.tasks.yaml.source_map import load_yaml
from synth.errors import OperatorError
from synth.ext.authoring.asking.journal import Answer, AskingJournal
from synth.ext.authoring.drafting.prompt import DraftOutcome
from synth.ext.authoring.drafting.similarity import Signature
from synth.ext.authoring.drafting.workbench import NEW_FILE, with_family

BODY = {"id": "new", "user": {"says": "1e3: {x}\nand more "}, "gold": [{"say": "1e3"}, {"say": ""}]}


def read(text: str, folder: Path) -> dict[str, Any]:
    (folder / "tasks.yaml").write_text(text, "utf-8")
    return load_yaml(folder / "tasks.yaml")


@pytest.mark.parametrize(
    "text",
    [
        NEW_FILE,
        "families:\n- id: a\n  about: x",
        "families:\n  - id: a\n    about: |\n      block\n      of text\n",
        "families:\n- {id: a, about: x}   # a comment\n\n# about the rules\ncompare: {a: append_only}\n",
        "now: x\nfamilies: []\ncompare: {a: append_only}\n",
        "families:\n- id: a\n  user:\n    says:\n    - one\n    - >-\n      folded\n\n      text\n# end\n",
    ],
)
def test_a_family_is_added_behind_the_others_and_all_else_stays(text: str, tmp_path: Path):
    before = read(text, tmp_path)
    added = with_family(text, BODY)
    after = read(added.text, tmp_path)
    assert after["families"] == [*before["families"], BODY]
    assert {**after, "families": 0} == {**before, "families": 0}
    assert after["families"][-1].line == added.line
    assert [line for line in text.splitlines() if "#" in line] == [
        line for line in added.text.splitlines() if "#" in line
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("families: [{id: a}]\n", "begins the list of families with `\\["),
        ("now: x\n", "has no list `families`"),
        ("families: {a: 1}\n", "has no list `families`"),
        ("families: [\n", "not valid YAML"),
        ("", "has no list `families`"),
    ],
)
def test_a_file_that_cannot_be_continued_is_refused(text: str, message: str):
    with pytest.raises(OperatorError, match=message):
        with_family(text, BODY)


def test_a_journal_is_read_back_whatever_was_torn_off(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    answer = Answer("text \ud83d", "", 3, None, None)
    outcome = DraftOutcome(0, "new", 1, capacity=4, body=BODY)
    journal = AskingJournal(path, DraftOutcome)
    journal.answered((0, 1), answer)
    journal.ended((0,), outcome)
    journal.has_added(["0"])
    journal.close()
    whole = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == 10]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        again = AskingJournal(path, DraftOutcome)
        again.close()
        lines = sum(end <= size for end in ends)
        assert again.answers == ({(0, 1): answer} if lines else {})
        assert again.ends == ({(0,): outcome} if lines > 1 else {})
        assert again.added == ({"0"} if lines > 2 else set())
        assert path.stat().st_size == max([0, *(end for end in ends if end <= size)])


@pytest.mark.parametrize(
    "line", ["no JSON", "[]", "{}", '{"answer": {}, "place": [0]}', '{"place": [0], "end": {}}']
)
def test_a_damaged_journal_is_named_with_its_line(line: str, tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{{"added": ["0"]}}\n{line}\n')
    with pytest.raises(OperatorError, match=r"journal\.jsonl:2: the journal is damaged"):
        AskingJournal(path, DraftOutcome)


def test_families_are_alike_in_tools_and_words():
    def made(tools: tuple[str, ...], words: str) -> Signature:
        return Signature("f", (tools,), (frozenset(words.split()),), words)

    lend = made(("find", "lend"), "please lend the book to")
    assert lend.like(made(("find", "lend"), "lend the book to please now"))
    assert not lend.like(made(("find", "renew"), "please lend the book to"))
    assert not lend.like(made(("find", "lend"), "who has borrowed nothing since may"))
