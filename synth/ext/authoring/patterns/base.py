"""The contract of a pattern, and the parts that families are built from.

A pattern is a function from a :class:`Sketch` to drafts of families in the notation of tasks.yaml.
Every draft is proved afterwards; one that fails is left out, so a pattern may be bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from envs.plugins import resolve
from synth.ext.authoring.checks import columns_of, qualified
from synth.ext.authoring.names import is_sayable, quoted, shortened, slot
from synth.ext.authoring.schema_sql import literal
from synth.ext.authoring.shape import ColumnShape, Link, Shape, TableShape
from synth.ext.authoring.toolset import TableTools, closed, is_append_only

Step = dict[str, object]


@dataclass(frozen=True, slots=True)
class Draft:
    """A family as it will stand in tasks.yaml, and the name of its pattern."""

    pattern: str
    body: Mapping[str, object]

    @property
    def id(self) -> str:
        return str(self.body["id"])


@dataclass(frozen=True, slots=True)
class Sketch:
    """All that a pattern may build on. ``consent`` are the columns (by table) that are changed
    with the user's consent only; ``now`` is the world's date; ``has_rows`` tells whether the
    database has rows for a draft.
    """

    shape: Shape
    tools: Mapping[str, TableTools]
    consent: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    now: str = "2026-03-02T09:00:00"
    has_rows: Callable[[Draft], bool] = bool

    @property
    def tables(self) -> list[TableShape]:
        """The tables with rows, those first whose rows a person changes and names in few words."""
        tables = self.shape.tables
        filled = [one for one in tables.values() if one.rows and not _is_copy(one, tables)]
        return sorted(
            filled,
            key=lambda one: (
                is_append_only(one.name),
                len(one.key) if not one.handle else 0,
                -one.rows,
            ),
        )

    def first(self, count: int, drafts: Iterable[Draft | None]) -> list[Draft]:
        """The first ``count`` drafts with rows, of different names; then those without rows."""
        full, bare = dict[str, Draft](), dict[str, Draft]()
        for draft in filter(None, drafts):
            (full if self.has_rows(draft) else bare).setdefault(draft.id, draft)
            if len(full) == count:
                break
        others = (draft for name, draft in bare.items() if name not in full)
        return [*full.values(), *others][:count]

    def needs_consent(self, table: TableShape, column: str) -> bool:
        return column in self.consent.get(table.name, frozenset())


Pattern = Callable[[Sketch], Iterator[Draft]]


@dataclass(frozen=True, slots=True)
class Named:
    """A row that a person names, under an alias in SQL and a prefix of slots.

    By its handle it has to be looked up; by its key it need not.
    """

    tools: TableTools
    alias: str = "t"
    prefix: str = ""

    @property
    def table(self) -> TableShape:
        return self.tools.table

    @property
    def slot(self) -> str:
        return slot(self.prefix or self.table.noun.one)

    @property
    def by_name(self) -> bool:
        return bool(self.table.handle) and self.tools.find is not None

    @property
    def columns(self) -> Sequence[str]:
        """The columns that the person says."""
        return self.table.handle if self.by_name else self.table.key

    @property
    def slots(self) -> dict[str, str]:
        """The slot of each of these columns."""
        if len(self.columns) == 1:
            return {self.columns[0]: self.slot}
        return {one: f"{self.slot}_{self.table.column(one).label}" for one in self.columns}

    @property
    def value(self) -> str:
        """The words for the row alone: ``{album}``."""
        values = " ".join(f"{{{name}}}" for name in self.slots.values())
        seen = [str(one) for column in self.columns for one in self.table.column(column).seen]
        phrases = [one for one in seen if one[:1].islower() and (" " in one or len(one) < 4)]
        return f"“{values}”" if 2 * len(phrases) > len(seen) else values

    @property
    def told(self) -> str:
        """The words for the row behind those for its part: ``{album}``, ``number {invoice}``."""
        numbered = len(self.columns) == 1 and self.table.column(self.columns[0]).kind == "integer"
        return f"{self.table.key_words} {self.value}" if numbered else self.value

    @property
    def words(self) -> str:
        """The words for the row: ``the album {album}``, ``invoice number {invoice}``."""
        noun, table = self.table.noun.words, self.table
        if self.by_name:
            return f"the {noun} {self.value}"
        own, links = _parts(table)
        integers = {one.name for one in table.columns if one.kind == "integer"}
        owners = [
            f" of {one.words} {'number ' * (one.column in integers)}{{{self.slots[one.column]}}}"
            for one in links
        ]
        if not own:
            return f"the {noun}{''.join(owners)}"
        head, *others = own
        number = "number" if links or others else table.key_words
        number = f"{number} " if head.kind in {"integer", "number"} else ""
        more = [f" with the {one.words} {{{self.slots[one.name]}}}" for one in others]
        return "".join([f"{noun} {number}{{{self.slots[head.name]}}}", *more, *owners])

    @property
    def select(self) -> list[str]:
        return [f"{self.col(column)} AS {name}" for column, name in self.slots.items()]

    @property
    def hidden(self) -> list[str]:
        """The key as slots for the oracle, where the person names the row otherwise."""
        keys = self.table.key if self.by_name else ()
        return [f"{self.col(column)} AS {self.oracle_key(column)}" for column in keys]

    def oracle_key(self, column: str) -> str:
        label = self.table.column(column).label
        return f"{self.slot}_{label}_key" if self.by_name else self.slots[column]

    @property
    def oracle_where(self) -> str:
        """A condition in SQL for the row, by its key."""
        return " AND ".join(f"{quoted(c)} = :{self.oracle_key(c)}" for c in self.table.key)

    def col(self, column: str) -> str:
        return f"{self.alias}.{quoted(column)}"

    def filled(self, *columns: ColumnShape) -> list[str]:
        """Conditions that no value of these columns is empty."""
        own = [(self.col(one.name), one.kind == "text") for one in columns]
        return [f"{one} <> ''" if is_text else f"{one} IS NOT NULL" for one, is_text in own]

    @property
    def key(self) -> str:
        """SQL for the key of the row."""
        return joined(*(self.col(column) for column in self.table.key))

    @property
    def conditions(self) -> list[str]:
        """Conditions under which the person's words mean this row only."""
        if not self.by_name:
            return []
        folded = [f"LOWER({self.col(column)})" for column in self.columns]
        own = ", ".join(f"LOWER({quoted(column)})" for column in self.columns)
        words = folded[0] if len(folded) == 1 else f"({', '.join(folded)})"
        once = f"SELECT {own} FROM {quoted(self.table.name)} GROUP BY {own} HAVING COUNT(*) = 1"
        return [f"{words} IN ({once})"]

    @property
    def source(self) -> str:
        return f"{quoted(self.table.name)} {self.alias}"

    def ground(
        self,
        select: Sequence[str] = (),
        where: Sequence[str] = (),
        joins: Sequence[str] = (),
        by: Sequence[str] = (),
    ) -> str:
        """The rows that the person's words mean, told apart by their key and ``by`` more."""
        return query(
            [f"{joined(self.key, *by)} AS task_key", *self.select, *select],
            [self.source, *joins],
            [*self.conditions, *where],
        )

    def update(self, values: Mapping[str, object]) -> Step:
        return {str(self.tools.update): {**self.key_arguments(), **values}}

    def find(self, extra: Mapping[str, str] | None = None) -> list[Step]:
        """Steps of gold that find the row; its key is saved."""
        if not self.by_name:
            return []
        keys = {
            self.saved(column): f"$.{self.table.noun.many}[0].{self.table.column(column).label}"
            for column in self.table.key
        }
        return [{**self.seek(), "save": {**keys, **(extra or {})}}]

    def seek(self) -> Step:
        """A step that looks for the row, which may not be there."""
        words = {self.table.parameter(one): f"{{{name}}}" for one, name in self.slots.items()}
        return {str(self.tools.find): words}

    def read(
        self, column: str = "", sketch: Sketch | None = None, **save: ColumnShape
    ) -> list[Step]:
        """Steps of gold that find the row, and read it before this column of it is changed; columns
        are saved by name. With a sketch they also look at owners whose state may close the row.
        """
        links = self.closing(sketch) if sketch else []
        keys = {
            f"{self.slot}_{self.table.column(one).label}": self.table.column(one)
            for link in links
            for one in link.columns
        }
        keys |= save
        early = {*self.table.found} if self.by_name else set[str]()
        rows = f"$.{self.table.noun.many}[0]"
        shown = {n: f"{rows}.{one.label}" for n, one in keys.items() if one.name in early}
        late = {n: f"$.{one.label}" for n, one in keys.items() if one.name not in early}
        found = self.find(shown)
        if column or late or not found:
            call: Step = {str(self.tools.get): self.key_arguments()}
            found.append(call | ({"save": late} if late else {}))
        for link in links:
            owner = sketch.tools[link.table] if sketch else self.tools
            found.append({str(owner.get): self.owner_key(link, owner.table)})
        return found

    def owner_key(self, link: Link, owner: TableShape) -> dict[str, object]:
        """The key of what the row refers to, as it was read."""
        return {
            owner.parameter(to): f"${self.slot}_{self.table.column(own).label}"
            for own, to in link.pairs
        }

    def closing(self, sketch: Sketch) -> list[Link]:
        """The links to owners that the row always has, and whose state may close it."""
        return [
            link
            for link in self.table.links
            if link.table != self.table.name
            and not any(self.table.column(one).nulls for one in link.columns)
            and closed(owner := sketch.shape.tables[link.table])
            and sketch.tools[link.table].get
            and {*owner.key} == {*link.targets}
        ]

    def look(self, save: Mapping[str, ColumnShape]) -> list[Step]:
        """Steps of gold that read these columns, by what finds the row if it shows them; amounts
        with their currencies.
        """
        save = {**save} | {
            f"{name}_currency": replace(one, name="", label=one.currency, currency="")
            for name, one in save.items()
            if one.currency
        }
        if self.by_name and {one.name for one in save.values()} <= {*self.table.found}:
            rows = f"$.{self.table.noun.many}[0]"
            return self.find({name: f"{rows}.{column.label}" for name, column in save.items()})
        paths = {name: f"$.{column.label}" for name, column in save.items()}
        return [*self.find(), {str(self.tools.get): self.key_arguments(), "save": paths}]

    def saved(self, column: str) -> str:
        label = self.table.column(column).label
        return f"{self.slot}_key" if len(self.table.key) == 1 else f"{self.slot}_{label}_found"

    def reference(self, column: str) -> str:
        """The value of a key's column in gold."""
        return f"${self.saved(column)}" if self.by_name else f"{{{self.slots[column]}}}"

    def key_arguments(self) -> dict[str, object]:
        return {self.table.parameter(column): self.reference(column) for column in self.table.key}


def _is_copy(table: TableShape, tables: Mapping[str, TableShape]) -> bool:
    """True for rows that repeat columns of those that their keys refer to, and have no others: a
    program keeps them.
    """
    link = table.link_of(table.key[0]) if len(table.key) == 1 else None
    if link is None or link.table == table.name:
        return False
    owner = {column.label for column in tables[link.table].columns}
    own = {column.label for column in table.columns} - {table.column(link.column).label}
    return bool(own) and own <= owner


def _parts(table: TableShape) -> tuple[list[ColumnShape], list[Link]]:
    """The key's own columns, and its links to what the row is a part of: line 2 of order 17,
    the impact of alert 17, user anna with the server host a.example.
    """
    links = table.links_in(table.key)
    bound = {column for link in links for column in link.columns}
    own = [table.column(one) for one in table.key if one not in bound]
    return sorted(own, key=lambda one: one.role not in {"name", "person", "key"}), links


def nameable(tools: TableTools) -> bool:
    """True for a table whose rows a person can name, by a handle or by a key."""
    table = tools.table
    own, links = _parts(table)
    alone = bool(own) or all(link.role != table.noun.one for link in links)
    whole = alone and all(link.is_said and len(link.columns) == 1 for link in links)
    said = tools.find is not None or (whole and all(table.column(c).is_said for c in table.key))
    fits = said and is_sayable(table.noun.words) and not table.is_join
    return bool(table.rows and tools.get) and fits


def open_only(sketch: Sketch, row: Named) -> list[str]:
    """Conditions under which the rules let a row be changed: no state closes it, nor what it
    belongs to.
    """
    shut = _is_shut(row.table, row.alias)
    out = [f"({shut}) IS NOT TRUE"] if shut else []
    for link in row.table.links:
        owner = _is_shut(sketch.shape.tables[link.table], "owner")
        if owner and link.table != row.table.name:
            same = link.on(row.alias, "owner")
            rows = f"SELECT 1 FROM {quoted(link.table)} owner WHERE {same} AND {owner}"
            out.append(f"NOT EXISTS ({rows})")
    return out


def _is_shut(table: TableShape, alias: str) -> str:
    """A condition that a state closes the row of an alias; empty where none does."""
    column, states = closed(table) or (None, [])
    listed = ", ".join(map(literal, states))
    return f"{alias}.{quoted(column.name)} IN ({listed})" if column else ""


def not_taken(table: TableShape, column: str, value: str) -> list[str]:
    """Conditions under which no other row has the values that a row has with another ``value`` of a
    column, which is SQL.
    """
    out = list[str]()
    whole = [(columns, "") for columns in [table.key, *table.uniques]]
    for columns, where in [*whole, *table.partials]:
        if column not in columns and column not in columns_of(where or "1"):
            continue
        same = [
            f"taken.{quoted(one)} = {value if one == column else f't.{quoted(one)}'}"
            for one in columns
        ]
        other = " OR ".join(f"taken.{quoted(k)} <> t.{quoted(k)}" for k in table.key)
        more = [f"({where})"] if where else []
        rows = " AND ".join([*same, f"({other})", *more])
        free = f"NOT EXISTS (SELECT 1 FROM {quoted(table.name)} taken WHERE {rows})"
        apart = where and column not in columns_of(where)
        out.append(f"(NOT ({qualified(where, 't')}) OR {free})" if apart else free)
    return out


def placed(table: TableShape, column: str) -> bool:
    """True for a column that a unique rule looks at."""
    looked = {name for columns in table.distinct_sets for name in columns}
    looked |= {name for _, where in table.partials for name in columns_of(where)}
    return column in looked


def joined(*parts: str) -> str:
    """SQL for several values as one text, with a hyphen between them; one stays what it is."""
    together = ", '-', ".join(parts)
    return parts[0] if len(parts) == 1 else f"CONCAT({together})"


def query(select: Sequence[str], source: Sequence[str], where: Sequence[str] = ()) -> str:
    """A query on several lines, in a fixed order and bounded."""
    lines = [f"SELECT {', '.join(select)}", f"FROM {source[0]}", *source[1:]]
    if where:
        lines.append("WHERE " + "\n  AND ".join(where))
    return "\n".join(lines) + "\n"


def ended(submitted: Mapping[str, object], *says: str) -> list[Step]:
    """The last steps of gold: an answer is handed in, and one of the sentences is said."""
    return [{"submit": dict(submitted)}, {"say": list(says)}]


def _sentence(text: str) -> str:
    """A sentence with the capitals that it needs."""
    return str(resolve("synth.ext.authoring.english:proper")(text[:1].upper() + text[1:]))


def _begun(gold: object, key: str = "") -> object:
    """Steps of gold in which all that is said begins with a capital, and has those it needs."""
    if isinstance(gold, Mapping):
        steps = cast("Mapping[str, object]", gold)
        return {name: _begun(inner, name) for name, inner in steps.items()}
    if isinstance(gold, list):
        return [_begun(one, key) for one in cast("list[object]", gold)]
    return _sentence(gold) if key in {"say", "confirm"} and isinstance(gold, str) else gold


def family(
    pattern: str,
    name: str,
    about: str,
    ground: str,
    says: Sequence[str],
    gold: Sequence[Step],
    **more: object,
) -> Draft:
    """A family whose grounding has the column ``task_key``."""
    user = {"says": [*map(_sentence, says)]}
    extra = more.pop("user", None)
    if isinstance(extra, Mapping):
        user |= extra
    body: dict[str, object] = {
        "id": shortened(f"{pattern}_{name}", 64),
        "about": _sentence(about),
        "ground": {"key": "task_key", "sql": ground},
    }
    body |= {key: more[key] for key in ("vary", "cases") if key in more}
    body["user"] = user
    body |= {key: more[key] for key in ("answer", "oracle") if key in more}
    body["gold"] = _begun([*gold])
    body |= {key: value for key, value in more.items() if key not in body}
    return Draft(pattern, body)
