"""``synth grade``: what a run recorded is judged again from its directory alone, by the verifiers
and the tasks of today.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from synth.core.cli.grade import main
from synth.core.dataset.reader import Dataset
from synth.core.foundation.archive import pack_world
from synth.core.runner import run_files
from synth.errors import DatasetError
from synth.evidence import Evidence, Verifier
from synth.plugins import REWARDS
from synth.verdict import Verdict
from tests.e2e.command import synth
from tests.unit.validation import talking_world

ROWS = 9


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a world that is gone by the time it is graded; one rollout of three moved a booking
    to another red room.
    """
    home = tmp_path_factory.mktemp("recorded")
    folder = talking_world.make(home / "clubhouse")
    words = [
        "env.path=clubhouse",
        f"tasks.count={ROWS}",
        "runtime=inline",
        "output.dir=run",
        "output.rows_per_shard=4",
    ]
    synth("run", *words, cwd=home)
    shutil.rmtree(folder)
    return home / "run"


def graded(run: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = main([str(run), *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_run_whose_world_is_gone_keeps_its_rewards(
    recorded: Path, capsys: pytest.CaptureFixture[str]
):
    assert all(row["reward"] == 1.0 for row in Dataset.open(recorded).rows())
    assert any(
        event["event"] == "user_turn"
        for row in Dataset.open(recorded).rows()
        for event in row["events"]
    )
    code, report = graded(recorded, capsys=capsys)
    assert code == 0
    assert (report["trajectories"], report["rewards_changed"], report["not_graded"]) == (
        ROWS,
        0,
        [],
    )
    done = synth("grade", str(recorded), cwd=recorded.parent)
    progress = done.stderr.splitlines()  # lines after some seconds, on a slow machine
    assert [line for line in progress if not line.startswith("grading")] == []
    assert done.stdout.endswith(f"{ROWS} trajectories: 0 rewards changed.\n")


class Strict(Verifier):
    """A verifier that lets nothing pass."""

    name = "state"

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        return Verdict(self.name, 0.0, "never good enough")


def test_another_verifier_is_seen_with_old_and_new_verdicts(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(REWARDS.builtin, "state", f"{__name__}:Strict")  # type: ignore[arg-type]
    code, report = graded(recorded, "--where", "family = 'any_red_room'", capsys=capsys)
    assert code == 1
    count = report["trajectories"]
    assert 0 < count < ROWS
    (family,) = report["families"]
    assert family == {
        "family": "any_red_room",
        "graded": count,
        "rewards_changed": count,
        "not_graded": 0,
    }
    first = report["changes"][0]
    assert (first["old_reward"], first["new_reward"]) == (1.0, 0.0)
    old, new = (
        {verdict["verifier"]: verdict for verdict in first[key]}
        for key in ("old_verdicts", "new_verdicts")
    )
    assert {name: verdict["score"] for name, verdict in old.items()} == {"state": 1, "reply": 1}
    assert (new["state"]["score"], new["state"]["reason"]) == (0.0, "never good enough")
    assert new["reply"] == old["reply"]
    assert main([str(recorded)]) == 1
    shown = capsys.readouterr().out
    assert "any_red_room: 1 -> 0: state: never good enough" in shown
    assert f"{ROWS} trajectories: {ROWS} rewards changed." in shown


def changed(folder: Path, *edits: tuple[str, str]) -> Path:
    return talking_world.make(folder / "clubhouse", *edits)


def test_the_tasks_of_a_world_that_stayed_as_it_was_change_nothing(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, report = graded(recorded, "--world", str(changed(tmp_path)), capsys=capsys)
    assert (code, report["rewards_changed"], report["not_graded"]) == (0, 0, [])


def test_the_gates_of_today_judge_the_rollouts_of_then(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Today a clerk must look at the rooms before a booking; the data of today's world does not
    matter.
    """
    folder = changed(
        tmp_path,
        ("  - open:\n", "  - list_rooms:\n  - open:\n"),
        (
            "gates: [state, answer, {no_write",
            "gates: [state, answer, {required_calls: [list_rooms]}, {no_write",
        ),
    )
    (folder / "seed.sql").write_text(
        "INSERT INTO members VALUES (1, 'Nobody', '1900-01-01', 0);\n", "utf-8"
    )
    code, report = graded(recorded, "--world", str(folder), capsys=capsys)
    assert code == 1
    assert report["not_graded"] == []
    by_family = {each["family"]: each for each in report["families"]}
    assert {
        name: each["rewards_changed"] == each["graded"] > 0 for name, each in by_family.items()
    } == {"any_red_room": False, "book_namesake": True, "perhaps_not": False}
    reasons = {
        verdict["reason"] for change in report["changes"] for verdict in change["new_verdicts"]
    }
    assert "never called with success: list_rooms" in reasons


IN_PYTHON = """\
from sqlalchemy import text
from .colours import MAY_BE

def any_red_room(db):
    for row in db.execute(text("SELECT booking_id, member_id, name FROM bookings JOIN members USING (member_id)")).mappings():
        yield {
            "slots": dict(row),
            "key": row["booking_id"],
            "user": {"says": "I am {name}, member {member_id}. Please move booking {booking_id} to any red room."},
            "gold": [{"move_booking": {"booking_id": row["booking_id"], "room": MAY_BE}}, {"say": "Moved."}],
        }
"""


def test_a_family_that_is_python_today_may_import_what_was_not_there_then(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Today's rule is in a module of its own: the rollouts chose the attic, and only the loft, or
    only the attic, will do.
    """
    folder = changed(tmp_path)
    text = (folder / "tasks.yaml").read_text("utf-8")
    (folder / "tasks.yaml").write_text(text[: text.index("- id: any_red_room")], "utf-8")
    (folder / "tasks.py").write_text(IN_PYTHON, "utf-8")
    words = ("--where", "family = 'any_red_room'", "--world", str(folder))
    _, report = graded(recorded, *words, capsys=capsys)
    (reason,) = {each["reason"] for each in report["not_graded"]}
    assert reason.startswith(
        "the family cannot be asked on the recorded data: tasks.py:2: ModuleNotFoundError"
    )
    (folder / "colours.py").write_text("MAY_BE = 'Loft'\n", "utf-8")
    code, report = graded(recorded, *words, capsys=capsys)
    assert (code, report["not_graded"]) == (1, [])
    assert report["rewards_changed"] == report["trajectories"] > 0
    (folder / "colours.py").write_text("MAY_BE = 'Attic'\n", "utf-8")
    code, report = graded(recorded, *words, capsys=capsys)
    assert (code, report["rewards_changed"], report["not_graded"]) == (0, 0, [])


def test_what_has_no_task_today_is_listed_and_takes_nothing_with_it(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """One family has another name, one asks about other rows, one calls a tool that the recorded
    world lacks.
    """
    folder = changed(tmp_path, ("- id: any_red_room", "- id: any_red_rooms"))
    text = (folder / "tasks.yaml").read_text("utf-8")
    text = text.replace(
        "FROM members, rooms WHERE seats < 10", "FROM members, rooms WHERE seats < 5"
    )
    text = text.replace(
        '  - bookings_of: {member_id: "{member_id}"}', '  - call_member: {member_id: "{member_id}"}'
    )
    (folder / "tasks.yaml").write_text(text, "utf-8")
    code, report = graded(recorded, "--world", str(folder), capsys=capsys)
    assert code == 1
    assert report["rewards_changed"] == 0
    reasons = {each["family"]: each["reason"] for each in report["not_graded"]}
    assert (
        reasons["any_red_room"]
        == "clubhouse has no family 'any_red_room' now; did you mean any_red_rooms?"
    )
    assert "'call_member' is neither a tool nor a step word" in reasons["perhaps_not"]
    assert "the family has no task about the slots" in reasons["book_namesake"]
    attic = [each for each in report["families"] if each["family"] == "book_namesake"]
    assert attic[0]["graded"] > 0
    main([str(recorded), "--world", str(folder)])
    shown = capsys.readouterr().out
    assert "not graded: " in shown
    assert "could not be judged again." in shown


def test_a_gold_solution_of_today_that_fails_on_the_recorded_rows_is_told(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = changed(tmp_path, ("SELECT colour = 'red'", "SELECT colour = 'green'"))
    _, report = graded(recorded, "--world", str(folder), capsys=capsys)
    reasons = {each["reason"] for each in report["not_graded"] if each["family"] == "any_red_room"}
    assert reasons
    assert all("gold's own end is none that `alternatives` allows" in each for each in reasons)


def test_a_call_that_leads_elsewhere_now_is_not_graded(
    recorded: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    """The recorded world itself was tampered with: its calls no longer do what they did."""
    run = tmp_path / "run"
    shutil.copytree(recorded, run)
    (archive,) = (run / "world").glob("*.tar.zst")
    folder = changed(tmp_path)
    code = (folder / "executors.py").read_text("utf-8")
    (folder / "executors.py").write_text(code.replace("d=day)[0]", 'd="2026-12-31")[0]'), "utf-8")
    archive.write_bytes(pack_world(folder))
    with pytest.raises(DatasetError, match="its digest is not its name"):
        graded(run, "--trust", capsys=capsys)
    monkeypatch.setattr(run_files, "world_digest", lambda _: archive.name.split(".")[0])
    code, report = graded(run, "--trust", capsys=capsys)
    assert code == 1
    assert {each["reason"] for each in report["not_graded"]} == {
        "its calls lead to another end now; `synth replay` shows where"
    }
    assert all(each["family"] != "any_red_room" for each in report["not_graded"])


def test_bad_arguments_are_one_message(tmp_path: Path):
    nothing = synth("grade", str(tmp_path / "none"), cwd=tmp_path, code=None)
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert nothing.stderr.startswith("error: ")
    assert len(nothing.stderr.splitlines()) == 1


class Picky(Verifier):
    """A gate of another version that refuses every reply, and notes a promise."""

    name = "reply"

    def parse_options(self, raw: object) -> None:
        return None

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        finding = {"check": "promise", "words": "I will call you.", "evidence": "no call did"}
        detail = {"rules": "2030-01-01", "findings": [finding], "notes": [finding]}
        return Verdict(self.name, 0.0, "promise: I will call you.", detail=detail)


def test_what_each_gate_refuses_is_shown_before_and_after(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    code, report = graded(recorded, capsys=capsys)
    assert code == 0
    assert not [item for item in report["gates"]["now"] if item["note"] is None]
    (same,) = report["rules"]
    assert same["before"] == same["now"]
    monkeypatch.setitem(REWARDS.builtin, "reply", f"{__name__}:Picky")  # type: ignore[arg-type]
    code, report = graded(recorded, capsys=capsys)
    assert code == 1
    refused, noted = report["gates"]["now"]
    reason = {"check": "promise", "words": "I will call you.", "evidence": "no call did"}
    for item, note in ((refused, None), (noted, "promise")):
        assert (item["gate"], item["note"]) == ("reply", note)
        assert (item["refused"], item["right_ends"]) == (ROWS, ROWS)
        assert item["reasons"] == [{**reason, "rows": ROWS}]
    assert report["rules"] == [{"before": same["now"], "now": "2030-01-01", "trajectories": ROWS}]
    assert main([str(recorded)]) == 1
    shown = capsys.readouterr().out
    assert f"{ROWS} were judged by the rules {same['now']}, and now by 2030-01-01" in shown
    assert f"{ROWS} of {ROWS}" in shown
    assert "promise: I will call you. (no call did)" in shown
    assert "reply, if it forbids [promise]" in shown
