"""Rows for tables that have none or few: like those that are there, else by the role, the name and
the checks of each column.

References lead to rows, a few parents have many rows, an end follows its start, and nothing has
happened after the world's day. They are made up, which the account says.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

from envs.ledger import Ledger
from envs.plugins import resolve
from envs.world.row_generator import (
    After,
    Blend,
    Choice,
    Copy,
    Email,
    Form,
    Link,
    Lookup,
    MadeTable,
    Maker,
    Maybe,
    Mix,
    Number,
    Serial,
    Texts,
    When,
    Within,
    made_rows,
)
from synth.ext.authoring.learn import SMALL, Learned, fault_of, own_rows, varying
from synth.ext.authoring.learn_texts import made_texts
from synth.ext.authoring.providers import provider_of
from synth.ext.authoring.roles import secret_columns
from synth.ext.authoring.shape import AMOUNT, ColumnShape, Shape, TableShape
from synth.ext.authoring.snapshot import LiveTable, Rows
from synth.ext.authoring.standards import standard_mix, standard_values

TODAY = "2026-03-02"
"""The day up to which something has happened."""

LEAST = 8
"""The fewest rows of a table."""

FUTURE = re.compile(r"due|until|expir|valid_to|(?:^|_)ends?(?:_|$)|planned|scheduled|next")
"""Names of moments that may lie ahead of the world's day."""

_BORN = re.compile(r"birth|born|(?:^|_)dob(?:_|$)", re.IGNORECASE)
"""Names of days long before anything of a row has happened."""

_LATER = re.compile(
    r"(?:^|_)(?:end|ends|finish|close|left|until|to|due|expir|updat|modif|last|paid)"
)

_OF_PEOPLE = frozenset({"name", "first_name", "last_name"})
"""The providers of names of people."""

_LISTS = {"state": ["Iowa", "Kansas", "Maine", "Nevada", "Ohio", "Oregon", "Texas", "Utah"]}
_NOTES = [
    f"{one} {two}."
    for one in ("Agreed by phone", "Checked", "Moved here from the old list", "Seen by the team")
    for two in ("on Monday", "in spring", "before the holidays", "last week", "after the audit")
]
_PLAIN = """basic regular custom extended reduced internal external shared primary secondary
    mixed""".split()  # noqa: SIM905
"""Values for columns where Faker's are none or odd; remarks and words that fit any table."""

NAMES = [
    f"{one} {two}"
    for one in re.findall(
        r"\w+",
        "Alpine Azure Birch Cedar Cobalt Copper Ember Fern Golden Granite Harvest Indigo"
        " Ivory Linden Lunar Maple Marble Mossy Opal Polar Quartz Sage Timber Velvet",
    )
    for two in re.findall(
        r"\w+",
        "Anchor Arrow Beacon Brook Canopy Crest Falcon Forest Gate Grove Haven Hill"
        " Island Lake Mill Moon Park Peak Ridge River Shore Spring Stone Valley",
    )
]
"""Names that say nothing of what bears them, and that no person has."""

_SHORT, _FULL_NAME, _LINE = 12, 24, 64
"""The characters of a column that has room for a word, for the name of a person, for a sentence."""

_CODED = re.compile(r"(?:code|number|no|key|value|ref|id|reference)$")
_STATES = {"new": 3, "active": 8, "on hold": 2, "closed": 3}
_KINDS = {"standard": 6, "special": 3, "other": 1}
_CHOSEN = (
    (r"(?:^|_)(?:gender|sex)$", {"female": 5, "male": 5, "other": 1}),
    (
        r"(?:^|_)(?:tax|vat)(?:_(?:class|rate|category))?$",
        {"standard rate": 5, "reduced rate": 2, "zero rate": 1},
    ),
    (r"(?:^|_)payment_(?:method|type)$", {"card": 5, "bank transfer": 3, "invoice": 2}),
    (r"(?:^|_)(?:priority|severity|urgency)$", {"normal": 6, "low": 2, "high": 2, "urgent": 1}),
    (r"(?:^|_)(?:unit|uom)$", {"piece": 5, "kg": 3, "litre": 2, "metre": 1}),
    (r"(?:^|_)department$", {"Sales": 4, "Support": 3, "Finance": 2, "Logistics": 2}),
    (r"(?:^|_)(?:status|state|stage|phase)$", _STATES),
    (r"(?:^|_)(?:type|kind|category|class|mode|method|role|level)$", _KINDS),
)
"""Names of columns of few values, and of tables that list them, with the values and how often they
occur.
"""

_AMOUNTS = (2.5, 7.9, 12.0, 19.5, 35.0, 60.0, 140.0, 480.0)
_COUNTS = (1, 1, 2, 3, 4, 6, 9, 15, 40)
_BOUNDS = {
    r"latitude|(?:^|_)lat$": (-60, 70),
    r"longitude|(?:^|_)(?:lng|lon)$": (-120, 140),
    r"(?:^|_)year": (1950, 2020),
    r"(?:^|_)month": (1, 12),
    r"(?:^|_)day(?:_|$)": (1, 28),
    r"(?:^|_)port$": (22, 9000),
    r"(?:^|_)(?:rating|score|stars)$": (1, 5),
    r"percent|pct|share": (0, 100),
}


@dataclass
class _Inventor:
    """The tables to fill: ``wanted`` rows in all, up to the ``today`` of the world."""

    tables: Sequence[LiveTable]
    shape: Shape
    rows: Rows
    wanted: int
    today: dt.date
    draw: Random = field(default_factory=lambda: Random(7))
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def made(self, learned: Mapping[str, MadeTable]) -> dict[str, MadeTable]:
        """The tables without rows, and more rows of those that are ``learned``."""
        own = {name: len(rows) for name, rows in self.rows.by_table.items()}
        referred = {to for one in self.tables for _, to, _ in one.links if to != one.name}
        poor = {name for name, count in own.items() if count < 1 + (name in referred)}  # no choice
        sizes = self._sizes([name for name in own if name in poor or name in learned])
        self.sizes = {name: size for name, size in sizes.items() if size > own[name]}
        out = dict[str, MadeTable]()
        for table in self.tables:
            if table.name in learned.keys() & self.sizes.keys():
                out[table.name] = self._more(table, learned[table.name])
            elif table.name in self.sizes:
                out[table.name] = self._table(table)
        return out

    def _more(self, table: LiveTable, like: MadeTable) -> MadeTable:
        """Rows to follow the table's own, and like them; some parents have many. Where parts of
        few names make too few others, names are made up like in tables without rows.
        """
        rows, columns = self.rows.by_table[table.name], dict(like.columns)
        count = self.sizes[table.name] - len(rows)
        made = self._makers(table)
        apart = (table.key, *table.uniques, self.shape.tables[table.name].handle)
        placed = {column for one in apart for column in one}
        for name, maker in columns.items():
            if isinstance(maker, Serial):
                columns[name] = Serial(0, max(int(str(row[name])) for row in rows) - len(rows))
            if name in placed and _is_poor(maker, 2 * count):
                columns[name] = made[name]
        links = [
            replace(link, fan_out=self._fan_out(table, link.columns, link.table))
            for link in like.links
        ]
        return replace(like, count=count, columns=columns, links=links)

    def _sizes(self, empty: Sequence[str]) -> dict[str, int]:
        """More rows for tables that refer to others; no more than unique references allow, and
        one for each state or kind of a table that lists them.
        """
        weights = {
            table.name: 1 + min(3, len(table.links)) for table in self.tables if table.name in empty
        }
        whole = sum(weights.values())
        wanted = self.wanted + sum(len(self.rows.by_table[name]) for name in weights)
        out = {name: max(LEAST, wanted * weight // whole) for name, weight in weights.items()}
        for table in self.tables:
            if table.name in out:
                listed = self._listed(table)
                most = [len(listed[1])] if listed else [*self._most(table, out)]
                mix = _mix_of(self.shape.tables[table.name], table, ())
                if mix and any({*columns} <= {*mix.columns} for columns in table.uniques):
                    most.append(len(mix.weights))
                out[table.name] = min([out[table.name], *most])
        return out

    def _most(self, table: LiveTable, sizes: Mapping[str, int]) -> Iterator[int]:
        """The most rows for each unique rule that holds references alone, so that few collide."""
        for columns in filter(None, (table.key, *table.uniques)):
            links = [link for link in table.links if {*link[0]} & {*columns}]
            if {*columns} <= {one for link in links for one in link[0]}:
                parents = (sizes.get(to) or len(self.rows.by_table[to]) for _, to, _ in links)
                yield max(1, 2 * prod(parents) // 3)

    def _listed(self, table: LiveTable) -> tuple[str, Mapping[str, int]] | None:
        """The column of names of a table that lists states or kinds, and these; None for others."""
        shape = self.shape.tables[table.name]
        texts = [column for column in shape.columns if column.kind == "text"]
        names = [column for column in texts if column.is_named] or texts
        found = _chosen(shape.noun.one) if names and not table.links else None
        return (names[0].name, found) if found and not self.rows.by_table[table.name] else None

    def _table(self, table: LiveTable) -> MadeTable:
        makers = self._makers(table)
        links = [self._link(table, *one) for one in sorted(table.links, key=lambda k: -len(k[0]))]
        names = list[tuple[str, ...]]()
        if listed := self._listed(table):
            makers[listed[0]], names = Choice(listed[1]), [(listed[0],)]
        return MadeTable(
            table.name,
            self.sizes[table.name],
            makers,
            links,
            _mix_of(self.shape.tables[table.name], table, table.bound),
            unique=[one for one in [table.key, *table.uniques, *names] if one],
            rules=table.checks,
            partial=[(list(columns), where) for columns, where in table.partials],
        )

    def _makers(self, table: LiveTable) -> dict[str, Maker]:
        """The makers of the columns that refer to nothing: addresses after the names in them, last
        moments in the order of time.
        """
        shape = self.shape.tables[table.name]
        shown = {column.name: column for column in shape.columns}
        moments, out = self._moments(shape), dict[str, Maker]()
        placed = {column for columns in shape.distinct_sets for column in columns}
        for column in sorted(table.columns, key=lambda one: "mail" in one.name.lower()):
            if column.name in table.bound or column.computed is not None:
                continue
            one = shown.get(column.name) or ColumnShape(column.name, "text")
            maker = self._maker(table, shape, one, moments, column.length)
            if column.name not in placed and (path := self._repeated(table, one, column.length)):
                maker = Copy(path, maker)
            loose = column.nullable and column.name not in placed
            out[column.name] = Maybe(0.15, maker) if loose else maker
        dated = {name: out.pop(name) for name in moments if name in out}
        return out | dated

    def _repeated(self, table: LiveTable, column: ColumnShape, most: int | None) -> str | None:
        """The text of a parent of the same meaning: the title of a line's product, a currency."""
        shape = self.shape.tables[table.name]
        sizes = {one.name: {c.name: c.length or 0 for c in one.columns} for one in self.tables}
        for columns, target, _ in table.links:
            parent = self.shape.tables[target]
            for one in parent.columns if target != table.name else ():
                money = provider_of(parent, one) == provider_of(shape, column) == "currency_code"
                same = money or column.label == f"{parent.noun.one}_{one.label}"
                fits = most is None or 0 < sizes[target][one.name] <= most
                if same and fits and one.kind == column.kind == "text":
                    return f"{columns[0]}.{one.name}"
        return None

    def _link(
        self, table: LiveTable, columns: tuple[str, ...], target: str, there: tuple[str, ...]
    ) -> Link:
        loose = {c.name for c in table.columns if c.nullable} - {*table.key}
        empty = {*columns} <= loose
        share = (0.4 if target == table.name else 0.15) if empty else 0.0
        return Link(columns, target, there, self._fan_out(table, columns, target), share)

    def _fan_out(self, table: LiveTable, columns: Sequence[str], target: str) -> dict[int, int]:
        """How many parents have how many rows: most have few, a few have many."""
        parents = self.sizes.get(target) or len(self.rows.by_table[target]) or 1
        mean = self.sizes[table.name] / parents
        counts = Counter(round(mean * self.draw.paretovariate(2) / 2) for _ in range(parents))
        if any({*one} <= {*columns} for one in (table.key, *table.uniques) if one):
            counts = Counter({1: self.sizes[table.name], 0: parents - self.sizes[table.name]})
        return dict(sorted(counts.items()))

    def _moments(self, shape: TableShape) -> Mapping[str, bool]:
        """The columns of days and moments, each with whether it comes after the others: when a row
        was made, then those that come later.
        """
        found = [column for column in shape.columns if column.tells_time]
        found.sort(key=lambda c: ("creat" not in c.label, bool(_LATER.search(c.label))))
        return {c.name: bool(_LATER.search(c.label)) for c in found}

    def _maker(
        self,
        table: LiveTable,
        shape: TableShape,
        column: ColumnShape,
        moments: Mapping[str, bool],
        longest: int | None,
    ) -> Maker:
        if column.choices:
            pairs = enumerate(column.choices)
            return Choice({value: max(1, 8 // (index + 1)) for index, value in pairs})
        if column.name in moments:
            return self._moment(table, column, moments)
        if column.kind == "boolean" or (
            column.role == "flag" and column.kind in {"integer", "text"}
        ):
            digits = column.kind == "text" and any(one in {"0", "1"} for one in column.seen)
            words = {"0": 4, "1": 1} if digits else {"N": 4, "Y": 1}
            return Choice(words if column.kind == "text" else {0: 4, 1: 1})
        if column.kind in {"integer", "number"}:
            return self._number(table, column)
        return self._text(shape, column, longest or 255)

    def _number(self, table: LiveTable, column: ColumnShape) -> Maker:
        if column.kind == "integer" and (maker := _counted(table, column)):
            return maker
        marks = _marks(column)
        low = min(marks) if column.low is None else column.low
        high = max(*marks, low + 20) if column.high is None else column.high
        kept = [min(max(one, low), high) for one in marks]
        whole = column.kind == "integer"
        return Number([round(one) for one in kept] if whole else kept, None if whole else 2)

    def _moment(self, table: LiveTable, column: ColumnShape, moments: Mapping[str, bool]) -> Maker:
        day = column.kind == "date"
        born = _BORN.search(column.name)
        ago = (365 * 75, 365 * 19) if born else (700, 35)
        first, last = (self.today - dt.timedelta(days) for days in ago)
        form = "%Y-%m-%d" if day else "%Y-%m-%d %H:%M:%S"
        when = When([first.isoformat(), last.isoformat()], form, 86400 if day else 60)
        if column.kind == "integer":
            when = replace(when, unit=1000 if {"ms", "ts"} & {*column.label.split("_")} else 1)
        base = _first(moments)
        if born or column.name not in base:
            before = _before(column.name, moments)
            return when if born else After(before, [86400, 7 * 86400, 30 * 86400], when)
        of_parents = [
            f"{columns[0]}.{one}"
            for columns, target, _ in table.links
            for one in _first(self._moments(self.shape.tables[target]))
            if target != table.name
        ]
        return After(of_parents, [60, 30 * 86400, 365 * 86400], when) if of_parents else when

    def _text(self, shape: TableShape, column: ColumnShape, most: int) -> Maker:
        """Texts of at most ``most`` characters."""
        unique, alone = _is_apart(shape, column), (column.name,) in shape.distinct_sets
        if found := (not unique and _few(column, most)) or _of_person(shape, column, most):
            return found
        named = unique or column.is_named
        secret = bool(secret_columns({column.name: ()}))
        spoken = _is_coded(column.label, min(most, _LINE) if alone else most)
        coded = secret or column.role == "identifier" or spoken
        names = NAMES if named and not coded else []
        pools = [() if secret else provided(shape, column, most), names]
        wanted = 1.5 * self.sizes[shape.name] if unique else 0
        if texts := next(filter(None, (_fitting(pool, most, wanted) for pool in pools)), None):
            return Texts(texts)
        if coded or named:  # a number or a key is short, however long it may be
            return _code(shape, min(most, _SHORT) if spoken and not secret else most)
        return self._words(shape, most)

    def _words(self, shape: TableShape, most: int) -> Maker:
        """Remarks; words where a line has no room, codes where a word has none."""
        fitting = [word for word in _PLAIN if len(word) <= most]
        if len(fitting) < 2:
            return _code(shape, most)
        if most > _LINE:
            return Texts(_NOTES)
        words = self.draw.sample(fitting, min(5, len(fitting)))
        return Choice({word.capitalize(): 16 // 2**place + 1 for place, word in enumerate(words)})


def _counted(table: LiveTable, column: ColumnShape) -> Maker | None:
    """The numbers of a column that tells rows apart, alone or among rows of the same parents."""
    others = [one for one in table.key if one != column.name]
    if (column.name,) in (table.key, *table.uniques):
        return Serial(1000)
    return Within(others) if column.name in table.key and {*others} <= table.bound else None


def _is_apart(shape: TableShape, column: ColumnShape) -> bool:
    """True for a text that tells rows apart; a kind does not that more than one other goes with."""
    sets = [columns for columns in shape.distinct_sets if column.name in columns]
    kinds = column.role in {"category", "status"} and all(len(one) > 2 for one in sets)
    return bool(sets) and not kinds


def _is_poor(maker: Maker, wanted: int) -> bool:
    """True for names that are the own ones or whose parts make too few others, and for small
    letters at random.
    """
    if isinstance(maker, Choice):
        return {*maker.weights.values()} == {1}
    if isinstance(maker, Form):
        return any("%%%%" in one for one in maker.weights)
    return isinstance(maker, Blend) and maker.room < wanted


def _is_coded(label: str, most: int) -> bool:
    """True for the name of a code, or one that is no common word, such as an ``imei``."""
    rare = resolve("synth.ext.authoring.english:is_rare")(label.rpartition("_")[2])
    return _CODED.search(label) is not None or (rare and most <= _LINE)


def _fitting(texts: Sequence[str], most: int, wanted: float) -> list[str]:
    """The texts of at most ``most`` characters, if there are more than ``wanted``."""
    fitting = [text for text in texts if len(text) <= most]
    return fitting if len(fitting) > wanted else []


def _chosen(label: str) -> Mapping[str, int] | None:
    return next((values for name, values in _CHOSEN if re.search(name, label)), None)


def _first(moments: Iterable[str]) -> list[str]:
    """The first of a row's moments, if there is one, but of no birth."""
    return [one for one in moments if not _BORN.search(one)][:1]


def _before(name: str, moments: Mapping[str, bool]) -> list[str]:
    """The moments after which one comes: all earlier ones for a later one, else the first."""
    earlier = [one for one, later in moments.items() if not (later or _BORN.search(one))]
    return earlier if earlier and moments[name] else _first(moments)


def _of_person(shape: TableShape, column: ColumnShape, most: int) -> Texts | Email | None:
    """The name of somebody, or an address with it; None for another column."""
    provider = provider_of(shape, column)
    if provider == "name" and most > _FULL_NAME:
        return Texts(made_texts("first_name"), made_texts("last_name"))
    if provider != "ascii_safe_email":
        return None
    names = [one.name for one in shape.columns if provider_of(shape, one) in _OF_PEOPLE]
    return Email(names, () if names else made_texts("last_name"))


def _few(column: ColumnShape, most: int) -> Choice | When | None:
    """One of the few states, kinds or times of a column; None for a column of many values."""
    if column.kind == "other":
        return Choice({"[]": 1})
    if re.search(r"(?:^|_)time$", column.label) or column.declared == "moment":
        return When(
            ["1970-01-01T08:00", "1970-01-01T18:00"], "%H:%M:%S" if most > 7 else "%H:%M", 1800
        )
    found = _chosen(column.label)
    if found is None or (column.label.endswith("state") and column.role == "text"):
        return None
    short = dict(zip("BCDE", found.values(), strict=False))  # "A" is a word that any reply says
    return Choice({one: n for one, n in found.items() if len(one) <= most} or short)


def _marks(column: ColumnShape) -> Sequence[float]:
    """The quantiles of a number, by its name and its role."""
    bounds = next((pair for name, pair in _BOUNDS.items() if re.search(name, column.label)), None)
    few = column.role in {"code", "version", "category", "position"}
    minor = 100 if column.label.endswith("cents") else 1
    amounts = [minor * one for one in _AMOUNTS]
    return bounds or (amounts if column.role == "money" else (1, 2, 3, 5) if few else _COUNTS)


def provided(shape: TableShape, column: ColumnShape, most: int) -> Sequence[str]:
    """Texts for a column of this name, or of one that names states or kinds; none for others. A
    country is a code where ``most`` characters are too few for a name.
    """
    provider = provider_of(shape, column)
    provider = "country_code" if provider == "country" and most < _SHORT else provider
    if provider is None and AMOUNT.search(column.words):
        return [f"{one * step / 4:.2f}" for one in _AMOUNTS for step in range(1, 9)]
    if provider is None:
        lists = column.name in shape.handle and not shape.links
        return list(_chosen(shape.noun.one) or ()) if lists else ()
    return _LISTS.get(provider) or standard_values(provider) or made_texts(provider)


def _mix_of(shape: TableShape, table: LiveTable, linked: Container[str]) -> Mix | None:
    """The columns of a table that are of one standard, but those that refer to others."""
    providers = {
        one.name: provider
        for one in shape.columns
        if one.kind == "text" and one.name not in linked and (provider := provider_of(shape, one))
    }
    return standard_mix(providers, {one.name: one.length for one in table.columns})


def _code(shape: TableShape, most: int) -> Form:
    """Codes with the initials of the noun, or its beginning; digits alone where there is no room,
    or where the width is one of digests.
    """
    words = shape.noun.words.upper().split()
    letters = "".join(word[:1] for word in words) if words[1:] else words[0][:3]
    if most < 8 or most in {32, 36, 40, 64}:
        return Form({"#" * min(most, 32): 1})
    return Form({f"{letters}-{'#' * 5}"[:most]: 1})


def invent(
    tables: Sequence[LiveTable],
    shape: Shape,
    schema: str,
    rows: Rows,
    wanted: int,
    ledger: Ledger,
    personal: Mapping[tuple[str, str], str],
) -> None:
    """Add about so many rows to the tables that have none or few. One for which none can be made
    stays as it is, and the account says why. ``shape`` is the tables', ``schema`` their script.
    """
    found = varying(tables, shape, rows.by_table, personal, Learned([]))
    few = {name: one for name, one in found.items() if one.count < SMALL}
    own = {name: len(of) for name, of in rows.by_table.items()}
    made = _Inventor(tables, shape, rows, wanted, dt.date.fromisoformat(TODAY)).made(few)
    while made:
        plan = list[Lookup | MadeTable]()
        for table in tables:
            plan.append(own_rows(table, rows.by_table[table.name]))
            plan += [made[table.name]] if table.name in made else []
        fault = fault_of(plan, schema, 0)
        if fault is None:
            break
        name, why = fault if fault[0] in made else (next(iter(made)), fault[1])
        del made[name]
        ledger.found("made table")
        ledger.leave_out("made table", name, f"no rows can be made up: {why}")
    else:
        return
    counts = Counter[str]()
    for name, row in list(made_rows(plan, 0, Random(0))):
        counts[name] += 1
        if counts[name] > own[name]:
            rows.by_table[name].append(row)
    for name in made:
        count = counts[name] - own[name]
        ledger.found("made row", count)
        few_or_none = f"has {own[name]}" if own[name] else "has none"
        ledger.change("made row", name, f"made up: the source {few_or_none}", count)
