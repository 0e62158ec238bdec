"""What databases are drawn from: names, types with their values, and objects, by feature and engine.

A *feature* is an oddity of real databases, such as "names: no Latin letter". A drawn database has a
few of them; ``NOT_YET`` leaves some out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

NOT_YET: frozenset[str] = frozenset()
"""The features that synth cannot read yet; no database is drawn with one of them."""

SQLITE, POSTGRES, MARIADB = "sqlite", "postgresql", "mariadb"

TABLES = ("orders", "customer", "ward", "shipments", "invoice", "visit", "products", "staff")
COLUMNS = ("name", "title", "status", "city", "amount", "started_on", "remark", "rank", "email")

NAMES: Mapping[str, Sequence[str]] = {
    "names: no Latin letter": ("氏名", "Заказы", "日付", "😀", "_", "٣"),
    "names: accents": ("Länge", "prénom", "Größe", "İd", "e\u0301tat"),
    "names: digit in front": ("3pt_pct", "2024", "1st name", "0"),
    "names: quotes": ('say "hi"', "o'clock", "back`tick", "[x]", '"', "''"),
    "names: blanks": ("unit price", " lead", "a\tb", "a\nb", "two  blanks"),
    "names: punctuation": (
        *("% of total", "a:b", ":name", "{x}", "$cost", "a.b", "a-b", "a/b", "#no", "a\\b"),
        *("?", "--x", "a;b", "@v", "%(x)s", "{{ x }}", "${x}", "*", "a,b", "(x)"),
    ),
    "names: reserved words": (
        *("order", "select", "class", "import", "None", "self", "lambda"),
        *("group", "table", "type", "id", "user", "end", "now"),
        *("db", "rowid", "limit", "offset", "query", "key", "value"),
    ),
    "names: long": ("very_" * 12 + "long", "a" * 63, "x_" * 31 + "ä"),
    "names: alike": (
        (
            "queue",
            "queues",
            "Queue_",
            "unit_price",
            "unit price",
            "unit-price",
            "unitPrice",
            "Länge",
            "LÄNGE",
            "lange",
            "UnitPrice",
        )
    ),
    "names: secret-looking": ("password", "token", "pin", "api_key", "secret_id", "token_id"),
}
"""Names of tables and columns."""

TYPES: Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]] = {
    SQLITE: {
        "types: none": {"": ("1", "'a'", "2.5", "NULL")},
        "types: bytes": {"BLOB": ("x'00ff'", "x''", "'text'", "NULL")},
        "types: dates": {
            "DATE": ("'2024-02-29'", "'2023-01-31'", "NULL"),
            "DATETIME": ("'2024-02-29 10:00:00'", "'2024-02-29T10:00:00.123'", "NULL"),
            "TIMESTAMP": ("'2024-02-29 10:00:00'", "1709284800", "CURRENT_TIMESTAMP"),
            "TIME": ("'10:00'", "'10:00:00'", "NULL"),
        },
        "types: dates that are none": {
            "DATE": ("''", "'1/2/2024'", "'0000-00-00'", "1709284800", "'2024-02-30'", "'now'"),
            "DATETIME": ("''", "'n/a'", "0", "'0000-00-00 00:00:00'", "'2024-01-01 25:61:00'"),
            "TIME": ("'25:00'", "''", "7", "'noon'"),
        },
        "types: decimals": {
            "DECIMAL(10,2)": ("12.5", "'12,50'", "'n/a'", "''", "0.1", "NULL"),
            "NUMERIC": ("1e3", "'1e3'", "99999999999999999999", "-0.0"),
        },
        "types: booleans as text": {
            "BOOLEAN": ("'f'", "'t'", "'false'", "'no'", "2", "0", "1", "'TRUE'", "NULL"),
            "TEXT": ("'f'", "'t'"),
            "TINYINT(1)": ("0", "1", "'yes'"),
        },
        "types: JSON": {"JSON": ("""'{"a": [1, 2]}'""", "'{bad'", "'[]'", "'null'", "NULL")},
        "types: nobody knows": {
            "FOO BAR(3)": ("1", "'a'", "NULL"),
            "UNSIGNED BIG INT": ("18446744073709551615", "9223372036854775807", "0"),
            "geometry": ("x'01'", "'POINT(1 2)'"),
            "INTEGER": ("'abc'", "1.5", "''", "x'ff'"),
            "REAL": ("'abc'", "1", "''"),
        },
        "values: huge": {
            "INTEGER": ("9223372036854775807", "-9223372036854775808", "2512292042121000001"),
            "REAL": ("1e400", "-1e400", "1e-320", "1e308", "-0.0"),
            "BIGINT": ("9007199254740993", "1000000000000000001"),
        },
        "values: not UTF-8": {
            "TEXT": (
                "CAST(x'ff41' AS TEXT)",
                "CAST(x'eda080' AS TEXT)",
                "CAST(x'4100 42' AS TEXT)",
            ),
            "VARCHAR(9)": ("CAST(x'c328' AS TEXT)", "'ok'", "CAST(x'c4' AS TEXT)"),
        },
    },
    POSTGRES: {
        "types: bytes": {"bytea": ("'\\x00ff'", "NULL"), "bit(3)": ("B'101'",)},
        "types: dates": {
            "date": ("'2024-02-29'", "'infinity'", "'0044-03-15 BC'", "'9999-12-31'"),
            "timestamptz": ("'2024-02-29 10:00+02'", "'-infinity'", "now()"),
            "timestamp": ("'2024-02-29 10:00:00.123'", "'infinity'"),
            "time": ("'24:00'", "'10:00'"),
            "interval": ("'1 mon -3 days'", "'infinity'::text::interval", "'P1Y2M'"),
        },
        "types: numbers": {
            "numeric": ("'NaN'", "'Infinity'", "1e400", "12.50", "0.1"),
            "double precision": ("'NaN'", "'-Infinity'", "1e308", "'-0'"),
            "money": ("12.5", "'$1,000.00'"),
            "smallint": ("-32768", "32767"),
        },
        "types: lists": {
            "text[]": ("'{a,NULL,\"b c\"}'", "'{}'", "'{{a},{b}}'"),
            "int4range": ("'[1,5)'", "'empty'"),
            "jsonb": ("""'{"a": [1, 1e400]}'""", "'null'", "'\"x\"'"),
            "xml": ("'<a/>'",),
            "point": ("'(1,2)'",),
        },
        "types: special": {
            "mood": ("'sad'", "'so so'"),
            "positive": ("1", "7"),
            "uuid": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",),
            "inet": ("'10.0.0.1/8'", "'::1'"),
            "macaddr": ("'08:00:2b:01:02:03'",),
            "tsvector": ("'a fat cat'",),
            "oid": ("4294967295",),
            "name": ("'x'",),
            "boolean": ("true", "'no'", "NULL"),
            "char(9)": ("'ab'", "''"),
        },
        "values: huge": {"bigint": ("9223372036854775807", "2512292042121000001")},
    },
    MARIADB: {
        "types: bytes": {"BLOB": ("x'00ff'", "''"), "BIT(3)": ("b'101'",), "BINARY(4)": ("'ab'",)},
        "types: dates": {
            "DATE": ("'2024-02-29'", "'0000-00-00'", "'2024-00-00'"),
            "DATETIME(3)": ("'2024-02-29 10:00:00.123'", "'0000-00-00 00:00:00'"),
            "TIMESTAMP NULL": ("'2024-02-29 10:00:00'", "NULL", "'0000-00-00 00:00:00'"),
            "TIME": ("'-838:59:59'", "'25:00:00'", "'10:00'"),
            "YEAR": ("2024", "0"),
        },
        "types: numbers": {
            "BIGINT UNSIGNED": ("18446744073709551615", "0"),
            "DECIMAL(65,30)": ("1.5", "99999999999999999999999999999999999.123"),
            "DOUBLE": ("1e308", "-0.0"),
            "INT(4) ZEROFILL": ("7", "42"),
            "TINYINT(1)": ("0", "1", "2", "NULL"),
        },
        "types: special": {
            "ENUM('a','b c','')": ("'a'", "'b c'", "''"),
            "SET('x','y')": ("'x,y'", "''"),
            "JSON": ("""'{"a": 1}'""", "NULL"),
            "GEOMETRY": ("ST_GeomFromText('POINT(1 2)')",),
            "INET6": ("'::1'",),
            "UUID": ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",),
            "VARCHAR(20) COLLATE utf8mb4_bin": ("'a'", "'A'", "'a '"),
        },
    },
}
"""Columns' types, each with values as SQL, by engine and feature."""

TEXTS: Mapping[str, Sequence[str]] = {
    "values: notation": (
        (
            "{name}",
            "${x}",
            "$1",
            "%s",
            "%(a)s",
            "{{ x }}",
            "{% if %}",
            "\\n",
            "\\",
            "a'b",
            'a"b',
            "; DROP TABLE x; --",
            "<|im_end|>",
            "</s>",
            "&amp;",
            "NULL",
            "null",
            "None",
            "[1, 2]",
            "- a",
            ": b",
            "# c",
            "!x",
            "*y",
            "yes",
            "true",
            "1e3",
            "0x1f",
            "007",
            "2024-01-01",
        )
    ),
    "values: blanks": ("", " ", "  x  ", "a\nb", "\t", "a\r\nb", "\u00a0", "\u200b"),
    "values: other letters": ("Zoë", "氏名", "😀", "Ω", "İ", "ß", "e\u0301", "\u202eabc", "ﬁ"),
    "values: long": ("x" * 3000, "word " * 400),
    "values: control": ("a\x07b", "\x1b[31m", "\x7f", "a\u2028b", "\ufeff", "\ufffe"),
}
"""Values of text columns."""

KEYS = (
    "keys: none",
    "keys: composite",
    "keys: text",
    "keys: huge",
    "keys: self-referring",
    "keys: circular",
    "keys: a column twice",
    "keys: date",
    "keys: orphans",
)
SQLITE_KEYS = ("keys: bytes", "keys: NULL", "keys: to nothing", "keys: without rowid", "keys: real")
SIZES = ("rows: none", "rows: many")
OBJECTS = (
    "objects: view",
    "objects: trigger",
    "objects: expression index",
    "objects: partial index",
    "objects: generated column",
    "objects: check",
    "objects: unique",
    "objects: defaults",
)
SQLITE_OBJECTS = ("objects: full text", "objects: sequence", "objects: strict", "objects: rtree")


SERVER_OBJECTS = ("objects: another schema", "objects: sequence", "objects: unique")
POSTGRES_OBJECTS = ("objects: partitions", "objects: inheritance", "objects: materialized view")


def features(engine: str) -> list[str]:
    """The features that databases of the engine are drawn with."""
    own = (*SQLITE_KEYS, *SQLITE_OBJECTS) if engine == SQLITE else SERVER_OBJECTS
    own = (*own, *POSTGRES_OBJECTS) if engine == POSTGRES else own
    found = [*NAMES, *TYPES[engine], *TEXTS, *KEYS, *SIZES, *OBJECTS, *own]
    return [one for one in found if one not in NOT_YET]
