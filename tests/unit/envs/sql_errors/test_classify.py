"""Errors of databases as a model reads them: real ones of SQLite, PostgreSQL and MariaDB, and none
made up.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sql_errors import ErrorClassifier, classify, nearest, to_result
from envs.types import Column, Limits, Pins, Table
from envs.types import ErrorCategory as Category

SCHEMA = [
    (
        "CREATE TABLE products (product_id INTEGER PRIMARY KEY, parent_id INTEGER, name"
        " VARCHAR(10) NOT NULL UNIQUE,"
        " price NUMERIC(8, 2) CHECK (price >= 0), FOREIGN KEY (parent_id) REFERENCES products"
        " (product_id))"
    ),
    (
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, amount"
        " INTEGER,"
        " FOREIGN KEY (product_id) REFERENCES products (product_id))"
    ),
    "INSERT INTO products VALUES (1, NULL, 'tea', 3), (2, 1, 'cup', 4)",
    "INSERT INTO orders VALUES (1, 1, 5)",
]
TABLES = {
    "products": Table(
        "products",
        (
            Column("product_id", "INTEGER", primary_key=True),
            Column("parent_id", "INTEGER", references=("products", "product_id")),
            Column("name", "VARCHAR(10)", nullable=False),
            Column("price", "NUMERIC"),
        ),
        ("product_id",),
    ),
    "orders": Table(
        "orders",
        (
            Column("order_id", "INTEGER", primary_key=True),
            Column("product_id", "INTEGER", references=("products", "product_id")),
            Column("amount", "INTEGER"),
        ),
        ("order_id",),
    ),
}

EVERYWHERE = [
    ("SELECT nme FROM products", Category.COLUMN_NOT_FOUND),
    ("SELECT p.nme FROM products p", Category.COLUMN_NOT_FOUND),
    ("INSERT INTO products (nme) VALUES ('x')", Category.COLUMN_NOT_FOUND),
    ("UPDATE products SET nme = 'x'", Category.COLUMN_NOT_FOUND),
    ("SELECT 1 FROM product", Category.TABLE_NOT_FOUND),
    ("SELECT 1 FROM nowhere.products", Category.TABLE_NOT_FOUND),
    ("DELETE FROM product", Category.TABLE_NOT_FOUND),
    ("SELECT o.amount FROM products p", Category.TABLE_NOT_FOUND),
    ("SELEC 1", Category.SYNTAX_ERROR),
    ("SELECT name FROM products WHERE", Category.SYNTAX_ERROR),
    ("SELECT name FROM products GROUP", Category.SYNTAX_ERROR),
    ("INSERT INTO products (product_id, name) VALUES (9)", Category.SYNTAX_ERROR),
    ("SELECT 1 UNION SELECT 1, 2", Category.SYNTAX_ERROR),
    ("SELECT nosuch(price) FROM products", Category.TYPE_MISMATCH),
    ("SELECT product_id FROM products JOIN orders ON 1 = 1", Category.JOIN_ERROR),
    ("SELECT 1 FROM products JOIN orders USING (parent_id)", Category.JOIN_ERROR),
    ("SELECT name FROM products WHERE sum(price) > 1", Category.AGGREGATION_ERROR),
    ("SELECT name FROM products WHERE row_number() OVER () = 1", Category.AGGREGATION_ERROR),
    ("INSERT INTO products (product_id, name) VALUES (1, 'x')", Category.UNIQUE_VIOLATION),
    ("INSERT INTO products (product_id, name) VALUES (9, 'tea')", Category.UNIQUE_VIOLATION),
    ("INSERT INTO orders VALUES (9, 99, 1)", Category.FK_VIOLATION),
    ("DELETE FROM products WHERE product_id = 1", Category.FK_VIOLATION),
    ("INSERT INTO products (product_id, name) VALUES (9, NULL)", Category.NOT_NULL_VIOLATION),
    ("UPDATE orders SET product_id = NULL", Category.NOT_NULL_VIOLATION),
    ("UPDATE products SET price = -1", Category.CHECK_VIOLATION),
]

SQLITE = [
    ("SELECT * FROM products NATURAL JOIN orders ON 1", Category.JOIN_ERROR),
    ("SELECT abs(1, 2)", Category.TYPE_MISMATCH),
    ("SELECT json('{')", Category.TYPE_MISMATCH),
    ("INSERT INTO products (product_id, name) VALUES ('x', 'y')", Category.TYPE_MISMATCH),
    ("SELECT 1 FROM products HAVING price > 1", Category.AGGREGATION_ERROR),
    ("SELECT sum(max(price)) FROM products", Category.AGGREGATION_ERROR),
    ("SELECT sum(price) OVER w FROM products", Category.AGGREGATION_ERROR),
    ("SELECT name FROM products WHERE name = 'tea", Category.SYNTAX_ERROR),
    ("SELECT (SELECT 1, 2)", Category.SYNTAX_ERROR),
    ("SELECT * FROM products ORDER BY 9", Category.SYNTAX_ERROR),
    ("WITH x AS (SELECT 1), x AS (SELECT 2) SELECT 1", Category.JOIN_ERROR),
    ("SELECT abs(-9223372036854775808)", Category.UNKNOWN),
    ("DROP TABLE products", Category.PERMISSION_DENIED),
    ("SELECT load_extension('x')", Category.PERMISSION_DENIED),
    ("SELECT hex(zeroblob(100000000))", Category.LIMIT_EXCEEDED),
]

POSTGRES = [
    ("SELECT 'x'::integer", Category.TYPE_MISMATCH),
    ("SELECT 99999999999::integer", Category.TYPE_MISMATCH),
    ("SELECT name + 1 FROM products", Category.TYPE_MISMATCH),
    ("SELECT 1::nosuchtype", Category.TYPE_MISMATCH),
    (
        "INSERT INTO products (product_id, name) VALUES (9, 'longer than ten')",
        Category.TYPE_MISMATCH,
    ),
    ("SELECT '2026-13-01'::date", Category.TYPE_MISMATCH),
    ("SELECT name, sum(price) FROM products", Category.AGGREGATION_ERROR),
    ("SELECT 1 FROM products p JOIN orders p ON true", Category.JOIN_ERROR),
    ("SELECT 1 FROM products JOIN orders ON 1", Category.JOIN_ERROR),
    ("SELECT row_number() FROM products", Category.AGGREGATION_ERROR),
    ("SELECT 1 / 0", Category.UNKNOWN),
    ("SET LOCAL statement_timeout = 20; SELECT pg_sleep(5)", Category.TIMEOUT),
    ("SET TRANSACTION READ ONLY; DELETE FROM orders", Category.PERMISSION_DENIED),
    ("SET LOCAL ROLE pg_monitor; SELECT * FROM orders", Category.PERMISSION_DENIED),
    ("SELECT 1 FROM no_schema.products", Category.TABLE_NOT_FOUND),
]

MARIADB = [
    ("SELECT 1 FROM products p JOIN orders p ON true", Category.JOIN_ERROR),
    (
        "INSERT INTO products (product_id, name) VALUES (9, 'longer than ten')",
        Category.TYPE_MISMATCH,
    ),
    ("INSERT INTO products (product_id, name) VALUES ('x', 'y')", Category.TYPE_MISMATCH),
    ("INSERT INTO products (product_id, name) VALUES (99999999999, 'y')", Category.TYPE_MISMATCH),
    ("INSERT INTO products (product_id) VALUES (9)", Category.NOT_NULL_VIOLATION),
    ("SELECT sum(sum(price)) FROM products", Category.AGGREGATION_ERROR),
    (
        "SET STATEMENT max_statement_time = 0.02 FOR SELECT sleep(5) FROM products WHERE sleep(5)",
        Category.TIMEOUT,
    ),
    ("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'", Category.UNKNOWN),
]


@pytest.fixture(scope="module")
def template() -> SqliteTemplate:
    return SqliteTemplate.build(lambda connection: [connection.execute(each) for each in SCHEMA])


def sqlite_error(
    template: SqliteTemplate, sql: str, limits: Limits | None = None, **values: object
) -> DBAPIError:
    with (
        template.open(Pins()) as sandbox,
        pytest.raises(DBAPIError) as caught,
        sandbox.transaction(limits or Limits()) as transaction,
    ):
        result = transaction.connection.execute(text(sql), values)
        if result.returns_rows:
            result.all()
    return caught.value


class TestSqlite:
    @pytest.mark.parametrize(("sql", "category"), EVERYWHERE + SQLITE)
    def test_category(self, template: SqliteTemplate, sql: str, category: Category) -> None:
        assert classify(sqlite_error(template, sql)) is category

    @pytest.mark.parametrize(("sql", "category"), EVERYWHERE)
    def test_the_standard_librarys_errors(self, sql: str, category: Category) -> None:
        """The classifier reads sqlite3's own errors, wrapped or not."""
        engine = sa.create_engine("sqlite://")
        with engine.connect() as db:
            db.exec_driver_sql("PRAGMA foreign_keys = ON")
            for each in SCHEMA:
                db.exec_driver_sql(each)
            with pytest.raises(DBAPIError) as caught:
                db.execute(text(sql))
            assert classify(caught.value) is category
        engine.dispose()
        with pytest.raises(sqlite3.Error) as raw:
            sqlite3.connect("/no/such/folder/db")
        assert classify(raw.value) is Category.CONNECTION_ERROR

    def test_result_names(self, template: SqliteTemplate) -> None:
        """``sql_state`` is SQLite's extended result code by name, ``error`` the class of PEP
        249.
        """
        for sql, state, kind in (
            (
                "INSERT INTO products (product_id, name) VALUES (9, 'tea')",
                "SQLITE_CONSTRAINT_UNIQUE",
                "IntegrityError",
            ),
            (
                "INSERT INTO products (product_id, name) VALUES (1, 'x')",
                "SQLITE_CONSTRAINT_PRIMARYKEY",
                "IntegrityError",
            ),
            ("SELECT 1 FROM nope", "SQLITE_ERROR", "OperationalError"),
            ("BEGIN", "SQLITE_AUTH", "DatabaseError"),
        ):
            result = to_result(sqlite_error(template, sql), "sqlite")
            assert (result.sql_state, result.error) == (state, kind)

    def test_limits(self, template: SqliteTemplate) -> None:
        rows = sqlite_error(template, "SELECT * FROM products", Limits(max_rows=1))
        assert to_result(rows, "sqlite").message == "the statement gives more than 1 rows"
        slow = (
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        )
        late = to_result(sqlite_error(template, slow, Limits(statement_timeout_ms=20)), "sqlite")
        assert (late.category, late.sql_state) == (Category.TIMEOUT, "SQLITE_INTERRUPT")

    def test_no_plumbing(self, template: SqliteTemplate) -> None:
        """No SQL, no parameters, no links; one line."""
        error = sqlite_error(template, "INSERT INTO orders VALUES (:secret, 99, 1)", secret=424242)
        shown = to_result(error, "sqlite", TABLES).content()
        assert "http" in str(error)
        for noise in ("http", "424242", "INSERT", "VALUES", "apsw", "\\n", "sqlalche"):
            assert noise not in shown


class TestAdvice:
    """The names that the schema really has, up to three."""

    @pytest.mark.parametrize(
        ("sql", "advice"),
        [
            (
                "SELECT id FROM products",
                "no column `id` in `products`; did you mean parent_id, product_id?",
            ),
            (
                "SELECT p.nme FROM products AS p",
                "no column `nme` in `products`; did you mean name?",
            ),
            (
                "SELECT p.zzz FROM products p",
                "no column `zzz` in `products`; it has product_id, parent_id, name, price",
            ),
            (
                "SELECT pricing FROM products JOIN orders ON 1",
                "no column `pricing`; did you mean products.price?",
            ),
            (
                "INSERT INTO orders (amout) VALUES (1)",
                "no column `amout` in `orders`; did you mean amount?",
            ),
            ("SELECT 1 FROM order_", "no table `order_`; did you mean orders?"),
            ("SELECT 1 FROM zebra", "no table `zebra`; there are orders, products"),
            (
                "SELECT o.amount FROM products",
                "unknown table or alias `o`; name it in FROM or JOIN",
            ),
            (
                "INSERT INTO orders VALUES (9, 99, 1)",
                "the row that it refers to must exist: check product_id (products.product_id)",
            ),
            ("UPDATE products SET name = NULL", "give a value for products.name"),
        ],
    )
    def test_advice(self, template: SqliteTemplate, sql: str, advice: str) -> None:
        assert to_result(sqlite_error(template, sql), "sqlite", TABLES).advice == advice

    def test_without_a_schema(self, template: SqliteTemplate) -> None:
        result = to_result(sqlite_error(template, "SELECT id FROM products"), "sqlite")
        assert result.advice == "look the column names up in the schema"

    def test_nearest(self) -> None:
        """Similar names first, at most three, none that has nothing in common."""
        assert nearest("id", ["product_id", "parent_id", "name", "order_id", "id_card"]) == [
            "id_card",
            "order_id",
            "parent_id",
        ]
        assert nearest("patients", ["patient", "doctor"]) == ["patient"]
        assert nearest("x", ["patient"]) == []


def filled(url: str) -> Iterator[sa.Connection]:
    """A connection to a scratch database that holds the schema."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as db:
        for each in SCHEMA:
            db.execute(text(each))
        db.commit()
        yield db


def server_error(db: sa.Connection, sql: str) -> DBAPIError:
    try:
        with pytest.raises(DBAPIError) as caught:
            for each in sql.split("; "):
                result = db.execute(text(each))
                if result.returns_rows:
                    result.all()
        return caught.value
    finally:
        db.rollback()


class TestPostgres:
    @pytest.fixture
    def db(self, postgres_url: str) -> Iterator[sa.Connection]:
        yield from filled(postgres_url)

    def test_categories(self, db: sa.Connection) -> None:
        """Every mistake has its category, a SQLSTATE, and words without the statement."""
        for sql, category in EVERYWHERE + POSTGRES:
            error = server_error(db, sql)
            assert ErrorClassifier().classify(error, "postgresql") is category, sql
            result = to_result(error, "postgresql", TABLES)
            assert re.fullmatch(r"[0-9A-Z]{5}", result.sql_state or ""), sql
            assert "LINE 1" not in (result.message or ""), sql

    def test_a_refused_connection(self) -> None:
        engine = sa.create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
        with pytest.raises(DBAPIError) as caught:
            engine.connect()
        result = to_result(caught.value, "postgresql")
        assert (result.category, result.message) == (
            Category.CONNECTION_ERROR,
            "the connection to the database failed",
        )


class TestMariadb:
    @pytest.fixture
    def db(self, mysql_url: str) -> Iterator[sa.Connection]:
        yield from filled(mysql_url)

    def test_categories(self, db: sa.Connection) -> None:
        """Every mistake has its category and a SQLSTATE; the database's own name stays inside."""
        for sql, category in EVERYWHERE + MARIADB:
            error = server_error(db, sql)
            assert classify(error, "mysql") is category, sql
            result = to_result(error, "mariadb", TABLES)
            assert re.fullmatch(r"[0-9A-Z]{5}", result.sql_state or ""), sql
            assert "synth_test" not in result.content(), sql
            assert "manual" not in result.content(), sql

    def test_a_refused_connection(self) -> None:
        engine = sa.create_engine("mysql+pymysql://nobody@127.0.0.1:1/none")
        with pytest.raises(DBAPIError) as caught:
            engine.connect()
        assert to_result(caught.value, "mysql").category == Category.CONNECTION_ERROR
