"""The tools of each table: their names, parameters and what they may change."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from synth.ext.authoring.names import TOOL_NAME, is_sayable, shortened, spelled
from synth.ext.authoring.roles import COMPARED, LONGEST, SET, SUMMED, closed_states
from synth.ext.authoring.shape import ColumnShape, Shape, TableShape

SORTED = 3
"""The most columns by which a list can be sorted, beside the key."""

FILTERS = 5
"""The most filters of a list."""


@dataclass(frozen=True, slots=True)
class TableTools:
    """Names of the tools of a table, None for one that makes no sense there, and its columns.

    The update changes ``moves``, too, links to another parent, and ``marks``, flags.
    """

    table: TableShape
    find: str | None = None
    get: str | None = None
    list_: str | None = None
    create: str | None = None
    update: str | None = None
    filters: tuple[str, ...] = ()
    sorts: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        own = (self.find, self.get, self.list_, self.create, self.update)
        return [name for name in own if name]

    def without_writes(self, kept: Container[str | None]) -> TableTools:
        """These tools without those that write, but for the ones that are ``kept``."""
        create = self.create if self.create in kept else None
        return replace(self, create=create, update=self.update if self.update in kept else None)


def tools_of(shape: Shape) -> dict[str, TableTools]:
    """The tools of every table; no two have one name."""
    taken = set[str]()

    def name(words: str) -> str:
        made, number = shortened(words, TOOL_NAME), 2
        while made in taken:
            made, number = f"{shortened(words, TOOL_NAME - 4)}_{number}", number + 1
        taken.add(made)
        return made

    return {table: _tools(one, name) for table, one in shape.tables.items()}


def reads_of(tools: Mapping[str, TableTools]) -> dict[str, object]:
    """The lookups of which one comes before each update: they show the row that it changes."""
    return {
        one.update: [[one.get, *({name: one.table.parameter(one.table.key[0])} for name in shows)]]
        for one in tools.values()
        for shows in [[name for name in (one.find, one.list_) if name]]
        if one.update and one.get
    }


def _tools(table: TableShape, name: Callable[[str], str]) -> TableTools:
    """The tools of a table, called what ``name`` makes of these words."""
    noun, keyed = table.noun, bool(table.key)
    written = keyed and not is_append_only(table.name)
    updates = tuple(column.name for column in _updatable(table)) if written else ()
    moves = tuple(_moved(table)) if written else ()
    free = [column for column in table.columns if not (column.computed or column.fixed)]
    marks = tuple(column.name for column in free if column.mark) if written else ()
    return TableTools(
        table=table,
        find=name(f"find_{noun.many}") if table.handle and keyed else None,
        get=name(f"get_{noun.one}") if keyed else None,
        list_=name(f"list_{noun.many}"),
        create=name(f"create_{noun.one}") if written and _creatable(table) else None,
        update=name(f"update_{noun.one}") if updates or moves or marks else None,
        filters=_filters(table),
        sorts=_sorts(table),
        totals=_totals(table),
        given=tuple(column.name for column in _given(table)),
        updates=updates,
        moves=moves,
        marks=marks,
    )


def _sorts(table: TableShape) -> tuple[str, ...]:
    """The numbers and moments that have a highest: no amounts in several currencies."""
    found = table.of_role(*COMPARED, "moment")  # of seconds since 1970 the last one is asked for
    fitting = (c for c in found if c.kind != "text" and is_sayable(c.words) and not c.currency)
    return tuple(c.name for c in fitting)[:SORTED]


def _totals(table: TableShape) -> tuple[str, ...]:
    """The numbers whose sum says something: amounts in one currency, counts, sizes; no bounds."""
    found = table.asked(*SUMMED)
    added = (c for c in found if c.role == "money" or c.is_counted or _ADDED.search(c.words))
    return tuple(c.name for c in added if not (c.currency or _APART.search(c.label)))[:SORTED]


_ADDED = re.compile(
    r"(?:^|\b(?!unit )\w+ )(?:length|size|weight|quantity|stock|capacity)(?: in |$)"
)
_APART = re.compile(r"(?:^|_)(?:max|min|limit|rating|score|price|rate|points|balance)(?:_|$)")


def _moved(table: TableShape) -> list[str]:
    """Links that may lead elsewhere without making another row of it: those that may lead to none.
    A line stays with its invoice, a note with its author.
    """
    return [
        link.column
        for link in table.links
        if len(link.columns) == 1
        and link.column not in table.key
        and len([one for one in table.links if link.column in one.columns]) == 1
        and link.role != table.noun.one
        and not _AUTHOR.search(link.role)
        and not (table.column(link.column).unique or table.column(link.column).fixed)
        and table.column(link.column).nullable
    ]


_AUTHOR = re.compile(
    r"(?:^|_)(?:author|creator|editor|poster|reporter|sender|writer)$|^reported_"
    r"|^(?:user|customer|client|patient|person|member)$"
)
"""Who has done something, or whom a row is about: that stays true."""


def is_append_only(table: str) -> bool:
    """True for a table of what has happened, whose rows nobody writes by hand."""
    return _LOGS.search(spelled(table)) is not None


_LOGS = re.compile(
    r"(?:^|_)(?:hist(?:or(?:y|ies))?|logs?|audits?|archives?|journal|events?|revisions?)$"
)


def _filters(table: TableShape) -> tuple[str, ...]:
    several = len(table.key) > 1
    links = [one for link in table.links for one in link.columns]
    links = [*dict.fromkeys([*links, *(table.key if several else ())])][:FILTERS]
    chosen = [
        column.name
        for column in table.columns
        if column.choices and column.role != "key" and is_sayable(column.words)
    ]
    marked = [column.name for column in table.columns if column.mark and column.distinct == 2]
    return tuple(dict.fromkeys([*links, *chosen, *marked]))[:FILTERS]


def _updatable(table: TableShape) -> list[ColumnShape]:
    return [
        column
        for column in table.asked("status", *SET, "category")
        if (column.role != "category" or _is_set(column))
        and (column.kind != "text" or column.is_choice)
        and column.name not in {*table.handle, *table.key}
        and not (column.unique or column.computed or column.fixed)
    ]


def _is_set(column: ColumnShape) -> bool:
    """True for a choice that is made anew in a row's life, unlike its type."""
    return column.checked and column.is_choice and column.label.rpartition("_")[2] not in _FIXED


_FIXED = frozenset({"type", "kind", "class", "category", "permission"})


def _given(table: TableShape) -> list[ColumnShape]:
    """The columns that a new row is given: what must be there, and what names or places it."""
    links = {column for link in table.links for column in link.columns}
    made = {column.name for column in table.columns if _is_made(table, column)} - links
    needed = {
        column.name
        for column in table.columns
        if column.name in {*table.handle, *table.key}
        or (column.role == "link" if column.has_default else not column.nullable)
    } - made
    if needed <= links:
        needed |= {column.name for column in _descriptive(table)[:2]}
    return [column for column in table.columns if column.name in needed and not column.computed]


_OF_AN_END = re.compile(r"cancel|clos(?:e|ing)|complet|refus|reject|resol|return|terminat")
"""Beginnings of the names of columns that are filled when a row ends: a new row has none of them.
"""


def _descriptive(table: TableShape) -> list[ColumnShape]:
    """The columns that say something of a row which needs none of them."""
    return [
        column
        for column in table.asked("text", "money", "quantity", "category")
        if column.nullable
        and column.seen
        and max(len(str(v)) for v in column.seen) <= LONGEST
        and not _OF_AN_END.match(column.label)
    ]


def _is_made(table: TableShape, column: ColumnShape) -> bool:
    """True for a key that the database or the tool numbers, and for the time of a new row."""
    if column in table.stamps:
        return True
    return table.key == (column.name,) and column.kind in {"integer", "number"}


def _creatable(table: TableShape) -> bool:
    given = _given(table)
    fillable = table.fillable and not any(column.fixed for column in table.columns)
    return fillable and 0 < len(given) <= 10 and all(column.kind != "other" for column in given)


def names_shown(shape: Shape, table: TableShape) -> dict[tuple[str, str], str]:
    """The labels under which a row shows the names of what it refers to, by link and column."""
    taken, out = {column.label for column in table.columns}, dict[tuple[str, str], str]()
    for link in table.links:
        parent = shape.tables[link.table]
        found = {
            (link.column, column): f"{link.role}_{parent.column(column).label}"
            for column in parent.handle
        }
        if taken.isdisjoint(found.values()):
            out |= found
            taken |= {*found.values()}
    return out


def closed(table: TableShape) -> tuple[ColumnShape, list[str]] | None:
    """The status column of a table and its states after which nothing is changed; None without."""
    for column in table.of_role("status"):
        states = closed_states(column.choices)
        if states and len(states) < len(column.choices):
            return column, states
    return None
