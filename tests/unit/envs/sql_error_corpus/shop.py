"""The schema that the corpus is written against, for each engine."""

from __future__ import annotations

_TABLES = [
    (
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL,"
        " email VARCHAR(40) UNIQUE, city VARCHAR(20), born DATE)"
    ),
    (
        "CREATE TABLE products (product_id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE,"
        " price NUMERIC(8, 2) CHECK (price >= 0), stock INTEGER NOT NULL CHECK (stock >= 0),"
        " parent_id INTEGER,"
        " FOREIGN KEY (parent_id) REFERENCES products (product_id))"
    ),
    (
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL,"
        " ordered_at {timestamp},"
        " status VARCHAR(10) CHECK (status = 'new' OR status = 'paid'),"
        " FOREIGN KEY (customer_id) REFERENCES customers (customer_id))"
    ),
    (
        "CREATE TABLE order_items (order_id INTEGER NOT NULL, product_id INTEGER NOT NULL,"
        " quantity INTEGER NOT NULL CHECK (quantity > 0), PRIMARY KEY (order_id, product_id),"
        " FOREIGN KEY (order_id) REFERENCES orders (order_id),"
        " FOREIGN KEY (product_id) REFERENCES products (product_id))"
    ),
    "CREATE TABLE ledger (entry_id INTEGER PRIMARY KEY, amount INTEGER)",
    "CREATE INDEX by_city ON customers (city)",
    (
        "CREATE VIEW open_orders AS SELECT customer_id, count(*) AS"
        " order_count FROM orders GROUP BY"
        " customer_id"
    ),
]
_ROWS = [
    (
        "INSERT INTO customers VALUES (1, 'Ann', 'ann@example.org', 'Oslo', '1990-01-01'),"
        " (2, 'Bo', 'bo@example.org', 'Oslo', '1991-01-01')"
    ),
    "INSERT INTO products VALUES (1, 'tea', 3, 10, NULL), (2, 'cup', 4, 20, 1)",
    (
        "INSERT INTO orders VALUES (1, 1, '2026-01-01 10:00:00', 'new'), (2, 2, '2026-01-02"
        " 10:00:00', 'paid'),"
        " (3, 2, '2026-01-03 10:00:00', 'paid')"
    ),
    "INSERT INTO order_items VALUES (1, 1, 2), (1, 2, 1), (2, 2, 5)",
]
_OWN = {
    "sqlite": [
        "CREATE TABLE strict_numbers (n INTEGER) STRICT",
        (
            "CREATE TRIGGER no_negative BEFORE INSERT ON ledger WHEN NEW.amount < 0"
            " BEGIN SELECT raise(ABORT, 'no such column in this table'); END"
        ),
        "PRAGMA foreign_keys = ON",
    ],
    "postgresql": [
        "CREATE SEQUENCE numbers",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        (
            "CREATE FUNCTION no_negative() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN IF NEW.amount < 0 THEN RAISE EXCEPTION ''permission denied for table"
            " ledger''; END IF;"
            " RETURN NEW; END'"
        ),
        (
            "CREATE TRIGGER no_negative BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION"
            " no_negative()"
        ),
    ],
    "mysql": [
        (
            "CREATE TRIGGER no_negative BEFORE INSERT ON ledger FOR EACH ROW IF NEW.amount < 0 THEN"
            " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'Duplicate entry'; END IF"
        )
    ],
}


def script(engine: str) -> list[str]:
    """The statements that build the shop."""
    timestamp = "DATETIME" if engine == "mysql" else "TIMESTAMP"
    return [each.replace("{timestamp}", timestamp) for each in _TABLES] + _ROWS + _OWN[engine]
