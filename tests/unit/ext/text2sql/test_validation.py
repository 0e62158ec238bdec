"""A question is admitted when it has one answer, which nobody gets without the right query."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from envs.types import Limits, Pins, ToolResult
from envs.world.query import QueryResult, ask
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.ext.text2sql.validation import lazy_queries
from synth.rewards import Evidence
from synth.task import Task
from tests.unit.asking_world import FILES, asking_world
from tests.unit.envs.sandboxes.attached.test_schemas import TABLES, attached, duckdb_of

pytestmark = pytest.mark.slow


def checked(
    folder: Path, changes: Mapping[str, str] | None = None, families: tuple[str, ...] | None = None
) -> list[FamilyReport]:
    done: list[FamilyReport] = []
    check_world(asking_world(folder / "rooms", changes), Options(families), done.append)
    return done


def changed(old: str, new: str) -> Mapping[str, str]:
    text = FILES["tasks.yaml"]
    assert old in text
    return {"tasks.yaml": text.replace(old, new)}


def test_good_questions_are_admitted(tmp_path: Path):
    reports = checked(tmp_path)
    assert [(each.family, each.problems, each.surviving) for each in reports] == [
        ("days", [], []),
        ("average", [], []),
        ("guests", [], []),
    ]
    for each in reports:
        assert {"no query", "whole table", "answer by heart", "act only"} <= set(each.agents)
        assert each.killed["weaker query"] > 0


def test_a_list_in_no_order_proves_itself(tmp_path: Path):
    """Its rows may come in any order, so gold's reply quotes none of them."""
    seed = FILES["seed.sql"]
    for room, litres in (("Aster", 45), ("Borage", 60), ("Dahlia", 25), ("Erica", 35)):
        seed = seed.replace(f"'{room}'", f"'{room}-{litres}L'")
    sums = "SELECT SUM(guests) FROM bookings WHERE day LIKE :month || '-%'"
    names = "SELECT r.name FROM bookings b JOIN rooms r USING (room_id) WHERE b.day LIKE"
    change = {"seed.sql": seed, **changed(sums, f"{names} :month || '-%'")}
    (report,) = checked(tmp_path, change, ("guests",))
    assert (report.problems, report.surviving) == ([], [])


@pytest.mark.parametrize(
    ("family", "old", "new", "told"),
    [
        (
            "guests",
            "SELECT SUM(guests) FROM bookings WHERE",
            "SELECT guests FROM bookings WHERE guests > 900 AND",
            "gives no row",
        ),
        ("guests", "SELECT SUM(guests) FROM", "SELECT NULL FROM", "nothing but NULL"),
        ("guests", "SELECT SUM(guests) FROM", "SELECT sum(gests) FROM", "column_not_found"),
        (
            "days",
            (
                "SELECT b.day, b.guests FROM bookings b JOIN rooms r ON r.room_id = b.room_id WHERE"
                " r.name = :name ORDER BY b.day"
            ),
            (
                "SELECT b.day, b.guests FROM bookings b JOIN rooms r ON r.room_id = b.room_id WHERE"
                " r.name = :name AND b.day IN (SELECT day FROM bookings LIMIT 3) ORDER BY b.day"
            ),
            "equal sort keys",
        ),
        (
            "guests",
            "SELECT SUM(guests) FROM bookings WHERE",
            "SELECT SUM(guests) FROM bookings WHERE booking_id > 0 AND",
            "as right as gold",
        ),
        (
            "guests",
            "SELECT SUM(guests) FROM bookings WHERE day LIKE :month || '-%'",
            "SELECT COUNT(*) FROM rooms WHERE :month = :month",
            "earns the full reward",
        ),
    ],
)
def test_bad_questions_are_not(tmp_path: Path, family: str, old: str, new: str, told: str):
    (report,) = checked(tmp_path, changed(old, new), (family,))
    assert not report.ok
    assert told in "\n".join([*report.problems, *report.surviving])


def test_answers_that_can_be_known_are_counted(tmp_path: Path):
    new = "SELECT 1 WHERE :month IN (SELECT substr(day, 1, 7) FROM bookings)"
    change = changed("SELECT SUM(guests) FROM bookings WHERE day LIKE :month || '-%'", new)
    (report,) = checked(tmp_path, change, ("guests",))
    assert report.problems == []
    assert report.known_answers == report.tasks > 0
    assert "answer by heart" not in report.agents


def test_lazy_queries_read_tables_under_their_whole_name(tmp_path: Path):
    """There is no table "sales.orders" in quotes, so that no attack on it was played."""
    look = ToolStep("describe_table", {"table": "sales.orders"})
    with attached(duckdb_of(tmp_path, *TABLES)) as template, template.open(Pins()) as sandbox:
        task = Task("t", "f", "e", "p", gold=[])
        evidence = Evidence(task, (), (), None, template.tables, engine=template.dialect)

        def own(sql: str) -> QueryResult | ToolResult:
            return ask(sandbox, template.tables, sql, Limits(read_only=True))

        found = lazy_queries([look], QueryResult(("n",), ((7,),)), evidence, own, "submit_sql")
        sent = [one.moves[-1].arguments["sql"] for one in found if one.kind != "no query"]
        assert len(sent) == 4
        assert all(isinstance(own(sql), QueryResult) for sql in sent)
