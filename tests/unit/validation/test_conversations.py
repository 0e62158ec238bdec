"""Families that hold conversations: what each proof catches, and that an agent that skips the talk
earns nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.rewards.state import verifier as state
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from tests.unit.validation import talking_world

pytestmark = pytest.mark.slow

ASKING = """\
  - ask: born
  - find_members: {name: "{name}", born: "{born}"}
    save: {id: "$.members[0].member_id"}
"""


def check(folder: Path, *families: str) -> dict[str, FamilyReport]:
    """The reports on these families, or on all."""
    report = check_world(folder, Options(families or None, per_case=2), lambda _: None)
    return {each.family: each for each in report.families}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, FamilyReport]:
    return check(talking_world.make(tmp_path_factory.mktemp("sound") / "world"))


def test_the_talking_world_proves_itself(sound: dict[str, FamilyReport]):
    assert {name: each.problems + each.surviving for name, each in sound.items()} == {
        "book_namesake": [],
        "perhaps_not": [],
        "any_red_room": [],
    }


def test_agents_that_only_talk_or_never_do_are_caught(sound: dict[str, FamilyReport]):
    talkers = {
        "always ask",
        "always confirm",
        "talk and answer",
        "act without talking",
        "another case's work",
    }
    assert talkers <= set(sound["book_namesake"].agents)
    killed = sound["book_namesake"].killed
    assert (
        min(
            killed[kind]
            for kind in ("drop ask", "drop confirm", "confirm a wrong fact", "write and revert")
        )
        > 0
    )


def test_another_right_end_is_no_survivor_and_is_told_apart(sound: dict[str, FamilyReport]):
    report = sound["any_red_room"]
    assert [each.partition(" (")[0] for each in report.other_ends] == [
        "change argument: move_booking room='Hall' instead of 'Attic'",
        "change argument: move_booking room='Hall' instead of 'Attic'",
    ]
    assert report.to_json()["mutants_other_right_ends"] == report.other_ends
    assert report.killed["change argument"] > 0  # the blue cellar, another booking


@pytest.mark.parametrize(
    ("edit", "family", "line", "words"),
    [
        (
            (ASKING, "".join(ASKING.splitlines(keepends=True)[at] for at in (1, 2, 0))),
            "book_namesake",
            14,
            ("born='1980-05-03', which nobody told the agent before this call; ask it first: `- ask: born`"),
        ),
        (
            ("gates: [state, answer, {no_write_before: [ask, confirm]}]", "gates: [state, answer]"),
            "book_namesake",
            25,
            ("gold asks and confirms before it writes, but no gate demands it: add {no_write_before: [ask, confirm]}"),
        ),
        (
            ("{no_write_before: [ask, confirm]}", "{no_write_before: [confirm]}"),
            "book_namesake",
            25,
            "gold asks before it writes, but no gate demands it",
        ),
        (
            (('  - say: "All right: {room}."'), ('  - book: {member_id: "{member_id}", room: "{room}", day: "2026-04-02"}\n  - say: "All right: {room}."')),
            "perhaps_not",
            37,
            "gold calls book after the user said no",
        ),
        (
            ("SELECT colour = 'red' FROM rooms", "SELECT colour = 'blue' FROM rooms"),
            "any_red_room",
            48,
            "gold's own end is none that `alternatives` allows: alternative 1: condition 1 is not true",
        ),
        (
            ("columns: [room], ops: [update]", "columns: [day], ops: [update]"),
            "any_red_room",
            48,
            "alternative 1: update in bookings lies outside of `may_change`",
        ),
        (
            ("SELECT colour = 'red' FROM rooms", "SELECT 1 = 1 FROM rooms"),
            "any_red_room",
            48,
            "`alternatives` allows the end of an agent that does nothing",
        ),
    ],
)  # fmt: skip
def test_each_broken_conversation_is_refused_with_one_message(
    tmp_path: Path, edit: tuple[str, str], family: str, line: int, words: str
):
    report = check(talking_world.make(tmp_path / "world", edit), family)[family]
    assert len(report.problems) == 1
    assert words in report.problems[0]
    assert report.problems[0].startswith(
        f"{tmp_path / 'world' / 'tasks.yaml'}:{line}: family {family}: "
    )


def test_a_proposal_that_leaves_a_fact_open_is_refused(tmp_path: Path):
    """The expert states its proposal as data, and no yes goes to a second value beside a fact."""
    edit = ("for the {name} born {born}?", "for the {name} born {born} or 1900-01-01?")
    report = check(talking_world.make(tmp_path / "world", edit), "book_namesake")["book_namesake"]
    assert "and the user does not agree: the user says" in report.problems[0]
    assert report.problems[0].startswith(f"{tmp_path / 'world' / 'tasks.yaml'}:")


def test_a_loose_end_that_accept_lets_through_is_a_survivor_with_its_line(tmp_path: Path):
    """The frame forgets the condition: any booking may be moved along."""
    edits = [('{where: "booking_id = :booking_id", columns', '{where: "1 = 1", columns')]
    report = check(talking_world.make(tmp_path / "world", *edits), "any_red_room")["any_red_room"]
    assert any("stray write: move_booking" in line for line in report.surviving)
    assert all(line.startswith(f"{tmp_path}/world/tasks.yaml:") for line in report.surviving)
    assert report.example == "stray write"


def test_a_verifier_that_overlooks_undone_writes_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(state, "undone", lambda *_: [])
    report = check(talking_world.make(tmp_path / "world"))["perhaps_not"]
    assert any("write and revert" in each for each in report.surviving)


def test_an_end_that_another_case_wants_is_wrong_here(tmp_path: Path):
    """A frame that has room for a booking, whoever it is for, lets one pass where the rules forbid
    it.
    """
    accept = """\
  alternatives:
    any_of:
    - must: SELECT COUNT(*) = 3 FROM bookings
      may_change: {bookings: {where: "member_id = :member_id", ops: [insert]}}
- id: perhaps_not"""
    edits = [
        ("  answer: {outcome: {enum: [booked, refused], description: What came of it.}}\n", ""),
        ("    - submit: {outcome: booked}\n", ""),
        ("{submit: {outcome: refused}}", "{bookings_of: {member_id: $id}}"),
        (
            "gates: [state, answer, {no_write_before: [ask, confirm]}]",
            "gates: [state, {no_write_before: [ask, confirm]}]",
        ),
        ("- id: perhaps_not", accept),
    ]
    report = check(talking_world.make(tmp_path / "world", *edits), "book_namesake")["book_namesake"]
    assert any(
        "the work of case 'open' earns the full reward in case 'closed'" in each
        for each in report.problems
    )


def test_what_gold_does_is_judged_by_a_gate(tmp_path: Path):
    for number, (gates, words) in enumerate(
        {
            (
                "answer, {no_write_before: [ask, confirm]}"
            ): "gold changes rows, but no gate looks at them: add `state`",
            (
                "state, {no_write_before: [ask, confirm]}"
            ): "gold submits an answer, but no gate looks at it: add `answer`",
        }.items()
    ):
        edit = ("[state, answer, {no_write_before: [ask, confirm]}]", f"[{gates}]")
        report = check(talking_world.make(tmp_path / str(number), edit), "book_namesake")[
            "book_namesake"
        ]
        assert [words in each for each in report.problems] == [True]
