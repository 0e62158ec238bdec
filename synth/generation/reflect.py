"""Reflection of a loaded SQLite database into a :class:`~synth.generation.shape.Shape`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import sqlalchemy
from sqlalchemy import Connection, Engine, Inspector
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedForeignKeyConstraint

from synth.generation.checks import CheckRules, ColumnRules, read_checks
from synth.generation.names import quoted, snake
from synth.generation.roles import FEW, with_roles
from synth.generation.shape import Cell, ColumnShape, Kind, Link, Shape, TableShape

SEEN = 400
"""The values of a column that are looked at."""

CENT = 0.01
"""The least step from a bound that a number may not reach."""

SECRET = re.compile(r"(?:^|_)(?:password|passwd|pwd|secret|token|salt|pin|api_key)(?:_|$)")
"""Columns that no tool shows."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SEVERAL = re.compile(r"[\[{].*[\]})]|\(.*,.*[\])]", re.DOTALL)
"""Texts that hold several values: arrays, ranges, JSON. Nobody says them in a request."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?")


def reflect(engine: Engine) -> Shape:
    """The shape of the tables that a database has, with roles."""
    inspector = sqlalchemy.inspect(engine)
    with engine.connect() as db:
        names = sorted(inspector.get_table_names())
        tables = {name: _table(name, inspector, db) for name in names}
    kept = {
        name: replace(table, links=tuple(link for link in table.links if link.table in tables))
        for name, table in tables.items()
    }
    return Shape({name: with_roles(table) for name, table in kept.items()})


def _table(name: str, inspector: Inspector, db: Connection) -> TableShape:
    key = tuple(inspector.get_pk_constraint(name).get("constrained_columns") or ())
    rules = read_checks([str(check["sqltext"]) for check in inspector.get_check_constraints(name)])
    uniques = _uniques(name, inspector)
    raw = [c for c in inspector.get_columns(name) if not SECRET.search(snake(c["name"]))]
    single = {columns[0] for columns in [*uniques, key] if len(columns) == 1}
    count = int(db.execute(sqlalchemy.text(f"SELECT COUNT(*) FROM {quoted(name)}")).scalar_one())
    whole = [column for column in raw if column["name"] in key]
    return TableShape(
        name=name,
        columns=tuple(_column(name, column, rules, single, db) for column in raw),
        key=key,
        links=_links(name, inspector),
        uniques=uniques,
        rows=count,
        partials=_partials(name, inspector),
        joint=frozenset(
            str(column)
            for one in inspector.get_foreign_keys(name)
            if len(one["constrained_columns"]) > 1
            for column in one["constrained_columns"]
        ),
        generated_key=len(key) == 1 and str(whole[0]["type"]).upper() == "INTEGER",
    )


def _uniques(name: str, inspector: Inspector) -> tuple[tuple[str, ...], ...]:
    """The columns of each unique constraint and each unique index of whole columns."""
    constraints = [unique["column_names"] for unique in inspector.get_unique_constraints(name)]
    constraints += [
        [str(column) for column in index["column_names"]]
        for index in inspector.get_indexes(name)
        if index.get("unique") and not index.get("dialect_options")
    ]
    return tuple(dict.fromkeys(tuple(columns) for columns in constraints))


def _partials(name: str, inspector: Inspector) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The unique indexes of some rows: their columns and the condition of these rows."""
    found = [
        (tuple(map(str, index["column_names"])), where)
        for index in inspector.get_indexes(name)
        if index.get("unique")
        and (where := str(index.get("dialect_options", {}).get("sqlite_where", "")))
    ]
    return tuple(sorted(found))


def _links(name: str, inspector: Inspector) -> tuple[Link, ...]:
    """The foreign keys of one column; the last one where a column has several."""
    found = {
        str(key["constrained_columns"][0]): Link(
            str(key["constrained_columns"][0]), str(key["referred_table"]), _target(key, inspector)
        )
        for key in inspector.get_foreign_keys(name)
        if len(key["constrained_columns"]) == 1
    }
    return tuple(found.values())


def _target(foreign_key: ReflectedForeignKeyConstraint, inspector: Inspector) -> str:
    referred = foreign_key["referred_columns"]
    if referred:
        return str(referred[0])
    key = inspector.get_pk_constraint(foreign_key["referred_table"])
    return str((key.get("constrained_columns") or ["rowid"])[0])


def _column(
    table: str, raw: ReflectedColumn, rules: CheckRules, unique: set[str], db: Connection
) -> ColumnShape:
    name = str(raw["name"])
    rule = rules.columns.get(name, ColumnRules())
    values = _values(table, name, db)
    kind = _kind(str(raw["type"]).upper(), values)
    where = f"FROM {quoted(table)}"
    distinct, given, total = db.execute(
        sqlalchemy.text(
            f"SELECT COUNT(DISTINCT {quoted(name)}), COUNT({quoted(name)}), COUNT(*) {where}"
        )
    ).one()
    choices = rule.choices
    if not choices and kind == "text" and 2 <= distinct <= FEW and given >= 3 * distinct:
        choices = tuple(sorted({str(value) for value in values}))
    loose = kind != "integer"
    return ColumnShape(
        name=name,
        kind=kind,
        nullable=bool(raw.get("nullable", True)),
        has_default=raw.get("default") is not None or bool(raw.get("computed")),
        unique=name in unique,
        choices=choices,
        checked=bool(rule.choices),
        low=rule.above + CENT if loose and rule.above is not None else rule.low,
        high=rule.below - CENT if loose and rule.below is not None else rule.high,
        comment=raw.get("comment"),
        seen=tuple(values),
        distinct=distinct,
        nulls=total - given,
        computed=bool(raw.get("computed")),
    )


def _values(table: str, column: str, db: Connection) -> list[Cell]:
    found = db.execute(
        sqlalchemy.text(
            f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)}"
            f" WHERE {quoted(column)} IS NOT NULL LIMIT {SEEN}"
        )
    ).scalars()
    return [value for value in found if isinstance(value, str | int | float)]


def _kind(declared: str, values: Sequence[Cell]) -> Kind:
    """The kind of a column; content decides where SQLite's declared type leaves it open."""
    texts = [value for value in values if isinstance(value, str)]
    if texts and len(texts) == len(values):
        return _text_kind(texts)
    if "BOOL" in declared:
        return "boolean"
    if values and not texts:
        whole = all(isinstance(value, int) for value in values) and "INT" in declared
        return "integer" if whole else "number"
    return _declared_kind(declared)


def _text_kind(texts: Sequence[str]) -> Kind:
    kinds: tuple[tuple[re.Pattern[str], Kind], ...] = (
        (_DAY, "date"),
        (_MOMENT, "moment"),
        (_SEVERAL, "other"),
    )
    fitting: Iterator[Kind] = (
        kind for form, kind in kinds if all(form.fullmatch(text) for text in texts)
    )
    for kind in fitting:
        return kind
    return "text"


def _declared_kind(declared: str) -> Kind:
    kinds: tuple[tuple[tuple[str, ...], Kind], ...] = (
        (("BOOL",), "boolean"),
        (("INT",), "integer"),
        (("REAL", "FLOA", "DOUB", "NUM", "DEC"), "number"),
        (("TIME",), "moment"),
        (("DATE",), "date"),
        (("CHAR", "TEXT", "CLOB"), "text"),
    )
    for words, kind in kinds:
        if any(word in declared for word in words):
            return kind
    return "other"
