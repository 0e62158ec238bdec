"""Gold that does nothing is refused with file, line and the value seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from tests.unit.validation import lending_world

RENEW = """\
families:
- id: renew_all
  ground: {key: member_id, sql: "SELECT member_id, name, born FROM members WHERE NOT barred"}
  user: {says: "I am {name}, born {born}. Renew my loans until 2026-04-30."}
  gold:
  - find_member: {name: "{name}", born: "{born}"}
    save: {member: "$.members[0].member_id"}
  - list_loans: {member_id: $member}
    save: {loans: "$.loans[*].loan_id"}
  - for_each: {loan: $loans, do: [{renew: {loan_id: $loan, due: "2026-04-30"}}]}
  - say: Renewed.
"""
PLACE = "{place}/tasks.yaml"


def check(folder: Path, tasks: str, per_case: int = 2) -> FamilyReport:
    lending_world.make(folder)
    (folder / "tasks.py").unlink()
    (folder / "tasks.yaml").write_text(tasks)
    report = check_world(folder, Options(per_case=per_case, honest=()), lambda _: None)
    return report.families[0]


def test_gold_that_works_in_each_task_is_proved_without_a_note(tmp_path: Path):
    report = check(tmp_path / "w", RENEW)
    assert report.ok, report.problems
    assert report.notes == []


@pytest.mark.parametrize(
    ("was", "now", "line", "message"),
    [
        (
            "$.loans[*].loan_id",
            "$.loan[*].loan_id",
            8,
            '`save` loans is []: $.loan[*].loan_id finds nothing in {"loans": [{"loan_id": 4',
        ),
        (
            "{loan: $loans,",
            '{loan: [],',
            10,
            "`for_each` loan goes over [], an empty list, in all 2 proved tasks",
        ),
        (
            '  - for_each: {loan: $loans, do: [{renew: {loan_id: $loan, due: "2026-04-30"}}]}\n',
            '  - renew: {loan_id: 41, due: "2026-03-09"}\n',
            10,
            "gold calls renew, which may write, but no row changes in all 2 proved tasks",
        ),
    ],
)  # fmt: skip
def test_a_part_that_does_nothing_anywhere_is_refused(
    tmp_path: Path, was: str, now: str, line: int, message: str
):
    assert was in RENEW
    tasks = RENEW.replace(was, now)
    if "41" in now:
        tasks = tasks.replace("Renew my loans until", "Renew loan 41 until 2026-03-09, not")
    report = check(tmp_path / "w", tasks)
    assert not report.ok
    place = f"{tmp_path / 'w' / 'tasks.yaml'}:{line}: family renew_all: "
    assert any(problem.startswith(place + message) for problem in report.problems), report.problems


def test_the_cause_is_reported_and_not_what_follows_from_it(tmp_path: Path):
    """An empty save, over which a loop goes, in which a call is never made: one cause, and its
    effect on the family.
    """
    report = check(tmp_path / "w", RENEW.replace("$.loans[*]", "$.loan[*]"))
    assert [problem.partition("family renew_all: ")[2][:12] for problem in report.problems] == [
        "`save` loans"
    ]


def test_a_part_that_does_nothing_in_some_tasks_is_a_note(tmp_path: Path):
    everyone = RENEW.replace(" WHERE NOT barred", "")
    report = check(tmp_path / "w", everyone, per_case=4)
    note = report.notes[0]
    assert note.startswith(
        f"{tmp_path / 'w' / 'tasks.yaml'}:8: family renew_all: `save` loans is []"
    )
    assert note.endswith("in 2 of 4 proved tasks")
    asked = "  - {if: $loans, do: [{say: Renewed.}], else: [{say: There was none.}]}\n"
    report = check(tmp_path / "x", everyone.replace("  - say: Renewed.\n", asked), per_case=4)
    assert (report.ok, report.notes) == (True, [])


def test_gold_that_says_what_no_call_did_is_a_note(tmp_path: Path):
    idle = "\n".join(line for line in RENEW.split("\n") if "loan: $loans" not in line)
    report = check(tmp_path / "w", idle.replace("say: Renewed", "say: They are renewed, {name}"))
    assert "gold changes no row and says: They are renewed, " in report.notes[-1]


def test_a_commit_in_a_tool_is_named_with_file_and_line(tmp_path: Path):
    folder = lending_world.make(
        tmp_path / "w",
        "executors.py",
        """    return many(db, sql, b=book_id""",
        """    db.commit()\n    return many(db, sql, b=book_id""",
    )
    report = check_world(folder, Options(("price",), per_case=1, honest=()), lambda _: None)
    (note,) = report.notes
    text = (folder / "executors.py").read_text().splitlines()
    line = next(number for number, words in enumerate(text, 1) if "commit" in words)
    assert note.startswith(
        f"{folder / 'executors.py'}:{line}: lend calls db.commit(), which commits"
    )
    assert note.endswith("leave it out")
