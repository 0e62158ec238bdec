"""The sql gate: a query is right when it gives the right answer wherever it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import synth
from synth.ext.text2sql.verifier import NOTES, UNTOLD
from synth.verdict import Verdict
from tests.servers import server
from tests.unit.asking_world import asking_world, with_tasks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asking_world(tmp_path_factory.mktemp("sql") / "rooms")


def judged(
    world: Path, family: str, *queries: Any, before: str | None = None, words: str = "Done."
) -> tuple[Verdict, float | None]:
    """The sql gate's verdict on queries handed in one after the other, and the reward."""
    with synth.open(world, family=family) as episode:

        async def work() -> None:
            if before is not None:
                assert (await episode.call("run_mutation_query", {"sql": before})).result.ok
            for sql in queries:
                await episode.call("submit_sql", sql if isinstance(sql, Mapping) else {"sql": sql})
            await episode.say(words)

        asyncio.run(work())
        score = episode.score()
        return next(each for each in score.verdicts if each.verifier == "sql"), score.reward


def gold(world: Path, family: str) -> str:
    with synth.open(world, family=family) as episode:
        return episode.task.gates[1].options["query"]


def test_the_right_query_in_other_words(world: Path):
    sql = gold(world, "average")
    month = sql.split("LIKE '")[1][:7]
    other = (
        "WITH known AS (SELECT * FROM bookings WHERE guests >= 0) SELECT 1.0 * SUM(guests) /"
        " COUNT(*), name "
        f"FROM known JOIN rooms USING (room_id) WHERE substr(day, 1, 7) = '{month}' GROUP BY"
        " room_id ORDER BY 1"
    )
    verdict, reward = judged(world, "average", other)
    assert (verdict.score, reward) == (1.0, 1.0)
    assert verdict.detail == {
        "execution": True,
        "agrees": {"set": True, "bag": True, "order": True},
        "ties": 0,
        "f1": verdict.detail["f1"],
        "suite": True,
        "databases": 3,
        "known_answer_possible": False,
        "category": None,
        "difficulty": "moderate",
        "family": "average",
        "notes": [{"check": UNTOLD, "words": NOTES[UNTOLD], "evidence": ""}],
    }


def test_a_constant_that_happens_to_match(world: Path):
    """Right on the task's own database, and seen through on another one."""
    with synth.open(world, family="guests") as episode:
        outcome = asyncio.run(
            episode.call("run_select_query", {"sql": episode.task.gates[1].options["query"]})
        )
        (due,) = outcome.result.output["rows"][0]
    verdict, _ = judged(world, "guests", gold(world, "guests"), words=f"{due} guests.")
    assert verdict.detail["notes"] == []
    for sql in (
        f"SELECT {due}",
        f"SELECT {due} FROM bookings LIMIT 1",
        f"SELECT MIN({due}, {due + 1}) FROM rooms LIMIT 1",
    ):
        verdict, reward = judged(world, "guests", sql)
        assert (verdict.detail["execution"], verdict.detail["suite"], reward) == (True, False, 0.0)
        assert "by chance" in verdict.reason


PORTABLE = "SUM(guests) FROM bookings WHERE substr(day, 1, 7) = :month"


@pytest.mark.parametrize("database", ["postgres", "mariadb"])
@pytest.mark.parametrize("guard", ["", " FROM (SELECT COUNT(*) AS n FROM rooms) AS r WHERE n = 6"])
def test_a_constant_on_a_server(
    tmp_path: Path, database: str, guard: str, monkeypatch: pytest.MonkeyPatch
):
    """A world without a seed.py has changed copies of its rows on a server, too."""
    # MariaDB reads || as OR.
    month = with_tasks("SUM(guests) FROM bookings WHERE day LIKE :month || '-%'", PORTABLE)
    world = asking_world(tmp_path / "rooms", month)
    monkeypatch.setenv(
        "DSN_OF_THE_TEST", server({"postgres": "postgresql"}.get(database, database))
    )

    async def hand_in(episode: synth.Episode, sql: str) -> None:
        await episode.call("submit_sql", {"sql": sql})
        await episode.say("Done.")

    rewards: list[float | None] = []
    for constant in (False, True):
        with synth.open(
            world, family="guests", database=database, dsn_env_var="DSN_OF_THE_TEST"
        ) as episode:
            sql = episode.task.gates[1].options["query"]
            outcome = asyncio.run(episode.call("run_select_query", {"sql": sql}))
            (due,) = outcome.result.output["rows"][0]
            asyncio.run(hand_in(episode, f"SELECT {due}{guard}" if constant else sql))
            score = episode.score()
            rewards.append(score.reward)
            (verdict,) = (one for one in score.verdicts if one.verifier == "sql")
            assert verdict.detail["execution"]
            assert verdict.detail["suite"] is not constant
            assert verdict.detail["known_answer_possible"] is (None if constant else False)
    assert rewards == [1.0, 0.0]


def test_plain_execution_accuracy_is_a_choice(tmp_path: Path):
    """With no further database the constant counts, as it does in BIRD's own measure."""
    tasks = with_tasks(
        "sql: SELECT SUM(guests)",
        "gates: [state, {sql: {databases: 0}}]\n  sql: SELECT SUM(guests)",
    )
    world = asking_world(tmp_path / "rooms", tasks)
    with synth.open(world, family="guests") as episode:
        (due,) = asyncio.run(
            episode.call("run_select_query", {"sql": gold(world, "guests")})
        ).result.output["rows"][0]
    verdict, reward = judged(world, "guests", f"SELECT {due}")
    assert (verdict.detail["databases"], reward) == (0, 1.0)


def test_rows_that_an_order_is_due_for(world: Path):
    sql = gold(world, "days")
    verdict, reward = judged(world, "days", sql.replace("ORDER BY b.day", "ORDER BY b.day DESC"))
    assert (verdict.reason, reward) == ("the rows are in another order", 0.0)
    assert judged(world, "days", sql.replace("ORDER BY b.day", "ORDER BY 1"))[1] == 1.0


def test_an_order_that_only_the_table_has(world: Path):
    """The rows come in the right order because they were written so: another database would give
    another answer.
    """
    verdict, reward = judged(world, "days", gold(world, "days").replace("ORDER BY b.day", ""))
    assert reward == 0.0
    assert verdict.reason


WRONG = [
    ("SELECT", "syntax_error"),
    ("SELECT nope FROM bookings", "column_not_found"),
    ("SELECT 1 FROM nope", "table_not_found"),
    ("DELETE FROM bookings", "permission_denied"),
    ("DELETE FROM bookings RETURNING guests", "permission_denied"),
    (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "limit_exceeded",
    ),
    ("PRAGMA query_only = 0", "permission_denied"),
    ("ATTACH 'x.db' AS x", "permission_denied"),
    ("", "syntax_error"),
]


@pytest.mark.parametrize(("sql", "category"), WRONG)
def test_a_query_that_fails(world: Path, sql: str, category: str):
    """A failed query is a verdict with its category, never an error of ours; it changes nothing."""
    verdict, reward = judged(world, "guests", sql)
    assert (verdict.score, verdict.detail["category"], verdict.detail["f1"], reward) == (
        0.0,
        category,
        0.0,
        0.0,
    )


def test_the_last_query_counts(world: Path):
    right = gold(world, "guests")
    assert judged(world, "guests", "SELECT 1", right)[1] == 1.0
    assert judged(world, "guests", right, "SELECT 1")[1] == 0.0
    assert judged(world, "guests", right, {"sql": 7})[1] == 0.0
    assert judged(world, "guests", right, "SELECT nope")[1] == 0.0
    assert judged(world, "guests")[0].reason == "no query was handed in"


def test_whoever_bends_the_data_to_the_answer_fails(world: Path):
    """The state gate sees the write, though the query is right on the end state."""
    verdict, reward = judged(
        world, "guests", gold(world, "guests"), before="DELETE FROM bookings WHERE booking_id = 510"
    )
    assert (verdict.score, reward) == (1.0, 0.0)


def test_chance_does_not_pay(world: Path):
    """A query that takes any row, or rolls dice, may be right here; not on every database, nor
    backwards.
    """
    for shown in ("guests FROM bookings ORDER BY random()", "guests + booking_id FROM bookings"):
        assert judged(world, "guests", f"SELECT {shown} LIMIT 1")[1] == 0.0


def test_the_measure_of_a_wrong_answer(world: Path):
    """BIRD's soft F1 says how much of a wrong answer is right."""
    sql = gold(world, "days").replace("SELECT b.day, b.guests", "SELECT b.day")
    verdict, _ = judged(world, "days", sql)
    assert verdict.detail["f1"] == pytest.approx(2 / 3, abs=1e-6)
    assert verdict.reason == "the answer has 1 columns, not 2"


PHONE_BOOK = {
    "schema.sql": "CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, name TEXT UNIQUE, phone TEXT);\n",
    "seed.sql": (
        "INSERT INTO rooms VALUES (1, 'Aster', '555-1'), (2, 'Borage', '555-2'), (3, 'Fern', '555-3');\n"
    ),
    "tasks.yaml": """\
now: "2026-03-02T09:00:00"
families:
- id: phone
  ground: {key: room_id, sql: "SELECT room_id, name FROM rooms"}
  user: {says: ["The phone number of {name}?"]}
  sql: SELECT phone FROM rooms WHERE name = :name
- id: tables
  ground: {key: room_id, sql: "SELECT room_id, name FROM rooms"}
  user: {says: ["Is {name} a name? Yes or no."]}
  sql: SELECT 'yes' AS answer FROM rooms WHERE name = :name
- id: rest
  ground: {key: room_id, sql: "SELECT room_id, name FROM rooms WHERE room_id = 3"}
  user: {says: ["Every number but the one of {name}?"]}
  sql: SELECT phone FROM rooms WHERE name <> :name
""",
}


@pytest.mark.parametrize(
    "guard", ["", " FROM rooms LIMIT 1", " WHERE (SELECT COUNT(*) FROM rooms) = 3"]
)
def test_a_constant_fails_where_only_values_change(tmp_path: Path, guard: str):
    """Rows left out cannot change the answer about one row: values are exchanged."""
    world = asking_world(tmp_path / "rooms", PHONE_BOOK)
    right = gold(world, "phone")
    with synth.open(world, family="phone") as episode:
        due = asyncio.run(episode.call("run_select_query", {"sql": right}))
    phone = due.result.output["rows"][0][0]
    assert judged(world, "phone", f"SELECT '{phone}'{guard}")[1] == 0.0
    verdict, reward = judged(world, "phone", right)
    assert (verdict.detail["known_answer_possible"], reward) == (False, 1.0)


def test_rows_that_were_seen_before_are_picked_in_vain(tmp_path: Path):
    world, sql = asking_world(tmp_path / "rooms", PHONE_BOOK), "SELECT phone FROM rooms WHERE "
    assert judged(world, "rest", sql + "room_id IN (1, 2)")[1] == 0.0
    assert judged(world, "rest", sql + "phone IN ('555-1', '555-2')")[1] == 0.0
    assert judged(world, "rest", sql + "NOT name = 'Fern'")[1] == 1.0


def test_an_answer_that_is_the_same_everywhere_is_said_so(tmp_path: Path):
    world = asking_world(tmp_path / "rooms", PHONE_BOOK)
    verdict, reward = judged(world, "tables", gold(world, "tables"))
    assert (verdict.detail["known_answer_possible"], reward) == (True, 1.0)
