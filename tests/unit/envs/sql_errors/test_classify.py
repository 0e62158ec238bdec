"""Errors of databases as a model reads them: names, limits and advice. Their categories are tested
by the corpus.
"""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.sql_errors import nearest
from envs.sql_errors.classify import to_result
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


def test_a_refused_connection() -> None:
    engine = sa.create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(DBAPIError) as caught:
        engine.connect()
    result = to_result(caught.value, "postgresql")
    assert (result.category, result.message) == (
        Category.CONNECTION_ERROR,
        "the connection to the database failed",
    )
