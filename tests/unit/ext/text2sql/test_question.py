"""Families whose gold is a query: what they make, and what is told of a mistake in one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from envs.sandboxes.base import Template
from envs.tools.sql.critic import read_query
from envs.world.loader import World, load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.yaml.template import compile_sql, fill, sql_literal
from synth.core.types.steps import CallStep, ReplyStep
from synth.core.validation.prove import prove
from synth.episode import Episode
from synth.errors import TaskError
from synth.task import Task
from tests.unit.asking_world import FILES, asking_world


def source(folder: Path, changes: Mapping[str, str] | None = None) -> FamilyTasks:
    world = load_world(asking_world(folder / "rooms", changes))
    with world.template() as template:
        return FamilyTasks(world, template)


def tasks_of(made: FamilyTasks, family: str) -> list[Task]:
    return [made.task(family, at, 0) for at in range(made.capacity(family))]


def test_a_slot_is_a_literal_that_cannot_break_out(tmp_path: Path):
    task = next(
        each for each in tasks_of(source(tmp_path), "days") if each.slots["name"] == "O'Clover"
    )
    assert "r.name = 'O''Clover' ORDER BY" in task.gates[1].options["query"]
    submitted = [step.arguments["sql"] for step in task.gold if step.word == "submit_sql"]
    assert submitted == [task.gates[1].options["query"]]


def test_gold_looks_before_it_asks(tmp_path: Path):
    """The expert lists the tables, describes those that the query reads, tries it, and hands
    it in.
    """
    task = tasks_of(source(tmp_path), "days")[0]
    assert [
        (step.tool, step.arguments.get("table")) for step in task.gold if isinstance(step, CallStep)
    ] == [
        ("list_tables", None),
        ("describe_table", "bookings"),
        ("describe_table", "rooms"),
        ("run_select_query", None),
        ("submit_sql", None),
    ]
    assert isinstance(task.gold[-1], ReplyStep)


@pytest.mark.parametrize(
    ("family", "said"), [("days", ("rows",)), ("average", ("rows",)), ("guests", ("guests",))]
)
def test_the_reply_holds_the_answer(tmp_path: Path, family: str, said: tuple[str, ...]):
    """In the words of the family, or else in general ones."""
    words = FILES["tasks.yaml"].replace(
        "  sql: SELECT SUM(guests) FROM",
        '  say: "{guests} guests."\n  sql: SELECT SUM(guests) AS guests FROM',
    )
    reply = tasks_of(source(tmp_path, {"tasks.yaml": words}), family)[0].gold[-1]
    assert isinstance(reply, ReplyStep)
    assert reply.always == said


@pytest.mark.parametrize(
    ("sql", "one_row"),
    [
        ("SELECT count(*) FROM t", True),
        ("SELECT round(avg(a), 2), 'x' FROM t WHERE b = 1", True),
        ("WITH x AS (SELECT a FROM t) SELECT max(a) FROM x", True),
        ("SELECT EXISTS (SELECT 1 FROM t)", True),
        ("SELECT a FROM t ORDER BY a LIMIT 1", True),
        ("SELECT a FROM t", False),
        ("SELECT a, count(*) FROM t GROUP BY a", False),
        ("SELECT sum(a) OVER () FROM t", False),
        ("SELECT (SELECT max(a) FROM t), b FROM t", False),
        ("SELECT max(a) FROM t UNION SELECT min(a) FROM t", False),
    ],
)
def test_a_query_of_one_row(sql: str, one_row: bool):
    reading = read_query(sql)
    assert reading is not None
    assert reading.one_row is one_row


def test_the_hint_stands_in_the_request_and_the_query_does_not(tmp_path: Path):
    task = tasks_of(source(tmp_path), "average")[0]
    assert task.prompt.endswith(" Bookings without a number of guests do not count.")
    assert "AVG" not in task.prompt + task.system
    assert (task.extras["difficulty"], Task.from_json(task.to_json()).extras["difficulty"]) == (
        "moderate",
        "moderate",
    )


def test_an_order_counts_where_the_query_has_one(tmp_path: Path):
    made = source(tmp_path)
    ordered = {
        name: tasks_of(made, name)[0].gates[1].options["ordered"] for name in ("days", "average")
    }
    assert ordered == {"days": True, "average": False}


MISTAKES = [
    ("sql: SELECT SUM(guests) FROM", "sql: SELECT SUM(guests FROM", "cannot be read"),
    ("sql: SELECT SUM(guests) FROM", "sql: DELETE FROM", "cannot be read"),
    ("sql: SELECT SUM(guests)", "sql: SELECT SUM(guests) + random()", "another value each time"),
    (
        "LIKE :month || '-%'\n",
        "LIKE :moth || '-%'\n",
        "`moth` is neither a slot nor saved by an earlier step; did you mean 'month'?",
    ),
    (
        "  difficulty: moderate",
        "  difficulty: medium",
        "`difficulty` must be simple or moderate or challenging, not 'medium'",
    ),
    ("  difficulty: moderate", "  gates: [state]", "the gates leave out `sql`"),
    (
        "  difficulty: moderate",
        "  gates: [{sql: {rows: sack}}]",
        "`gates sql rows` must be bag or set, not 'sack'",
    ),
    (
        "  difficulty: moderate",
        "  gates: [{sql: {databases: -1}}]",
        "`gates sql databases` must be at least 0, not -1",
    ),
    (
        "  difficulty: moderate",
        "  gates: [{sql: {tolerance: 7}}]",
        "`gates sql tolerance` must be less than 1.0, not 7",
    ),
    (
        "  difficulty: moderate",
        "  gates: [{sql: {row: bag}}]",
        "has no key 'row'; did you mean 'rows'?",
    ),
    ("  difficulty: moderate", "  gold: [{say: Hello.}]", "`gold` has no place beside it"),
]


@pytest.mark.parametrize(("old", "new", "told"), MISTAKES)
def test_a_mistake_is_told(tmp_path: Path, old: str, new: str, told: str):
    with pytest.raises(TaskError) as caught:
        source(tmp_path, with_changed(old, new))
    assert told in caught.value.message
    assert caught.value.line is not None


def with_changed(old: str, new: str) -> Mapping[str, str]:
    text = FILES["tasks.yaml"]
    at = text.rindex(old)
    return {"tasks.yaml": text[:at] + new + text[at + len(old) :]}


def test_a_world_without_a_tool_that_takes_queries_cannot_ask(tmp_path: Path):
    with pytest.raises(TaskError, match="`sql` needs the tool run_select_query or submit_sql"):
        source(tmp_path, {"tools.yaml": "- builtin: [list_tables]\n"})


def test_where_nothing_is_handed_in_the_last_query_and_the_words_are_the_answer(tmp_path: Path):
    """A right query with other words earns nothing, nor do right words with another query last."""
    made = source(tmp_path, {"tools.yaml": "- builtin: [list_tables, run_select_query]\n"})
    task = tasks_of(made, "guests")[0]
    right = task.gates[1].options["query"]
    assert [step.word for step in task.gold] == ["list_tables", "run_select_query", "say"]
    with made.world.template() as template:
        task = asyncio.run(prove(task, made.world, template))
        count = task.end.reply["said"][-1]
        for queries, words, reward in (
            ([right], count, 1.0),
            (["SELECT 1", right], count, 1.0),
            ([right, "SELECT 1"], count, 0.0),
            ([right], "I have looked into it.", 0.0),
            ([], count, 0.0),
        ):
            assert asyncio.run(_answered(task, made.world, template, queries, words)) == reward


async def _answered(
    task: Task, world: World, template: Template, queries: Sequence[str], words: str
) -> float | None:
    with Episode(task, world, template) as episode:
        for sql in queries:
            await episode.call("run_select_query", {"sql": sql})
        await episode.say(words)
        return (await episode.scored()).reward


def test_literals_in_written_gold(tmp_path: Path):
    """Also where an author writes the steps, `:name` in a built-in tool's SQL is quoted; a saved
    value is too.
    """
    gold = """gold:
  - run_select_query: {sql: "SELECT room_id AS id, name FROM rooms WHERE name = :name"}
    save: {found: "$.rows[0][1]", id: "$.rows[0][0]"}
  - run_select_query: {sql: "SELECT '12:30', seats FROM rooms WHERE name = :found AND room_id = :id"}
"""
    at = FILES["tasks.yaml"].index("  sql: SELECT b.day")
    end = FILES["tasks.yaml"].index("- id: average")
    made = source(
        tmp_path, {"tasks.yaml": FILES["tasks.yaml"][:at] + "  " + gold + FILES["tasks.yaml"][end:]}
    )
    task = next(each for each in tasks_of(made, "days") if each.slots["name"] == "O'Clover")
    assert task.gold[0].arguments["sql"].endswith("name = 'O''Clover'")
    later = fill(task.gold[1].arguments["sql"], "$", {"found": "it's", "id": 103})
    assert later == "SELECT '12:30', seats FROM rooms WHERE name = 'it''s' AND room_id = 103"


def test_what_looks_like_a_name_and_is_none():
    sql = """SELECT 'a :x', ":x", `:x`, y::text -- :x
        /* :x */ FROM t WHERE z = :x"""
    filled = fill(compile_sql(sql, {"x"}, set()), "$slot", {"x": "1"})
    assert filled == sql.replace("z = :x", "z = '1'")


@pytest.mark.parametrize(
    ("value", "literal"),
    [(None, "NULL"), (7, "7"), (-0.5, "-0.5"), (True, "TRUE"), ("a'b", "'a''b'"), ("", "''")],
)
def test_a_literal(value: object, literal: str):
    assert sql_literal(value) == literal


def test_a_list_is_no_literal():
    with pytest.raises(TaskError, match="must be a single value"):
        sql_literal([1])
