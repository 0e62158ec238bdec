# ruff: noqa: ISC004 - long statements are written in pieces
"""The critic: what it finds, in words that help; and that it is silent about every statement that
is right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from envs.environments.database import DatabaseExecutableEnvironment
from envs.sandboxes.base import Template
from envs.tools.sql import TABLES
from envs.tools.sql.catalog import Catalog
from envs.tools.sql.critic import Finding, Relation, criticise
from envs.tools.sql.tool_set import sql_tools
from envs.tools.toolbox import Toolbox
from envs.types import ErrorCategory, Limits, Pins, ToolCall
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from tests.unit.envs.tools.sql import valid_sql

TOOLBOX = Toolbox(sql_tools(critic=True))


@pytest.fixture(scope="module")
def ehr() -> Iterator[Template]:
    with load_world(find_world("ehr_db")).template() as template:
        yield template


@pytest.fixture(scope="module")
def shop() -> Iterator[Template]:
    with load_world(find_world("shop")).template() as template:
        yield template


def notes(template: Template, sql: str, tool: str = "run_select_query") -> list[str]:
    """Notes that the agent is shown beside the result of a statement that runs."""
    with DatabaseExecutableEnvironment(
        TOOLBOX, template.open(Pins()), template.tables
    ) as environment:
        result = environment.call(ToolCall.of(tool, {"sql": sql})).result
    assert result.ok, (sql, result)
    return result.output.get("notes", [])


def advice(template: Template, sql: str, tool: str = "run_select_query") -> str:
    """Advice that the agent is shown with the error of a statement that fails."""
    with DatabaseExecutableEnvironment(
        TOOLBOX, template.open(Pins()), template.tables
    ) as environment:
        result = environment.call(ToolCall.of(tool, {"sql": sql})).result
    assert not result.ok, sql
    return str(result.advice)


@pytest.mark.parametrize("sql", valid_sql.EHR)
def test_silent_about_what_is_right(ehr: Template, sql: str):
    assert notes(ehr, sql) == []


@pytest.mark.parametrize("sql", valid_sql.WRITES)
def test_silent_about_right_writes(ehr: Template, sql: str):
    assert notes(ehr, sql, "run_mutation_query") == []


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
def test_silent_about_the_worlds_own_sql(world: str, ehr: Template, shop: Template):
    """Every whole statement of their tools and families."""
    template = {"ehr_db": ehr, "shop": shop}[world]
    with (
        template.open(Pins()) as sandbox,
        sandbox.transaction(Limits(read_only=True)) as transaction,
    ):
        catalog = Catalog(transaction.connection.execution_options(**{TABLES: template.tables}))
        known = {
            name: Relation(name, catalog.columns(name))
            for name in [*catalog.tables, *catalog.views]
        }
    folder = find_world(world)
    texts = [*strings(yaml.safe_load((folder / "tasks.yaml").read_text("utf-8")))]
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        texts += [str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    statements = [each for each in texts if re.match(r"(SELECT|WITH|INSERT|UPDATE|DELETE)\b", each)]
    assert len(statements) > 100
    assert not [
        (each, found)
        for each in statements
        if (found := criticise(each, known, "sqlite", reading=False))
    ]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        ("SELECT name FROM pateints", "no table `pateints`; did you mean patients?"),
        ("SELECT value FROM latest_lab", "no table `latest_lab`; did you mean latest_labs, lab_tests?"),
        ("SELECT p.nmae FROM patients p", "no column `nmae` in `patients`; did you mean name?"),
        ("SELECT valeu FROM latest_labs", "no column `valeu` in `latest_labs`; did you mean value?"),
        ("SELECT q.name FROM patients p", "unknown table or alias `q`; name it in FROM or JOIN"),
        ("WITH d AS (SELECT patient_id FROM labs) SELECT d.value FROM d", "no column `value` in `d`; it has patient_id"),
        ("SELECT a FROM (SELECT name AS b FROM patients)", "no column `a` in the subquery; it has b"),
        (
            "SELECT name FROM patients p WHERE EXISTS (SELECT 1 FROM labs l WHERE l.patient_id = p.id)",
            "no column `id` in `patients`; did you mean patient_id, clinician_id?",
        ),
        ("SELECT name FROM patients ORDER BY nmae", "no column `nmae` in `patients`; did you mean name?"),
        ("SELECT name FROM drugs UNION SELECT nam FROM patients", "no column `nam` in `patients`; did you mean name"),
        ("SELECT p.name FROM patients p JOIN labs l USING (patient)", "no column `patient`; did you mean p.patient_id"),
        ("SELECT name FROM patients WHERE name = \"Ada\"", "`Ada` in double quotes is read as a column"),
        (
            "SELECT (SELECT max(l.valeu) FROM labs l WHERE l.patient_id = p.patient_id) FROM patients p",
            "no column `valeu` in `labs`; did you mean value?",
        ),
    ],
)  # fmt: skip
def test_names_that_are_not_there(ehr: Template, sql: str, finding: str):
    assert finding in advice(ehr, sql)


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        (
            "UPDATE patients SET stauts = 'x' WHERE patient_id = 1",
            "no column `stauts` in `patients`; did you mean status?",
        ),
        ("DELETE FROM labs WHERE labid = 3", "no column `labid` in `labs`; did you mean lab_id?"),
        (
            "INSERT INTO labs (lab_id, valeu) VALUES (1, 2)",
            "no column `valeu` in `labs`; did you mean value?",
        ),
        (
            "REPLACE INTO labs (labid) VALUES (1)",
            "no column `labid` in `labs`; did you mean lab_id?",
        ),
        ("INSERT INTO labs SELECT * FROM lab", "no table `lab`; did you mean labs"),
        (
            "UPDATE patients SET name = (SELECT d.nam FROM drugs d) WHERE patient_id = 1",
            "no column `nam` in `drugs`",
        ),
    ],
)
def test_names_in_writes(ehr: Template, sql: str, finding: str):
    assert finding in advice(ehr, sql, "run_mutation_query")


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        ("SELECT name, count(*) FROM patients", "`name` stands beside an aggregate without GROUP BY; add GROUP BY name"),
        ("SELECT min(dob), name, max(name) FROM patients", "`name` stands beside an aggregate without GROUP BY"),
        (
            "SELECT p.name, t.unit, count(*) FROM patients p, labs l, lab_tests t WHERE l.patient_id = p.patient_id"
            " AND t.unit <> l.test GROUP BY p.patient_id",
            "`t.unit` is neither aggregated nor in GROUP BY",
        ),
        ("SELECT p.name FROM patients p, labs l WHERE l.value > 9 LIMIT 1", "`l` and `p` are joined without a condition"),
        ("SELECT p.name FROM patients p JOIN labs l LIMIT 1", "`l` and `p` are joined without a condition"),
        ("SELECT p.name FROM patients p JOIN labs l ON 1=1 LIMIT 1", "`l` and `p` are joined without a condition"),
        ("SELECT p.name FROM patients p, patients q LIMIT 1", "`p` and `q` are joined without a condition"),
        ("SELECT p.name FROM patients p JOIN patients q ON p.name = p.name LIMIT 1", "`p` and `q` are joined without a condition"),
        (
            "SELECT p.name FROM patients p, labs l, lab_tests t WHERE l.test = t.test LIMIT 1",
            "are joined without a condition, so that every row of one meets every row of the other",
        ),
        (
            "SELECT name FROM drugs WHERE drug_id IN (SELECT m.drug_id FROM drug_class_members m, drug_classes c)",
            "`c` and `m` are joined without a condition",
        ),
    ],
)  # fmt: skip
def test_shapes(ehr: Template, sql: str, finding: str):
    assert any(finding in each for each in notes(ehr, sql))


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        (
            "DELETE FROM alerts",
            "DELETE without WHERE deletes every row of `alerts`; add WHERE for the rows meant",
        ),
        (
            "UPDATE labs SET value = value",
            "UPDATE without WHERE changes every row of `labs`; add WHERE",
        ),
        *(
            (
                f"DELETE FROM labs WHERE {condition}",
                "DELETE with a WHERE that is always true deletes every row of `labs`",
            )
            for condition in ("1=1", "true", "NOT 0", "lab_id = lab_id", "lab_id = 3 OR 1=1", "(1)")
        ),
        ("UPDATE labs SET value = 3 WHERE 1", "UPDATE with a WHERE that is always true"),
    ],
)
def test_writes_to_a_whole_table(ehr: Template, sql: str, finding: str):
    assert [finding in each for each in notes(ehr, sql, "run_mutation_query")] == [True]


@pytest.mark.parametrize("condition", ["lab_id = 3", "1=0", "lab_id = 3 AND 1=1", "value IS NULL"])
def test_writes_to_some_rows(ehr: Template, condition: str):
    assert notes(ehr, f"DELETE FROM labs WHERE {condition}", "run_mutation_query") == []


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        ("DELETE FROM labs WHERE lab_id = 1", "this tool only reads, and DELETE writes"),
        ("WITH x AS (SELECT 1) DELETE FROM labs WHERE lab_id IN (SELECT * FROM x)", "this tool only reads, and DELETE writes"),
        ("REPLACE INTO labs (lab_id) VALUES (1)", "this tool only reads, and REPLACE writes"),
        ("/* hm */ DROP TABLE labs", "DROP changes the schema, which no tool may do"),
    ],
)  # fmt: skip
def test_writes_in_a_tool_that_reads(ehr: Template, sql: str, finding: str):
    """The guard refuses; the critic says what to do instead."""
    assert finding in advice(ehr, sql)


PEOPLE = {
    "people": Relation("people", ("person_id", "name", "doc"), ("person_id",)),
    "visits": Relation("visits", ("visit_id", "person_id", "day"), ("visit_id",)),
    "dark": Relation("dark", None),
}


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgresql", "SELECT p.name, v.day FROM people p, LATERAL (SELECT day FROM visits WHERE person_id = p.person_id) v"),
        ("postgresql", "SELECT g, n FROM generate_series(1, 3) AS g(n)"),
        ("postgresql", "SELECT g FROM generate_series(1, 3) g"),
        ("postgresql", "SELECT r.a FROM people, jsonb_to_recordset(doc) AS r(a int, b text)"),
        ("postgresql", "SELECT doc -> 'a' ->> 'b', doc #>> '{x,y}' FROM people WHERE doc @> '{\"a\": 1}'"),
        ("postgresql", "SELECT DISTINCT ON (person_id) person_id, day FROM visits ORDER BY person_id, day DESC"),
        ("postgresql", "SELECT p FROM people p; "),
        ("postgresql", "SELECT extract(year FROM day), date_trunc('month', day) FROM visits"),
        ("postgresql", "SELECT now() - make_interval(days => 10), CURRENT_USER, localtime"),
        ("postgresql", "SELECT count(*) FILTER (WHERE day IS NULL), array_agg(name ORDER BY name) FROM people JOIN visits"
                       " USING (person_id)"),
        ("postgresql", "SELECT count FROM (SELECT count(*) FROM people) x"),
        ("postgresql", "SELECT relname FROM pg_catalog.pg_class"),
        ("postgresql", "SELECT table_name FROM information_schema.tables"),
        ("postgresql", "WITH gone AS (DELETE FROM visits WHERE day < '2000' RETURNING *) SELECT count(*) FROM gone"),
        ("postgresql", "UPDATE people SET name = v.day FROM visits v WHERE v.person_id = people.person_id"),
        ("postgresql", "DELETE FROM visits USING people p WHERE p.person_id = visits.person_id AND p.name = 'x'"),
        ("postgresql", "INSERT INTO people AS p VALUES (1, 'x') ON CONFLICT (person_id) DO UPDATE SET name = excluded.name"
                       " WHERE p.name <> 'y' RETURNING p.person_id"),
        ("postgresql", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY visit_id) FROM visits"),
        ("postgresql", "SELECT day, count(*) FROM visits GROUP BY GROUPING SETS ((day), ())"),
        ("postgresql", "SELECT anything FROM dark"),
        ("mysql", "SELECT TIMESTAMPDIFF(DAY, day, UTC_DATE) FROM visits"),
        ("mysql", 'SELECT name FROM people WHERE name = "Ada"'),
        ("mysql", "SELECT `p`.`name` FROM `people` AS `p` ORDER BY `p`.`name` LIMIT 5, 10"),
        ("mysql", "UPDATE people p JOIN visits v ON v.person_id = p.person_id SET p.name = v.day"),
        ("mysql", "DELETE v FROM visits v JOIN people p ON p.person_id = v.person_id WHERE p.name = 'x'"),
        ("mysql", "INSERT INTO people (person_id, name) VALUES (1, DEFAULT) ON DUPLICATE KEY UPDATE name = VALUES(name)"),
        ("mysql", "SELECT group_concat(DISTINCT name ORDER BY name SEPARATOR ', ') FROM people"),
        ("mysql", "SELECT date_add(day, INTERVAL 3 DAY) FROM visits WHERE day > now() - INTERVAL 1 MONTH"),
        ("mariadb", "SELECT jt.a FROM people, JSON_TABLE(doc, '$[*]' COLUMNS (a INT PATH '$')) AS jt"),
        ("mariadb", "SELECT 1 FROM dual"),
        ("sqlite", "SELECT * FROM people WHERE people MATCH 'x' ORDER BY rank"),
    ],
)  # fmt: skip
def test_silent_about_what_is_right_on_other_engines(dialect: str, sql: str):
    assert criticise(sql, PEOPLE, dialect, reading=False) == []


def test_a_cte_that_writes_is_seen():
    sql = (
        "WITH gone AS (DELETE FROM visits WHERE day < '2000' RETURNING *) SELECT count(*) FROM gone"
    )
    reason = "this tool only reads, and DELETE writes; use a tool that writes"
    found = criticise(sql, PEOPLE, "postgresql", reading=True)
    assert found == [Finding("write_in_reader", reason, ErrorCategory.PERMISSION_DENIED)]


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "nonsense",
        "SELECT FROM WHERE",
        "SELECT 'open",
        "SELECT 1; SELECT nmae FROM people",
        "EXPLAIN SELECT nmae FROM people",
        "SELECT " + "(" * 3000,
        "SELECT " + "(" * 400 + "SELECT nmae FROM people" + ")" * 400,
        "SELECT " + "a, " * 9000 + "nmae FROM people",
        "SELECT '\ud800'",
    ],
)
def test_what_cannot_be_read_yields_nothing(sql: str):
    assert criticise(sql, PEOPLE, "sqlite", reading=True) == []


WORDS = (
    "SELECT FROM WHERE GROUP BY ORDER JOIN ON USING ( ) , . * = people visits p v name day count ("
    " * ) WITH AS UNION ALL"
    " INSERT INTO VALUES UPDATE SET DELETE NOT IN EXISTS 'x' \"y\" 1 NULL CASE WHEN END OVER"
    " LATERAL ; -- ? :a % RETURNING"
)


@given(
    st.lists(st.sampled_from(WORDS.split()), max_size=25),
    st.sampled_from(["sqlite", "postgresql", "mysql"]),
    st.booleans(),
)
def test_no_text_makes_it_stumble(words: list[str], dialect: str, reading: bool):
    """Any salad of words gives sentences or none."""
    found = criticise(" ".join(words), PEOPLE, dialect, reading=reading)
    assert len(found) <= 5
    assert all(each.reason.strip() and "\n" not in each.reason for each in found)
