"""seed.py: what it gives is checked with its line, and goes into a database of any engine as it was
given.
"""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from envs.connection import connect_args, parse_url
from envs.errors import WorldError
from envs.sandboxes.base import Template
from envs.scripts import Dialect
from envs.types import Limits, Pins
from envs.world.loader import load_world
from envs.world.seed_rows import BATCH, SeedRow, insert_rows
from envs.world.template_cache import Templates
from tests.unit import small_world

SCHEMA = """\
CREATE TABLE makers (maker_id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL UNIQUE);
CREATE TABLE items (
    item_id INTEGER PRIMARY KEY, maker_id INTEGER NOT NULL REFERENCES makers (maker_id),
    price NUMERIC(10,2) CHECK (price > 0), due DATE, "odd %name" VARCHAR(20)
);
CREATE TABLE log (item_id INTEGER NOT NULL);
CREATE TRIGGER logged AFTER INSERT ON items BEGIN INSERT INTO log VALUES (new.item_id); END;
"""
SEED = """\
from .people import NAMES


def rows(universe, random):
    for n in range(3):
        yield "makers", {"maker_id": universe * 10 + n, "name": f"{random.choice(NAMES)} {universe}-{n}"}
    yield from items(universe, random)


def items(universe, random):
    for n in range(4):
        yield "items", {"item_id": universe * 10 + n, "maker_id": universe * 10 + n % 3, "price": random.randrange(1, 9)}
"""
PEOPLE = 'NAMES = ["Ada", "Bo"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = small_world.make(tmp_path / "shop")
    (made / "schema.sql").write_text(SCHEMA, "utf-8")
    (made / "seed.sql").write_text("INSERT INTO makers VALUES (1, 'Zed');\n", "utf-8")
    (made / "seed.py").write_text(SEED, "utf-8")
    (made / "people.py").write_text(PEOPLE, "utf-8")
    return made


def table(template: Template, sql: str) -> list[tuple[Any, ...]]:
    with template.open(Pins()) as sandbox, sandbox.transaction(Limits()) as transaction:
        return [tuple(row) for row in transaction.connection.exec_driver_sql(sql).all()]


def refused(folder: Path, universe: int = 1) -> WorldError:
    with pytest.raises(WorldError) as caught:
        load_world(folder).template(universe=universe)
    return caught.value


class TestUniverses:
    def test_each_has_rows_of_its_own_and_zero_is_seed_sql(self, folder: Path):
        world = load_world(folder)
        assert world.universes
        with (
            world.template() as zero,
            world.template(universe=1) as one,
            world.template(universe=2) as two,
        ):
            others = [next(iter(template.siblings)) for template in (zero, two)]
            assert [other.tables is one.tables for other in others] == [True, True]  # built once
            assert table(zero, "SELECT name FROM makers") == [("Zed",)]
            assert [key for (key,) in table(one, "SELECT maker_id FROM makers")] == [10, 11, 12]
            assert [key for (key,) in table(two, "SELECT item_id FROM items")] == [20, 21, 22, 23]
            assert table(two, "SELECT * FROM log") == [(20,), (21,), (22,), (23,)], "triggers fire"
            assert len({zero.digest, one.digest, two.digest}) == 3

    def test_a_universe_is_the_same_each_time_whatever_its_folder_is_called(self, folder: Path):
        with (
            load_world(folder).template(universe=1) as one,
            load_world(folder).template(universe=1) as again,
        ):
            assert one.digest == again.digest
        other = folder.rename(folder.with_name("other"))
        with load_world(other).template(universe=1) as moved:
            assert moved.digest == one.digest

    @pytest.mark.slow
    def test_another_process_draws_the_same(self, folder: Path):
        """Whatever the order of its sets."""
        code = (
            "import sys; from pathlib import Path; from envs.world.loader import load_world;"
            "print(load_world(Path(sys.argv[1])).template(universe=3).digest)"
        )
        with load_world(folder).template(universe=3) as here:
            for order in ("1", "2"):
                shown = subprocess.run(
                    [sys.executable, "-c", code, str(folder)],
                    env={"PYTHONHASHSEED": order},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                assert shown.stdout.strip() == here.digest

    def test_a_world_without_seed_py_has_universe_zero_only(self, folder: Path):
        (folder / "seed.py").unlink()
        assert not load_world(folder).universes
        assert "this world has universe 0 only; a seed.py" in str(refused(folder))

    def test_a_negative_universe_is_refused(self, folder: Path):
        assert refused(folder, -1).message.startswith("unknown universe -1: ")


class TestMistakes:
    """Each is one message with the line of the world's own code."""

    @pytest.mark.parametrize(
        ("old", "new", "line", "words"),
        [
            ("def rows(", "def row(", None, ("it needs a function rows(universe, random); did you mean row?")),
            (("def rows(universe, random)"), "def rows(universe)", 4, ("rows must take (universe, random)")),
            ("def rows(universe, random):", "def rows(universe, random) oops", 4, "SyntaxError"),
            ("NAMES\n", "NAMSE\n", 1, "ImportError: cannot import name 'NAMSE'"),
            ("{random.choice(NAMES)}", "{1 / n}", 6, ("rows(1) breaks: ZeroDivisionError: division by zero")),
            ("random.randrange(1, 9)", "random.randrange(0, 0)", 12, "rows(1) breaks: ValueError"),
            (('yield "makers", {'), ('yield {**{"a": 1}}, {'), 6, ("rows must yield pairs (table, {column: value}), not ({'a'")),
            (('yield "items", {'), "yield {", 12, ("rows must yield pairs (table, {column: value}), not {'item_id': 10")),
            (('"items", {"item_id": universe * 10 + n, '), ('"items", {5: 1, '), 12, ("must map names of columns to values")),
            ('"items", {', '"itemz", {', 12, "no table is called 'itemz'; did you mean items?"),
            ('"items", {', '"qqqqq", {', 12, ("no table is called 'qqqqq'; there are items, log, makers")),
            ('"price":', '"prise":', 12, ("no column in items is called 'prise'; did you mean price?")),
            ('"price": random', '"price": -random', 12, ("CHECK constraint failed: price > 0 (row of items: {'item_id': 10,")),
            (' + n, "maker_id"', ', "maker_id"', 12, ("UNIQUE constraint failed: items.item_id (row of items: {'item_id': 10, ")),
            (("universe * 10 + n % 3"), "5", 12, ("FOREIGN KEY constraint failed (row of items: {'item_id': 10")),
            (("random.randrange(1, 9)"), "float('nan')", 12, ("items.price cannot hold nan: a number must be finite")),
            ("random.randrange(1, 9)", "2 ** 63", 12, "a whole number has at most 64 bits"),
            (("random.randrange(1, 9)"), "{1}", 12, ("it must be None, Decimal, bool, bytes, date, datetime, float, int")),
            ("random.randrange(1, 9)", r"'\ud800'", 12, "a text must not hold a lone surrogate"),
        ],
    )  # fmt: skip
    def test_of_seed_py(self, folder: Path, old: str, new: str, line: int | None, words: str):
        assert SEED.count(old) == 1
        (folder / "seed.py").write_text(SEED.replace(old, new), "utf-8")
        error = refused(folder)
        assert words in error.message, error.message
        assert (error.file, error.line) == (str(folder / "seed.py"), line)

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (
                "def rows(universe, random):\n    return 5",
                "rows(1) gives int; it must yield pairs (table, row)",
            ),
            ("def rows(universe, random):\n    return []", "rows(1) yields no row"),
            (
                "async def rows(universe, random):\n    yield 5",
                "rows is async; write a plain function that yields",
            ),
        ],
    )
    def test_what_gives_no_rows_at_all(self, folder: Path, code: str, words: str):
        (folder / "seed.py").write_text(code, "utf-8")
        assert str(refused(folder)).startswith(f"{folder / 'seed.py'}:1: {words}")

    def test_one_in_a_module_beside_it_names_that_module(self, folder: Path):
        (folder / "people.py").write_text(
            PEOPLE + "\n\ndef pick(random):\n    return NAMES[7]\n", "utf-8"
        )
        changed = SEED.replace("import NAMES", "import NAMES, pick").replace(
            "random.choice(NAMES)", "pick(random)"
        )
        (folder / "seed.py").write_text(changed, "utf-8")
        error = refused(folder)
        assert error.message == "rows(1) breaks: IndexError: list index out of range"
        assert (error.file, error.line) == (str(folder / "people.py"), 5)

    def test_one_late_in_a_long_batch_is_found_in_it(self, folder: Path):
        lines = (
            "def rows(universe, random):",
            f"    for n in range({BATCH * 2 + 50}):",
            (
                f'        yield "makers", {{"maker_id": n, "name": "same" if n in (3, {BATCH + 7})'
                f" else str(n)}}"
            ),
        )
        (folder / "seed.py").write_text("\n".join(lines), "utf-8")
        words = (
            f"UNIQUE constraint failed: makers.name (row of makers: {{'maker_id': {BATCH + 7},"
            f" 'name': 'same'}})"
        )
        assert refused(folder).message == words

    def test_a_reference_that_is_checked_at_the_end(self, folder: Path):
        (folder / "schema.sql").write_text(
            SCHEMA.replace("(maker_id),", "(maker_id) DEFERRABLE INITIALLY DEFERRED,"), "utf-8"
        )
        (folder / "seed.py").write_text(SEED.replace("universe * 10 + n % 3", "5"), "utf-8")
        error = refused(folder)
        assert error.message == "the rows do not hold together: FOREIGN KEY constraint failed"
        assert error.file == str(folder / "seed.py")


class TestTemplates:
    def test_few_stay_open_and_none_that_is_in_use_is_closed(self, folder: Path):
        with Templates(load_world(folder), keep=2) as templates:
            with templates.use(1) as one:
                for universe in (2, 3, 4):
                    with templates.use(universe):
                        pass
                assert templates.universes == [1, 4]
                assert len(table(one, "SELECT * FROM items")) == 4
                with templates.use(1) as same, templates.use(5), templates.use(6):
                    assert same is one
                    assert templates.universes == [1, 5, 6]
            assert len(templates.universes) == 2
        assert templates.universes == []


def opened(url: str) -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine(
        url,
        connect_args=connect_args(parse_url(url)),
        isolation_level="AUTOCOMMIT",
        poolclass=sqlalchemy.NullPool,
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[sqlalchemy.Connection]:
    yield from opened(f"sqlite:///{tmp_path / 'some.sqlite'}")


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[sqlalchemy.Connection]:
    yield from opened(postgres_url)


@pytest.fixture
def mysql(mysql_url: str) -> Iterator[sqlalchemy.Connection]:
    yield from opened(mysql_url)


ENGINES = ("sqlite", "postgresql", "mysql")
FILE = "seed.py"
MAKERS = {
    "sqlite": "CREATE TABLE makers (maker_id INTEGER PRIMARY KEY AUTOINCREMENT, ",
    "postgresql": (
        "CREATE TABLE makers (maker_id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "
    ),
    "mysql": "CREATE TABLE makers (maker_id INTEGER PRIMARY KEY AUTO_INCREMENT, ",
}


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest) -> tuple[Dialect, sqlalchemy.Connection]:
    dialect: Dialect = request.param
    connection: sqlalchemy.Connection = request.getfixturevalue(
        {"postgresql": "postgres"}.get(dialect, dialect)
    )
    quote = "`" if dialect == "mysql" else '"'
    raw = {"sqlite": "BLOB", "postgresql": "BYTEA", "mysql": "BLOB"}[dialect]
    when = "DATETIME" if dialect != "postgresql" else "TIMESTAMP"
    run = connection.execution_options(no_parameters=True).exec_driver_sql
    run(MAKERS[dialect] + "name VARCHAR(40) NOT NULL UNIQUE)")
    run(
        "CREATE TABLE items (item_id INTEGER PRIMARY KEY, maker_id INTEGER NOT NULL, price"
        " NUMERIC(10,2),"
        f" due DATE, seen {when}, data {raw}, weight DOUBLE PRECISION, flag BOOLEAN, {quote}odd %s"
        f" name{quote} VARCHAR(20),"
        " CONSTRAINT made FOREIGN KEY (maker_id) REFERENCES makers (maker_id))"
    )
    return dialect, connection


ITEM = {
    "item_id": 7,
    "maker_id": 5,
    "price": Decimal("12.50"),
    "due": dt.date(2026, 3, 1),
    "seen": dt.datetime(2026, 3, 1, 9, 30),
    "data": b"\0\xff",
    "weight": 1.25,
    "flag": True,
    "odd %s name": "50% :off '\\\"",
}


def maker(key: int, name: str) -> SeedRow:
    return SeedRow("makers", {"maker_id": key, "name": name}, FILE, key)


class TestEveryEngine:
    def test_values_arrive_as_they_were_given(
        self, database: tuple[Dialect, sqlalchemy.Connection]
    ):
        dialect, connection = database
        rows = [maker(5, "Ada"), SeedRow("ITEMS", ITEM, FILE, 2), maker(6, "Bo"), maker(9, "Cy")]
        assert insert_rows(connection, rows, dialect) == {"makers": 3, "items": 1}
        kinds = {
            "due": sqlalchemy.Date(),
            "seen": sqlalchemy.DateTime(),
            "price": sqlalchemy.Numeric(10, 2),
        }
        (row,) = connection.execute(
            sqlalchemy.text("SELECT * FROM items").columns(**kinds)
        ).mappings()
        assert dict(row) == ITEM

    def test_generated_keys_go_on_behind_those_that_were_given(
        self, database: tuple[Dialect, sqlalchemy.Connection]
    ):
        dialect, connection = database
        insert_rows(connection, [maker(5, "Ada"), maker(9, "Bo")], dialect)
        connection.exec_driver_sql("INSERT INTO makers (name) VALUES ('Cy')")
        found = connection.exec_driver_sql("SELECT maker_id FROM makers WHERE name = 'Cy'").scalar()
        assert found == 10

    def test_a_refused_row_is_named_and_nothing_stays(
        self, database: tuple[Dialect, sqlalchemy.Connection]
    ):
        dialect, connection = database
        rows = [maker(n, "same" if n in (3, 30) else f"maker {n}") for n in range(1, 40)]
        with pytest.raises(WorldError) as caught:
            insert_rows(connection, rows, dialect)
        assert caught.value.line == 30
        assert "(row of makers: {'maker_id': 30, 'name': 'same'})" in caught.value.message
        assert "same" in caught.value.message or "UNIQUE" in caught.value.message
        assert connection.exec_driver_sql("SELECT count(*) FROM makers").scalar() == 0

    def test_foreign_keys_hold(self, database: tuple[Dialect, sqlalchemy.Connection]):
        dialect, connection = database
        with pytest.raises(
            WorldError, match=r"(?i)foreign key.*row of items: \{'item_id': 7"
        ) as caught:
            insert_rows(connection, [maker(4, "Ada"), SeedRow("items", ITEM, FILE, 17)], dialect)
        assert caught.value.line == 17

    def test_names_that_are_not_there_offer_the_nearest(
        self, database: tuple[Dialect, sqlalchemy.Connection]
    ):
        dialect, connection = database
        with pytest.raises(
            WorldError, match=r"seed\.py:8: no table is called 'maker'; did you mean makers\?"
        ):
            insert_rows(connection, [SeedRow("maker", {"name": "x"}, FILE, 8)], dialect)
        with pytest.raises(
            WorldError,
            match=r"seed\.py:8: no column in makers is called 'nam'; did you mean name\?",
        ):
            insert_rows(connection, [SeedRow("makers", {"nam": "x"}, FILE, 8)], dialect)


def test_a_callers_transaction_stays_the_callers(postgres_url: str):
    """Nothing is committed for a caller who has begun; what the database checks at the end is
    checked all the same.
    """
    engine = sqlalchemy.create_engine(postgres_url, poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE TABLE makers (maker_id INTEGER PRIMARY KEY, name TEXT)")
        insert_rows(connection, [maker(1, "Ada")], "postgresql")
        connection.rollback()
        assert connection.exec_driver_sql("SELECT to_regclass('makers')").scalar() is None
    engine.dispose()
