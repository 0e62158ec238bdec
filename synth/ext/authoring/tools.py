"""The Python of a world's tools, written from the shape of its tables."""

from __future__ import annotations

import json
from collections.abc import Sequence

from synth.ext.authoring.names import a, quoted
from synth.ext.authoring.shape import ColumnShape, Shape, TableShape
from synth.ext.authoring.toolset import TableTools, names_shown

HEAD = '''"""Tools of this world, written by `synth new` from its schema; yours to change."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from sqlalchemy import Connection

from envs import ToolError, tool
from envs.tools import records
from envs.tools.records import Row

DAY = {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
Day = Annotated[str, DAY]
Limit = Annotated[int, {"minimum": 1, "maximum": 200}]
Offset = Annotated[int, {"minimum": 0}]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _own(db: Connection, sql: str) -> str:
    """The SQL as the engine quotes names; values are bound, so that quotes stand for names only."""
    mark = "`" if db.dialect.name in {"mysql", "mariadb"} else '"'

    def name(found: re.Match[str]) -> str:
        bare = found[0][1:-1].replace('""', '"')
        return mark + bare.replace(mark, 2 * mark).replace(":", r"\\:") + mark

    return re.sub(r'"(?:[^"]|"")*"', name, sql)


def _rows(db: Connection, sql: str, **binds: object) -> list[Row]:
    found = records.rows(db, _own(db, sql), **binds)
    return [{name: int(value) if isinstance(value, bool) else value for name, value in row.items()}
            for row in found]


def _first(db: Connection, sql: str, **binds: object) -> Row | None:
    return next(iter(_rows(db, sql, **binds)), None)


def _one(db: Connection, sql: str, missing: str, **binds: object) -> Row:
    found = _first(db, sql, **binds)
    if found is None:
        raise ToolError(missing, category="not_found")
    return found


def _page(
    db: Connection,
    name: str,
    select: str,
    source: str,
    filters: dict[str, object],
    totals: str,
    stable: str,
    order: str | None,
    descending: bool,
    limit: int,
    offset: int,
) -> Row:
    given = {column: value for column, value in filters.items() if value is not None}
    binds = {f"filter{index}": value for index, value in enumerate(given.values())}
    conditions = [f"{column} = :filter{index}" for index, column in enumerate(given)]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    counted = _first(db, f"SELECT COUNT(*) AS count{totals} {source} {where}", **binds) or {}
    sort = f"{order} {'DESC' if descending else 'ASC'}, {stable}" if order else stable
    page = f"{select} {source} {where} ORDER BY {sort} LIMIT {limit} OFFSET {offset}"
    summary = {key: round(value, 2) if isinstance(value, float) else value
               for key, value in counted.items() if value is not None}
    return {**summary, name: _rows(db, page, **binds)}


def _need(db: Connection, sql: str, missing: str, **binds: object) -> None:
    if None not in binds.values() and _first(db, sql, **binds) is None:
        raise ToolError(missing, category="not_found")


def _free(db: Connection, sql: str, taken: str, **binds: object) -> None:
    if _first(db, sql, **binds) is not None:
        raise ToolError(taken, category="conflict")


def _next(db: Connection, table: str, column: str) -> int:
    key, name = _quoted(column), _quoted(table)
    found = _first(db, f"SELECT COALESCE(MAX({key}), 0) + 1 AS made FROM {name}")
    return int(found["made"]) if found else 1


def _insert(db: Connection, table: str, values: Row, key: dict[str, str]) -> Row:
    given = {column: value for column, value in values.items() if value is not None}
    names = ", ".join(_quoted(column) for column in given)
    marks = ", ".join(f":value{index}" for index in range(len(given)))
    sql = f"INSERT INTO {_quoted(table)} ({names}) VALUES ({marks})"
    records.change(
        db,
        _own(db, sql),
        **{f"value{index}": value for index, value in enumerate(given.values())},
    )
    return {label: values[column] for label, column in key.items()}


def _change(db: Connection, table: str, key: Row, values: Row, missing: str) -> Row:
    given = {column: value for column, value in values.items() if value is not None}
    if not given:
        raise ToolError("Say what to change.", category="invalid")
    name = _quoted(table)
    where = " AND ".join(f"{_quoted(one)} = :key{index}" for index, one in enumerate(key))
    binds = {f"key{index}": value for index, value in enumerate(key.values())}
    _one(db, f"SELECT 1 AS there FROM {name} WHERE {where}", missing, **binds)
    parts = ", ".join(f"{_quoted(one)} = :value{index}" for index, one in enumerate(given))
    new = {f"value{index}": value for index, value in enumerate(given.values())}
    sql = f"UPDATE {name} SET {parts} WHERE {where}"
    records.change(db, _own(db, sql), **binds, **new)
    return {"changed": sorted(given)}
'''


_TYPES = {
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "text": "str",
    "date": "Day",
    "moment": "str",
    "other": "str",
}


def write_tools(shape: Shape, tools: dict[str, TableTools]) -> str:
    """The text of executors.py."""
    parts = [HEAD]
    for name, one in tools.items():
        table = shape.tables[name]
        parts += [f"\n# {table.noun.plural_words.capitalize()} {'-' * 60}"[:100]]
        parts += _of_table(shape, table, one)
    return "\n".join(parts).rstrip() + "\n"


def _of_table(shape: Shape, table: TableShape, tools: TableTools) -> list[str]:
    made = [
        tools.find and _find(table, tools.find),
        tools.get and _get(shape, table, tools.get),
        tools.list_ and _list(shape, table, tools),
        tools.create and _create(shape, table, tools),
        tools.update and _update(shape, table, tools),
    ]
    return list(filter(None, made))


def _annotation(column: ColumnShape, *, optional: bool = False) -> str:
    """The annotation of a column's parameter."""
    if column.is_choice:
        base = f"Literal[{', '.join(_text(str(choice)) for choice in column.choices)}]"
    else:
        base = _TYPES[column.kind]
    if optional and base == "Day":  # Python 3.11 takes no Annotated with a dict into a union
        return "Annotated[str | None, DAY] = None"
    return f"{base} | None = None" if optional else base


def _text(value: str) -> str:
    return f'"{_escaped(value)}"'


def _function(
    name: str, about: str, parameters: Sequence[tuple[str, str, str]], body: str, mark: str
) -> str:
    """A tool: its parameters are (name, annotation, description)."""
    signature = "".join(f"    {name}: {kind},\n" for name, kind, _ in parameters)
    described = "".join(f"        {name}: {_prose(text)}\n" for name, _, text in parameters)
    args = f"\n\n    Args:\n{described}    " if described else ""
    return (
        f"\n@tool{mark}\ndef {name}(\n    db: Connection,\n{signature}) -> Row:\n"
        f'    """{_prose(about)}{args}"""\n{body}\n'
    )


def _prose(text: str) -> str:
    """A text on one line of a docstring."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")


def _described(column: ColumnShape, noun: str) -> str:
    if column.comment:
        return column.comment.strip().rstrip(".") + "."
    if column.role == "key":
        return f"The key of the {noun}."
    return f"The {noun}'s {column.words}."


def _joined(shape: Shape, table: TableShape) -> tuple[list[str], list[str]]:
    """The cells that a row shows, its own and the names of what it refers to, and the joins."""
    chosen = [f"t.{quoted(one.name)} AS {quoted(one.label)}" for one in table.columns]
    joins = list[str]()
    shown = names_shown(shape, table)
    for number, link in enumerate(table.links, 1):
        names = [(name, label) for (own, name), label in shown.items() if own == link.column]
        chosen += [f"p{number}.{quoted(name)} AS {quoted(label)}" for name, label in names]
        if names:
            joins.append(
                f"LEFT JOIN {quoted(link.table)} p{number} ON {link.on('t', f'p{number}')}"
            )
    return chosen, joins


def _sql(lines: Sequence[str], indent: int = 8) -> str:
    """SQL as a text of several lines."""
    blank = " " * indent
    if any('""' in line or "\\" in line for line in lines):
        return repr(" ".join(lines))
    return '"""\n' + "".join(f"{blank}{line}\n" for line in lines) + f'{blank}"""'


def _wrapped(items: Sequence[str], head: str) -> list[str]:
    lines, line = list[str](), head
    for index, item in enumerate(items):
        part = item + ("," if index < len(items) - 1 else "")
        if len(line) + len(part) > 84:
            lines.append(line)
            line = "   "
        line += f" {part}"
    return [*lines, line]


def _key_parameters(table: TableShape) -> list[tuple[str, str, str]]:
    return [
        (
            table.parameter(column),
            _annotation(table.column(column)),
            _described(table.column(column), table.noun.words),
        )
        for column in table.key
    ]


def _find(table: TableShape, name: str) -> str:
    noun = table.noun
    *may, last = map(table.column, table.handle)
    chosen = [f"t.{quoted(one)} AS {quoted(table.column(one).label)}" for one in table.found]
    parameters = [
        (
            column.parameter,
            _annotation(column) if column is last else "str | None = None",
            _described(column, noun.words),
        )
        for column in (last, *may)
    ]
    order = ", ".join(f"t.{quoted(column)}" for column in table.key)
    lines = [*_wrapped(chosen, "SELECT"), f"FROM {quoted(table.name)} t", f"WHERE {_same(last)}"]
    narrowed = "".join(
        f"    if {c.parameter} is not None:\n        sql += {' AND ' + _same(c)!r}\n" for c in may
    )
    binds = "".join(f", {one}={one}" for one, _, _ in parameters)
    body = (
        f"    sql = {_sql(lines, 4)}\n{narrowed}"
        f'    found = _rows(db, sql + " ORDER BY {_escaped(order)} LIMIT 20"{binds})\n'
        f'    return {{"{noun.many}": found}}'
    )
    by = " and ".join("name" if noun.words.endswith(c.words) else c.words for c in (*may, last))
    about = f"Find {noun.plural_words} by their {by}, in whole; several may have the same."
    return _function(name, about, parameters, body, "(read_only=True)")


def _same(column: ColumnShape) -> str:
    return f"LOWER(t.{quoted(column.name)}) = LOWER(:{column.parameter})"


def _escaped(text: str) -> str:
    """A text for use inside double quotes."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _get(shape: Shape, table: TableShape, name: str) -> str:
    noun = table.noun
    chosen, joins = _joined(shape, table)
    where = " AND ".join(f"t.{quoted(column)} = :{table.parameter(column)}" for column in table.key)
    lines = [*_wrapped(chosen, "SELECT"), f"FROM {quoted(table.name)} t", *joins, f"WHERE {where}"]
    parameters = _key_parameters(table)
    binds = "".join(f"        {one}={one},\n" for one, _, _ in parameters)
    body = (
        f"    return _one(\n        db,\n        {_sql(lines)},\n"
        f'        "Unknown {noun.words}.",\n{binds}    )'
    )
    about = f"Get {a(noun.words)} with all that is known of it"
    about += ", and the names of what it belongs to." if joins else "."
    if table.comment:
        about += f" {table.comment.strip().rstrip('.')}."
    return _function(name, about, parameters, body, "(read_only=True)")


def _list(shape: Shape, table: TableShape, tools: TableTools) -> str:
    noun = table.noun
    chosen, joins = _joined(shape, table)
    columns = [table.column(column) for column in tools.filters]
    parameters = [(c.parameter, _annotation(c, optional=True), f"The {c.words}.") for c in columns]
    order = [table.column(name) for name in tools.sorts]
    if order:
        words = ", ".join(_text(column.label) for column in order)
        parameters += [
            ("order_by", f"Literal[{words}] | None = None", "The column to sort by."),
            ("descending", "bool = False", "True for the highest first."),
        ]
    parameters += [
        ("limit", "Limit = 50", "The most rows to show; `count` counts all."),
        ("offset", "Offset = 0", "Rows to leave out first."),
    ]
    key = table.key or tuple(column.name for column in table.columns)
    stable = ", ".join(f"t.{quoted(column)}" for column in key)
    totals = "".join(
        f", SUM(t.{quoted(name)}) AS {quoted('total_' + table.column(name).label)}"
        for name in tools.totals
    )
    filters = "".join(f"            {'t.' + quoted(c.name)!r}: {c.parameter},\n" for c in columns)
    filters = f"{{\n{filters}        }}" if filters else "{}"
    sort = "None, False"
    if order:
        sorts = ", ".join(f"{_text(c.label)}: {('t.' + quoted(c.name))!r}" for c in order)
        sort = f"{{{sorts}}}.get(order_by or {_text('')}), descending"
    body = (
        f'    return _page(\n        db,\n        "{noun.many}",\n'
        f"        {_sql(_wrapped(chosen, 'SELECT'))},\n"
        f"        {_sql([f'FROM {quoted(table.name)} t', *joins])},\n"
        f"        {filters},\n"
        f"        {totals!r},\n        {stable!r},\n        {sort},\n        limit,\n"
        f"        offset,\n    )"
    )
    about = f"List {noun.plural_words}, all or those with the values that are given."
    return _function(tools.list_ or "", about, parameters, body, "(read_only=True)")


def _needs(shape: Shape, table: TableShape, columns: Sequence[str]) -> str:
    """Lines that refuse a reference to a row that does not exist."""
    out = ""
    for link in table.links:
        if not {*link.columns} <= {*columns}:
            continue
        noun = shape.tables[link.table].noun.words
        marks = [(to, table.parameter(own)) for own, to in link.pairs]
        where = " AND ".join(f"{quoted(to)} = :{name}" for to, name in marks)
        sql = f"SELECT 1 FROM {quoted(link.table)} WHERE {where}"
        binds = ", ".join(f"{name}={name}" for _, name in marks)
        out += f'    _need(db, {sql!r}, "Unknown {noun}.", {binds})\n'
    return out


def _refusals(table: TableShape, names: set[str]) -> str:
    """Lines that refuse what a unique constraint on these columns would."""
    out = ""
    for unique in dict.fromkeys([*table.uniques, table.key]):
        if not unique or not set(unique) <= names:
            continue
        condition = " AND ".join(f"{quoted(one)} = :{table.parameter(one)}" for one in unique)
        sql = f"SELECT 1 FROM {quoted(table.name)} WHERE {condition}"
        words = " and ".join(table.column(one).words for one in unique)
        binds = ", ".join(f"{table.parameter(one)}={table.parameter(one)}" for one in unique)
        out += (
            f"    _free(\n        db,\n        {sql!r},\n"
            f'        "There is already {a(table.noun.words)} with this {words}.",\n'
            f"        {binds},\n    )\n"
        )
    return out


def _create(shape: Shape, table: TableShape, tools: TableTools) -> str:
    noun = table.noun
    columns = [table.column(name) for name in tools.given]
    parameters = [
        (column.parameter, _annotation(column), _described(column, noun.words))
        for column in columns
    ]
    body = _needs(shape, table, [column.name for column in columns])
    names = {column.name for column in columns}
    body += _refusals(table, names)
    values = "".join(f"            {_text(c.name)}: {c.parameter},\n" for c in columns)
    for column in table.stamps:
        clock = "today" if column.kind == "date" else "timestamp"
        values += f"            {_text(column.name)}: records.{clock}(db),\n"
    made = [column for column in table.key if column not in names]
    if made:
        values = f"            {_text(made[0])}: _next(db, {table.name!r}, {made[0]!r}),\n{values}"
    keys = {table.column(column).label: column for column in table.key}
    body += (
        f"    return _insert(\n        db,\n        {table.name!r},\n        {{\n{values}"
        f"        }},\n        {keys!r},\n    )"
    )
    return _function(
        tools.create or "", f"Create {a(noun.words)}; returns its key.", parameters, body, ""
    )


def _update(shape: Shape, table: TableShape, tools: TableTools) -> str:
    columns = [table.column(name) for name in (*tools.updates, *tools.marks, *tools.moves)]
    moved = [link.words for link in table.links if link.column in tools.moves]
    parameters = _key_parameters(table) + [
        (c.parameter, _annotation(c, optional=True), f"The new {c.words}.") for c in columns
    ]
    words = ", ".join([*(c.words for c in columns if c.name not in tools.moves), *moved])
    body = _needs(shape, table, tools.moves) + _changing(
        table, {column.name: column.parameter for column in columns}
    )
    about = f"Change {a(table.noun.words)}: {words}; what is left out stays."
    return _function(tools.update or "", about, parameters, body, "")


def _changing(table: TableShape, values: dict[str, str]) -> str:
    keys = "".join(f"            {_text(c)}: {table.parameter(c)},\n" for c in table.key)
    given = "".join(f"            {_text(c)}: {name},\n" for c, name in values.items())
    return (
        f"    return _change(\n        db,\n        {table.name!r},\n"
        f"        {{\n{keys}        }},\n"
        f"        {{\n{given}        }},\n"
        f'        "Unknown {table.noun.words}.",\n    )'
    )
