"""Real errors of real drivers, in the languages that the servers speak: all of the half that the
classifier was tuned on get their category, and at least 98 in 100 of the other.

Every statement of both halves of the corpus is executed; each error is read as SQLAlchemy wraps it
and bare. ``-s`` shows the counts.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import sqlalchemy as sa

from envs.sql_errors import is_transient
from envs.sql_errors.classify import classify, to_result
from envs.types import Column, ErrorCategory, Table
from synth.ext.middlewares.faults import said_by
from tests.conftest import scratch
from tests.unit.envs.sql_error_corpus import drivers, scenes
from tests.unit.envs.sql_error_corpus.cases import Case, read_cases
from tests.unit.envs.sql_error_corpus.drivers import Raised

LEAST = {"tuned": 1.0, "held_out": 0.98}
HALVES = tuple(LEAST)
SERVED = [
    (engine, driver) for engine in ("postgresql", "mysql") for driver in drivers.installed(engine)
]
NOISE = re.compile(
    r"https?:|sqlalche|psycopg|pg8000|pymysql|MySQLdb|mysql\.connector|apsw|LINE"
    r" \d|\bmanual\b|Handbuch|synth_test_"
    r"|<class|0x[0-9a-f]{6}"
)


@pytest.fixture
def shop(engine: str) -> Iterator[sa.URL]:
    """A database of the engine that holds the shop."""
    for address in scratch(engine):
        url = sa.make_url(address)
        drivers.build(url)
        yield url


def on(engine: str, half: str) -> list[Case]:
    return [case for case in read_cases(half) if engine in case.engines]


def check_what_a_model_reads(raised: Raised, engine: str) -> None:
    """No statement, address, link or driver is in the result, whatever the driver and the
    language.
    """
    assert raised.error is not None
    result = to_result(raised.error, engine)
    assert result.message, raised
    if raised.driver in {"psycopg", "pymysql"}:
        assert re.fullmatch(r"[0-9A-Z]{5}", result.sql_state or ""), raised
    assert not NOISE.search(result.content()), (raised.case.place, raised.driver, result.content())
    words = raised.case.statements[-1].split()
    for at in range(len(words) - 3):
        assert " ".join(words[at : at + 4]) not in result.message, (
            raised.case.place,
            raised.driver,
            result.message,
        )


def judge(raised: Iterable[Raised], engine: str) -> tuple[Counter[bool], list[str]]:
    """Number of errors in their right category, and the others."""
    counts: Counter[bool] = Counter()
    wrong: list[str] = []
    for each in raised:
        assert each.error is not None, f"{each.case.place} did not fail on {each.driver}"
        check_what_a_model_reads(each, engine)
        forms = [each.error, each.bare] if each.driver != "apsw" else [each.error]
        for error in forms if not each.case.wrapped else forms[:1] * (each.bare is not None):
            assert error is not None
            found = classify(error, engine)
            counts[found is each.case.category] += 1
            if found is not each.case.category:
                wrong.append(f"{each.case.place} {each.driver} {each.language}: {found}: {error}")
    return counts, wrong


def hold(raised: Iterable[Raised], engine: str, name: str, least: float = 0.98) -> None:
    """So large a share is right."""
    counts, wrong = judge(raised, engine)
    print(f"{name}: {counts[True]} of {counts.total()}")
    assert counts.total() > 100
    assert counts[True] >= least * counts.total(), "\n".join(wrong)


def test_the_corpus_is_large_and_no_statement_is_in_both_halves() -> None:
    """Five hundred distinct statements or more, and every category of the database's in each
    half.
    """
    halves = [list(read_cases(half)) for half in HALVES]
    statements = [{case.statements for case in half} for half in halves]
    assert len(statements[0] | statements[1]) >= 500
    assert not statements[0] & statements[1]
    elsewhere = {
        "deadlock",
        "connection_error",
        "malformed_call",
        "unknown_tool",
        "invalid_arguments",
    }
    for half in halves:
        assert {case.category for case in half} == {
            each for each in ErrorCategory if each not in elsewhere
        }


@pytest.mark.parametrize("half", HALVES)
class TestCategories:
    def test_sqlite3(self, half: str) -> None:
        hold(drivers.by_sqlite3(on("sqlite", half)), "sqlite", f"{half} sqlite3")

    def test_apsw(self, half: str) -> None:
        hold(drivers.by_apsw(on("sqlite", half)), "sqlite", f"{half} apsw", LEAST[half])

    @pytest.mark.parametrize(("engine", "driver"), SERVED)
    def test_a_server(self, half: str, engine: str, driver: str, shop: sa.URL) -> None:
        raised = drivers.by_server(on(engine, half), shop, driver)
        hold(raised, engine, f"{half} {driver}", LEAST[half])


class TestScenes:
    """Errors that take more than one statement are classified without exception."""

    def test_sqlite3(self, tmp_path: Path) -> None:
        for what, category, error in scenes.by_sqlite3(tmp_path):
            assert error is not None, what
            assert classify(error, "sqlite") is category, what

    @pytest.mark.parametrize(("engine", "driver"), SERVED)
    def test_a_server(self, engine: str, driver: str, shop: sa.URL) -> None:
        for what, category, error in scenes.by_server(
            shop, driver, drivers.LANGUAGES[engine][driver][0]
        ):
            assert error is not None, what
            assert classify(error, engine) is category, (what, error)

    @pytest.mark.parametrize("engine", ["postgresql", "mysql"])
    def test_injected_faults_have_the_words_of_the_servers(self, engine: str, shop: sa.URL) -> None:
        """`agent.middleware=[faults]` shows a model the same text as the same failure on the real
        server.
        """
        driver = next(driver for name, driver in SERVED if name == engine)
        kinds = {
            "lock": "lock_timeout",
            "deadlock": "deadlock",
            "serialization": "serialization_failure",
        }
        for what, _, error in scenes.by_server(shop, driver):
            if what in kinds and error is not None:
                assert replace(said_by(engine, kinds[what]), advice=None) == replace(
                    to_result(error, engine), advice=None
                )
                assert is_transient(to_result(error, engine).message or "")
            elif what == "killed" and error is not None:
                assert (
                    to_result(error, engine).message
                    == said_by(engine, "connection_dropped").message
                )


class TestAdvice:
    """The nearest real names, in whatever language the server complains."""

    TABLES: ClassVar = {
        name: Table(name, tuple(Column(each, "TEXT") for each in columns.split()), ())
        for name, columns in {
            "customers": "customer_id name email city born",
            "products": "product_id name price stock parent_id",
            "orders": "order_id customer_id ordered_at status",
        }.items()
    }
    EXPECTED: ClassVar = {
        "SELECT nme FROM products": "no column `nme` in `products`; did you mean name?",
        "SELECT o.state FROM orders o": "no column `state` in `orders`; did you mean status?",
        "UPDATE products SET pric = 1": "no column `pric` in `products`; did you mean price?",
        "SELECT 1 FROM product": "no table `product`; did you mean products?",
        "UPDATE products SET name = NULL": "give a value for name",
    }

    @pytest.mark.parametrize(("engine", "driver"), SERVED)
    def test_a_server(self, engine: str, driver: str, shop: sa.URL) -> None:
        asked = {
            Case(ErrorCategory.UNKNOWN, (engine,), (sql,), False, sql): advice
            for sql, advice in self.EXPECTED.items()
        }
        for raised in drivers.by_server(asked, shop, driver):
            assert raised.error is not None
            result = to_result(raised.error, engine, self.TABLES)
            assert result.advice == asked[raised.case], (raised.language, result.content())


def test_an_error_of_unknown_kind_is_logged_once_with_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = sqlite3.OperationalError("the table has a headache")
    assert {to_result(error, "sqlite").category for _ in range(2)} == {ErrorCategory.UNKNOWN}
    (record,) = caplog.records
    assert record.message.endswith("the table has a headache")
