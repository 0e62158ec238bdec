"""Reflection of a loaded SQLite database into a :class:`~synth.ext.authoring.shape.Shape`."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import sqlalchemy
from sqlalchemy import Connection, Engine, Inspector
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.exc import SAWarning

from synth.ext.authoring.checks import ColumnRules, read_checks
from synth.ext.authoring.live_tables import live_tables
from synth.ext.authoring.mask import refuse_unknown
from synth.ext.authoring.names import Noun, labels, nouns, quoted, said, spelled
from synth.ext.authoring.roles import FEW, Roles, secrets_of, with_roles
from synth.ext.authoring.shape import DATES, Cell, ColumnShape, Kind, Link, Shape, TableShape
from synth.ext.authoring.snapshot import LiveTable
from synth.ext.authoring.toolset import names_shown

SEEN = 400
"""The values of a column that its shape keeps."""

CENT = 0.01
"""The least step from a bound that a number may not reach."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SEVERAL = re.compile(r"[\[{].*[\]})]|\(.*,.*[\])]", re.DOTALL)
"""Texts that hold several values: arrays, ranges, JSON. Nobody says them in a request."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?")


def reflect(
    engine: Engine,
    given: Roles | None = None,
    maintained: Mapping[tuple[str, str], str] | None = None,
) -> Shape:
    """The shape of the tables that a database has, with roles; ``given`` are set by its author,
    ``maintained`` columns (table, name) by the database that it was read from.
    """
    inspector = sqlalchemy.inspect(engine)
    with warnings.catch_warnings(), engine.connect() as db:
        warnings.simplefilter("ignore", SAWarning)  # the account names what is not reflected
        live = sorted(live_tables(engine), key=lambda table: table.name)
        known = nouns({table.name: [c.name for c in table.columns] for table in live})
        tables = {
            one.name: _kept(_table(one, known[one.name], inspector, db), maintained or {})
            for one in live
        }
    shown = {(table.name, column.name) for table in tables.values() for column in table.columns}
    _refuse_unknown(given or {}, shown)
    shape = Shape(
        {
            name: with_roles(
                replace(
                    table,
                    links=tuple(
                        replace(named, label=_without_noun(table, named.column))
                        for one in table.links
                        for named in [replace(one, noun=known[one.table].one)]
                        if {(one.table, there) for there in one.targets} <= shown
                    ),
                ),
                (given or {}).get(name),
            )
            for name, table in tables.items()
        }
    )
    return Shape({name: _among(shape, table) for name, table in shape.tables.items()})


def _refuse_unknown(given: Roles, shown: Collection[tuple[str, str]]) -> None:
    """Raise OperatorError for a role of a column that a table lacks; a file of roles may have more
    tables than were taken.
    """
    tables = {table for table, _ in shown}
    taken = given.keys() & tables or given.keys()
    for name in (f"{table}.{column}" for table in sorted(taken) for column in given[table]):
        refuse_unknown("--roles", name, [*map(".".join, shown)])


def _kept(table: TableShape, maintained: Mapping[tuple[str, str], str]) -> TableShape:
    """A table whose maintained columns nobody gives and changes, nor changes what sets them."""
    columns = (
        replace(one, computed=one.computed or how == "set", fixed=how == "read")
        for one in table.columns
        for how in [maintained.get((table.name, one.name))]
    )
    return replace(table, columns=tuple(columns))


def _among(shape: Shape, table: TableShape) -> TableShape:
    """A table as it is among others: numbers of rows that are there themselves, such as an
    ``order_count``, are not asked for, and amounts know where their currency is shown.
    """
    counted = {f"{child.noun.one}_count" for child, _ in shape.children(table.name)}
    own = {(one.name, ""): one.label for one in table.columns if one.role in {"text", "category"}}
    shown = own | names_shown(shape, table)
    several = [
        label
        for (name, _), label in shown.items()
        if _CURRENCY.search(label) and table.column(name).distinct > 1 > table.column(name).nulls
    ]
    columns = list[ColumnShape]()
    for one in table.columns:
        counts = one.label in counted and one.why != "roles.yaml"
        told = replace(one, role="audit", why="it counts rows that are there") if counts else one
        columns.append(
            replace(told, currency=several[0]) if several and told.role == "money" else told
        )
    return replace(table, columns=tuple(columns))


_CURRENCY = re.compile(r"(?:^|_)curr(?:ency)?(?:_(?:iso|code|name))*$")
"""Names of columns with the code of a currency."""


def _table(live: LiveTable, noun: Noun, inspector: Inspector, db: Connection) -> TableShape:
    name = live.name
    rules = read_checks(str(one["sqltext"]) for one in inspector.get_check_constraints(name))
    found = inspector.get_columns(name)
    values = {str(one["name"]): _values(name, str(one["name"]), db) for one in found}
    secret = secrets_of(live, values)
    hidden = {str(one["name"]): one for one in found if one["name"] in secret}
    shown = [column for column in found if column["name"] not in hidden]
    own = {str(column["name"]): str(column["type"]).upper() for column in shown}
    return TableShape(
        name=name,
        own_noun=noun,
        columns=_columns(live, noun, shown, rules, values, db),
        key=live.key if own.keys() >= set(live.key) else (),
        links=_links(live, [*own]),
        uniques=live.uniques,
        rows=int(db.exec_driver_sql(f"SELECT COUNT(*) FROM {quoted(name)}").scalar_one()),
        partials=live.partials,
        hidden=dict.fromkeys(hidden, "its name or a name in its rows says that it is a secret"),
        comment=live.comment,
        fillable=all(
            one.get("nullable", True) or one.get("default") is not None for one in hidden.values()
        ),
    )


def _without_noun(table: TableShape, column: str) -> str:
    """The label of a column without the noun of its row: the author of a post."""
    label = table.column(column).label
    return re.sub(rf"^{table.noun.one}_(?!(?:u?id|key|code|no|name)$)", "", label)


_TEXTS = frozenset({"comment", "message", "note", "post", "remark"})
"""Nouns of rows whose column of the same name holds their text; in others it is their name."""


def _columns(
    live: LiveTable,
    noun: Noun,
    shown: Sequence[ReflectedColumn],
    rules: Mapping[str, ColumnRules],
    values: Mapping[str, Sequence[Cell]],
    db: Connection,
) -> tuple[ColumnShape, ...]:
    """The columns that are shown, with their labels, comments and words."""
    names = [str(one["name"]) for one in shown]
    unique = {columns[0] for columns in [*live.uniques, live.key] if len(columns) == 1}
    known = {column.name: column for column in live.columns}
    comments = {name: known[name].comment if name in known else None for name in names}
    small = {name for name, one in known.items() if one.small}
    label, words = labels(names, live.bound), said(comments, noun.words, live.bound)
    like_noun = "text" if noun.words in _TEXTS else "name"
    found = [
        _column(live.name, one, rules, unique, values[name], db)
        for name, one in zip(names, shown, strict=True)
    ]
    return tuple(
        replace(
            one,
            label=label[name],
            comment=comments[name],
            said=like_noun if one.kind == "text" and words[name] == noun.words else words[name],
            small=name in small,
        )
        for name, one in zip(names, found, strict=True)
    )


def _links(live: LiveTable, shown: Sequence[str]) -> tuple[Link, ...]:
    """The foreign keys whose columns are shown; the last one where columns have several."""
    found = {columns: (to, there) for columns, to, there in live.links if {*columns} <= {*shown}}
    order = sorted(found, key=lambda columns: shown.index(columns[-1]), reverse=True)
    return tuple(Link(columns, *found[columns]) for columns in order)


def _column(
    table: str,
    raw: ReflectedColumn,
    rules: Mapping[str, ColumnRules],
    unique: set[str],
    values: Sequence[Cell],
    db: Connection,
) -> ColumnShape:
    name = str(raw["name"])
    rule = rules.get(name, ColumnRules())
    declared = str(raw["type"]).upper()
    kind = _kind(declared, values) if values else _named_kind(raw)
    where = f"FROM {quoted(table)}"
    distinct, given, total = db.exec_driver_sql(
        f"SELECT COUNT(DISTINCT {quoted(name)}), COUNT({quoted(name)}), COUNT(*) {where}"
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
        seen=tuple(values[:SEEN]),
        distinct=distinct,
        nulls=total - given,
        declared=_meant(declared, values),
        computed=bool(raw.get("computed")),
        default=str(raw.get("default") or "").strip("'"),
        scale=getattr(raw["type"], "scale", None),
        stamped=str(raw.get("default")).upper() in {"CURRENT_TIMESTAMP", "CURRENT_DATE"},
    )


def _values(table: str, column: str, db: Connection) -> list[Cell]:
    found = db.exec_driver_sql(
        f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)} WHERE {quoted(column)} IS NOT NULL"
    ).scalars()
    return [value for value in found if isinstance(value, str | int | float)]


_NAMED_DAY = re.compile(r"(?:^|_)date$|^date_(?:of_)?\w+(?:ed|birth)$")
_NAMED_MOMENT = re.compile(r"_at$|(?:^|_)(?:timestamp|date_?time)$")
"""Names of texts that are days and moments, as SQLite has no type for them."""


def _named_kind(raw: ReflectedColumn) -> Kind:
    """The kind of a column without values: what is declared, and of a text what its name says."""
    said = _declared_kind(str(raw["type"]).upper())
    label, room = spelled(str(raw["name"])), getattr(raw["type"], "length", None) or 255
    if said == "text" and room >= len("2026-03-02"):
        if _NAMED_DAY.search(label):
            return "date"
        if _NAMED_MOMENT.search(label) and room >= len("2026-03-02 10:00:00"):
            return "moment"
    return said


def _meant(declared: str, values: Sequence[Cell]) -> Kind:
    """The kind that is declared, if most values are of it; a time of the day is a moment, and a
    text may be anything.
    """
    said = _declared_kind(declared)
    if said == "text":
        return "moment" if "TIME" in declared else "other"
    numbers = sum(not isinstance(value, str) for value in values)
    if said in {"integer", "number"} and 2 * numbers < len(values):
        return "other"
    return said


def _kind(declared: str, values: Sequence[Cell]) -> Kind:
    """The kind of a column: what is declared, if all values are of it, or what the texts of a
    column of texts are; ``other``, with which nobody works, where the two differ.
    """
    said = _declared_kind(declared)
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        found = _text_kind(texts) if len(texts) == len(values) else "other"
        plain = said in {"text", "other", found} or (said, found) == ("boolean", "text")
        return found if plain or {said, found} <= DATES else "other"
    return _number_kind(said, declared, [value for value in values if not isinstance(value, str)])


def _number_kind(said: Kind, declared: str, numbers: Sequence[float]) -> Kind:
    if said in {"boolean", "date", "moment", "text"}:
        return "boolean" if said == "boolean" and set(numbers) <= {0, 1} else "other"
    whole = all(isinstance(value, int) for value in numbers) and "INT" in declared
    return "integer" if whole else "number"


def _text_kind(texts: Sequence[str]) -> Kind:
    if all(_DAY.fullmatch(text) and _is_moment(text) for text in texts):
        return "date"
    if all(_MOMENT.fullmatch(text) and _is_moment(text) for text in texts):
        return "moment"
    return "other" if all(_SEVERAL.fullmatch(text) for text in texts) else "text"


def _is_moment(text: str) -> bool:
    """True for a day that a calendar has: ``2024-02-30`` is none."""
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _declared_kind(declared: str) -> Kind:
    kinds: tuple[tuple[tuple[str, ...], Kind], ...] = (
        (("BOOL",), "boolean"),
        (("INT",), "integer"),
        (("REAL", "FLOA", "DOUB", "NUM", "DEC"), "number"),
        (("DATETIME", "TIMESTAMP"), "moment"),
        (("DATE",), "date"),
        (("TIME",), "text"),
        (("CHAR", "TEXT", "CLOB"), "text"),
    )
    for words, kind in kinds:
        if any(word in declared for word in words):
            return kind
    return "other"
