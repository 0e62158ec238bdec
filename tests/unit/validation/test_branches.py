"""Families with conditional steps, computed values and cases over varied slots, proved whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from tests.unit.validation import lending_world

pytestmark = pytest.mark.slow

RENEW = """\
families:
- id: renew_if_early
  ground: {key: loan_id, sql: "SELECT loan_id, title, name, born FROM loans JOIN books USING (book_id) JOIN members USING (member_id)"}
  user:
    says: "I am {name}, born {born}. If {title} is due in more than a week, renew it until 2026-04-30; if not, tell me in how many days it is due."
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: {one: "$.members[*].member_id"}}
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - list_loans: {member_id: $member}
    save:
      loan: {one: "$.loans[?@.book_id == $book].loan_id"}
      due: {one: "$.loans[?@.book_id == $book].due"}
      days: {days_between: [$today, $due]}
  - if: $days > 7
    do:
    - renew: {loan_id: $loan, due: "2026-04-30"}
    - say: "Renewed until 30 April 2026."
    else:
    - say: "I left it as it is: it is due in {days} days."
"""
CASES = """\
families:
- id: renew_by
  ground: {key: loan_id, sql: "SELECT loan_id, due AS current, title, name, born FROM loans JOIN books USING (book_id) JOIN members USING (member_id)"}
  vary: {day: {date: ["2026-03-10", "2026-03-19"]}}
  cases: {later: "current < :day", earlier: "current >= :day"}
  user: {says: "I am {name}, born {born}. Renew {title} until {day}, unless that is no later than it is due now: then leave it and tell me when it is due."}
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: "$.members[0].member_id"}
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - list_loans: {member_id: $member}
    save: {loan: {one: "$.loans[?@.book_id == $book].loan_id"}, due: {one: "$.loans[?@.book_id == $book].due"}}
  - later:
    - renew: {loan_id: $loan, due: "{day}"}
    - say: "Renewed until {day}."
  - earlier:
    - say: "I changed nothing: it is due on {due}, which is no earlier."
"""


def check(folder: Path, tasks: str) -> FamilyReport:
    lending_world.make(folder)
    tools = folder / "executors.py"
    tools.write_text(
        tools.read_text().replace("SELECT loan_id, due", "SELECT loan_id, book_id, due")
    )
    (folder / "tasks.py").unlink()
    (folder / "tasks.yaml").write_text(f'now: "2026-03-02T09:00:00"\n{tasks}')
    return check_world(folder, Options(per_case=3), lambda _: None).families[0]


def test_branches_and_computed_values_are_proved(tmp_path: Path):
    report = check(tmp_path / "w", RENEW)
    assert (report.problems, report.surviving, report.honest_lost) == ([], [], [])
    assert report.notes == []
    assert report.tasks == 3


def test_a_branch_that_is_never_taken_is_refused_at_its_line(tmp_path: Path):
    report = check(tmp_path / "w", RENEW.replace("$days > 7", "$days > 700"))
    assert "tasks.yaml:17: " in report.problems[0]
    assert (
        "`if` is never taken: its condition is not true in all 3 proved tasks" in report.problems[0]
    )


def test_a_value_that_cannot_be_computed_is_shown(tmp_path: Path):
    report = check(tmp_path / "w", RENEW.replace("[$today, $due]", "[$today, $member]"))
    assert "'23' is not a day of the form 2026-03-02" in report.problems[0]


def test_cases_over_varied_slots(tmp_path: Path):
    report = check(tmp_path / "w", CASES)
    assert (report.problems, report.surviving, report.honest_lost) == ([], [], [])
    assert report.capacity == 30


def test_a_condition_names_varied_slots_only(tmp_path: Path):
    with pytest.raises(Exception, match="case later: the query binds the unknown slot :dy"):
        check(tmp_path / "w", CASES.replace("< :day", "< :dy"))


IN_LOOP = """\
families:
- id: renew_each
  ground: {key: member_id, sql: "SELECT DISTINCT member_id, name, born FROM members JOIN loans USING (member_id)"}
  user:
    says: "I am {name}, born {born}. Renew what I have: what is due by 15 March until 2026-03-30, what is due later until another day."
    knows: {until: {says: "Until 2026-05-04.", words: [which day, how long]}}
  gates: [state, {no_write_before: [ask]}]
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: {one: "$.members[*].member_id"}}
  - list_loans: {member_id: $member}
    save: {loans: "$.loans[*]"}
  - for_each:
      loan: $loans
      do:
      - if: "$loan.due <= '2026-03-15'"
        do:
        - renew: {loan_id: $loan.loan_id, due: "2026-03-30"}
        else:
        - ask: until
        - renew: {loan_id: $loan.loan_id, due: "2026-05-04"}
  - say: "Everything is renewed."
"""


def test_gates_ask_in_a_loop_only_for_the_branches_taken(tmp_path: Path):
    """Who has nothing that is due later need not be asked for the other day before a write."""
    report = check(tmp_path / "w", IN_LOOP)
    assert (report.problems, report.surviving, report.honest_lost) == ([], [], [])
    assert report.tasks == 2


def test_gates_ask_in_the_order_in_which_a_loop_is_played(tmp_path: Path):
    """The first item comes to the question before the second one comes to the write above it. Who
    plays the items in another order writes first, which the report says.
    """
    report = check(tmp_path / "w", IN_LOOP.replace("<= '2026-03-15'", "> '2026-03-10'"))
    assert (report.problems, report.surviving) == ([], [])
    assert report.agents["act without talking"] > 0
    (lost,) = report.honest_lost
    assert "tasks.yaml:9: " in lost
    assert "writes_otherwise loses 1 of 2 tasks" in lost
    assert "before the user had told until" in lost
