"""The shape of a database as `synth new` sees it: typed tables, columns, keys and links."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from envs.plugins import resolve
from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import (
    OF_ITSELF,
    PARTICIPLE,
    Noun,
    a,
    be,
    date_verb,
    date_words,
    is_countable,
    is_plural,
    is_sayable,
    noun_of,
    parameter,
    quoted,
    said,
    snake,
    spelled,
)

Kind = Literal["integer", "number", "text", "date", "moment", "boolean", "other"]

DATES: frozenset[Kind] = frozenset({"date", "moment"})

Role = Literal[
    "key",
    "link",
    "name",
    "person",
    "status",
    "category",
    "flag",
    "code",
    "identifier",
    "position",
    "version",
    "quantity",
    "measure",
    "money",
    "share",
    "coordinate",
    "moment",
    "text",
    "audit",
    "other",
]

Cell = str | int | float

_MARKED = re.compile(r"^(?:is|was)_")

_STAMP = re.compile(r"(?:date_)?(?:creat|insert|add)(?:ed|ion)(?:_|$)")
"""Names of the day or time at which the program makes a row."""

_DEGREES = {
    **dict.fromkeys(("length", "duration", "distance"), ("longer", "longest")),
    **dict.fromkeys(("price", "cost", "fare"), ("more expensive", "most expensive")),
    "size": ("larger", "largest"),
    "width": ("wider", "widest"),
    "height": ("taller", "tallest"),
}
"""Words for more and most of what a column holds."""

AMOUNT = re.compile(
    "(?:amount|balance|budget|charge|cost|deposit|discount|fare|fee|paid|payment|premium|price|"
    "revenue|salary|tax|total|wage)s?$"
)
"""Words for an amount of money."""

NAMED = re.compile(r"(?:name|title|label|subject)(?:_?(?:[a-z]{2}|\d+))?$")
"""Names of columns with the name of what a row is."""

NAMES = frozenset({"name", "username", "title", "label", "alias", "subject"})

_OF_ANY_KIND = frozenset({"key", "link", "audit", "other"})

_RATES = frozenset({"hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annual"})


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column: what may stand in it, and what does.

    ``choices`` are the values that a check or the content allows; ``low`` and ``high`` the bounds
    that a check sets. ``seen`` are some of its values, ``distinct`` counts all of them.
    ``declared`` is the kind of its type: ``kind`` is another one where some values are not of it.
    ``computed`` tells that the database sets it, ``stamped``: to the time of a new row, ``fixed``:
    that a trigger, which the world lacks, sets others by it. ``small`` are numbers of a byte
    or two and texts of a few letters; ``default`` is a plain one. ``scale`` are the declared digits
    behind the point. ``role`` is inferred, ``why`` says from what.
    ``label`` is its name in results, ``said`` its name in words. ``currency`` is the name in
    results of what names the currency of an amount, where rows have several.
    """

    name: str
    kind: Kind
    nullable: bool = True
    has_default: bool = False
    unique: bool = False
    choices: tuple[Cell, ...] = ()
    checked: bool = False
    low: float | None = None
    high: float | None = None
    comment: str | None = None
    seen: tuple[Cell, ...] = ()
    distinct: int = 0
    nulls: int = 0
    declared: Kind = "other"
    computed: bool = False
    stamped: bool = False
    fixed: bool = False
    small: bool = False
    default: str = ""
    scale: int | None = None
    role: Role = "other"
    why: str = ""
    label: str = ""
    said: str = ""
    currency: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or snake(self.name))

    @property
    def parameter(self) -> str:
        """The name as a parameter of a tool."""
        return parameter(self.label)

    @property
    def is_named(self) -> bool:
        """True for a text that is a name."""
        return self.role == "name" or NAMED.search(self.label) is not None

    @property
    def is_choice(self) -> bool:
        """True for a text that is one of few states or kinds."""
        return bool(self.choices) and self.role in {"status", "category"} and self.kind == "text"

    @property
    def mark(self) -> str:
        """The words for a flag that rows are marked with: ``public`` for ``is_public``; empty for
        one that says what a row has or may do.
        """
        bare = _MARKED.sub("", self.label)
        kind = resolve("synth.ext.authoring.english:kind_of")(bare.rpartition("_")[2])
        stated = bare in {"admin", "default", "public"} or kind == "state"
        signs = stated + (bare != self.label) + ("_" not in bare)  # two of them say enough
        fits = self.role == "flag" and self.kind in {"boolean", "integer"} and signs > 1
        said = [one if re.search("[aeiouy]", one) else one.upper() for one in bare.split("_")]
        return " ".join(said) if fits and bare not in OF_ITSELF else ""  # is_html: HTML

    @property
    def yes(self) -> object:
        """The value of a flag that is set."""
        return True if self.kind == "boolean" else 1

    def is_set(self, alias: str) -> str:
        """A condition in SQL that a row of the alias has this flag."""
        name = f"{alias}.{quoted(self.name)}"
        return name if self.kind == "boolean" else f"{name} = 1"

    @property
    def is_said(self) -> bool:
        """True for a column that a person asks for: its name is words, its values say something."""
        bare = self.role in {"moment", "category", "status"} or "time" in self.words.split()
        spoken = self.kind in {*DATES, "text"} or (not bare and self.words != "count")
        *_, done, last = ["", *self.words.split()]  # the failed time, the last warning sent time
        if last in {"date", "time"} and PARTICIPLE.search(done) and not self.verb:
            spoken = done in {"scheduled", "planned"}
        return spoken and self.kind not in {"boolean", "other"} and is_sayable(self.words)

    @property
    def sign(self) -> str:
        """What rows with this flag are marked as: ``urgent``, ``a calendar``."""
        plain = self.mark in {"default", "multiple", "public"} or not is_countable(self.mark)
        return self.mark if plain else a(self.mark)

    @property
    def words(self) -> str:
        """The name as a person says it, as a noun: ``issued date`` for the date ``issued_on``."""
        words = self.said or next(iter(said({self.name: None}).values())) or self.label
        if self.in_cents:
            words = words.removesuffix(" in cents")
            return words if AMOUNT.search(words) else f"{words} amount"
        if self.kind in DATES:
            return date_words(words.replace(" ", "_"), day=self.kind == "date")
        if self.kind == "integer" and self.role in {"quantity", "measure"} and be(words) == "are":
            return f"number of {words}"
        if self.role in {"status", "category"}:
            return words.removesuffix(" name")
        if self.kind == "text" and words.endswith("phone"):
            return f"{words} number"
        return f"{words} amount" if self.kind == "number" and words in _RATES else words

    @property
    def in_cents(self) -> bool:
        """True for an amount in hundredths of a currency."""
        return self.role == "money" and self.kind == "integer" and self.label.endswith("_cents")

    def shown(self, name: str) -> str:
        """The place of a value in a sentence, by the name of its slot or of what saved it."""
        form = ".written" if self.kind in DATES else ""
        form = ".fixed" if self.role == "money" and self.scale == 2 else form
        return f"{{{name}{'.hundredths' if self.in_cents else form}}}"

    @property
    def tells_time(self) -> bool:
        """True for a day or moment, also in whole seconds or parts of them since 1970."""
        return self.kind in DATES or (self.kind, self.role) == ("integer", "moment")

    @property
    def verb(self) -> str:
        """The deed of a date: ``opened`` for ``opened_on``; empty for any other column."""
        words = self.said.replace(" ", "_") or self.label
        return date_verb(words) if self.kind in DATES else ""

    @property
    def deed(self) -> str:
        """The deed of a moment of whichever kind: ``used`` for ``last_used``."""
        done = date_verb(self.label) if self.role == "moment" else ""
        return done.removeprefix("last ")

    @property
    def is_counted(self) -> bool:
        """True for things that can be counted: seats, the number of seats."""
        return self.words.startswith("number of ") or be(self.words) == "are"

    def called(self, noun: str, value: str) -> str:
        """The words for a row by a name that may be none yet: "album called {album}"."""
        named = self.role == "person" or {self.words.rpartition(" ")[2]} & {*NAMES, *noun.split()}
        return f"{noun} {'called' if named else f'with the {self.words}'} {value}"

    def most(self, noun: str, whose: str) -> str:
        """The words for the row of the greatest value: "longest track of the album {album}"."""
        words, rows = self.words, f"{noun} {whose}".strip()
        if self.role == "moment":
            if words == "date" or (self.deed and self.deed[:4] == noun[:4]):  # an order was ordered
                return f"latest {rows}"
            return (
                f"most recently {self.deed} {rows}"
                if self.deed
                else f"{rows} with the latest {words.removeprefix('last ')}"
            )
        if self._degrees:
            return f"{self._degrees[1]} {rows}"
        counted = f"the most {words.removeprefix('number of ')}"
        return f"{rows} with {counted if self.is_counted else f'the {self._more}est {words}'}"

    @property
    def more(self) -> str:
        """The words for having the greater value: "is longer", "has more points"."""
        if self._degrees:
            return f"is {self._degrees[0]}"
        counted = f"more {self.words.removeprefix('number of ')}"
        return f"has {counted if self.is_counted else f'the {self._more}er {self.words}'}"

    @property
    def _more(self) -> str:
        return "great" if self.role == "measure" else "high"  # a size, a price

    @property
    def _degrees(self) -> tuple[str, str] | None:
        return _DEGREES.get(re.sub(r" in .*|^unit ", "", self.words))


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key. ``noun`` is the noun of the table; ``label`` is the name, without what all
    columns of its table begin with, of the column that names what it refers to.
    """

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...]
    noun: str = ""
    label: str = ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each column with the one to which it leads."""
        return [*zip(self.columns, self.targets, strict=True)]

    @property
    def column(self) -> str:
        """The column that names what it refers to: by its noun, else the last one."""
        return self._naming[0]

    @property
    def _naming(self) -> tuple[str, str]:
        last = self.noun.rpartition("_")[2]
        said = [pair for pair in self.pairs if last in spelled(pair[0]).split("_")]
        return (said or self.pairs)[-1]

    def on(self, alias: str, there: str) -> str:
        """A condition in SQL that the row of an alias refers to the row ``there``."""
        same = (f"{there}.{quoted(to)} = {alias}.{quoted(own)}" for own, to in self.pairs)
        return " AND ".join(same)

    @property
    def role(self) -> str:
        """The part of what it refers to: ``support_rep`` for ``SupportRepId``; the noun where the
        column is called like the key.

        >>> Link(("account_record_id",), "accounts", ("record_id",)).role
        'account'
        >>> Link(("account_model_id",), "app_account_models", ("id",), "account").role
        'account'
        >>> Link(("owner_uid",), "users", ("id",), "user").role
        'owner'
        >>> Link(("scratch_pool_id",), "pools", ("pool_id",), "pool").role
        'scratch_pool'
        >>> Link(("fk_soc",), "societe", ("rowid",), "societe_record").role
        'societe_record'
        """
        name, key = (self.label or snake(self.column)).removeprefix("fk_"), snake(self._naming[1])
        if name == key and self.noun:
            return self.noun
        endings = ("_uid", key, "_id", "_code", "_key", "_no", "_name")
        heads = [name.removesuffix(one).rstrip("_") for one in endings if name.endswith(one)]
        named = [*filter(None, heads), name]
        if self._is_noun(named):
            return self.noun
        role = named[0]
        if role.startswith(f"{self.noun}_") and noun_of(self.table).one.endswith(f"_{role}"):
            return self.noun
        return role if self._is_alone(role, key) or not self.noun else f"{role}_{self.noun}"

    def _is_alone(self, role: str, key: str) -> bool:
        """True for a role that says what it refers to: an owner or assignee, not a scratch pool."""
        kind_of = resolve("synth.ext.authoring.english:kind_of")
        is_noun = role.endswith("ee") or kind_of(role) == "noun"
        whole = key.startswith(f"{self.noun}_") and not is_of_people(self.table)
        return "_" in role or (is_noun and not whole and role not in {"default", "first"})

    def _is_noun(self, names: Sequence[str]) -> bool:
        """True for the noun, its beginning, or its letters: the coa of a chart of accounts."""
        letters = "".join(word[:1] for word in self.noun.split("_"))
        short = len(letters) > 1 and letters in names[-1].split("_")
        bare = self.noun.removesuffix("_record")
        short = short or (len(names[0]) > 2 and "_" not in bare and bare.startswith(names[0]))
        return short or any(noun_of(one).one == self.noun for one in names)

    @property
    def is_plain(self) -> bool:
        """True where the column only names what it refers to."""
        return self.role in {self.noun, self.noun.rpartition("_")[2], self.table}

    @property
    def words(self) -> str:
        """The part as a person says it, in the singular; a beginning of the noun is written out.

        >>> Link(("parent_cat",), "categories", ("id",), "feed_category").words
        'parent category'
        """
        name, nouns = spelled(self.column), self.noun.split("_")
        whole = (
            next((n for n in nouns if len(w) > 2 and is_sayable(w) and n.startswith(w)), w)
            for w in self.role.split("_")
        )
        words = " ".join(whole) if name.isascii() else name
        return noun_of(words.replace(" ", "_")).words if is_plural(words.split()[-1]) else words

    @property
    def is_said(self) -> bool:
        """True for a part that has a name: ``support_rep``, not ``reported_by`` nor ``id``, nor
        what comes last, such as a ``last_post``: a program keeps it.
        """
        ends = {self.role.partition("_")[0], self.role.rpartition("_")[2]}
        return is_sayable(self.words) and ends.isdisjoint({"id", "key", "last", "first", "latest"})


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table. ``handle`` are the columns by which a person names a row; empty if the key does.

    ``partials`` are unique indexes of some rows (columns, condition). ``hidden`` are columns that
    no tool shows, with the reason; ``fillable`` tells that a row can be made without them.
    ``own_noun`` is one that no other table of the database has.
    """

    name: str
    columns: tuple[ColumnShape, ...]
    key: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    uniques: tuple[tuple[str, ...], ...] = ()
    rows: int = 0
    comment: str | None = None
    handle: tuple[str, ...] = ()
    partials: tuple[tuple[tuple[str, ...], str], ...] = ()
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    fillable: bool = True
    own_noun: Noun | None = None

    @property
    def noun(self) -> Noun:
        return self.own_noun or noun_of(self.name)

    def parameter(self, column: str) -> str:
        """The name of a column as a parameter of a tool."""
        return self.column(column).parameter

    def column(self, name: str) -> ColumnShape:
        return next(column for column in self.columns if column.name == name)

    def of_role(self, *roles: Role) -> list[ColumnShape]:
        """The columns of these roles; none with values of several types, but in references."""
        return [
            column
            for column in self.columns
            if column.role in roles and (column.kind != "other" or column.role in _OF_ANY_KIND)
        ]

    def asked(self, *roles: Role) -> list[ColumnShape]:
        """The columns of these roles that a person asks for, or wants changed: no status of the
        monitor status.
        """
        said = [column for column in self.of_role(*roles) if column.is_said]
        own = f"number of {self.noun.plural_words}"
        return [
            one
            for one in said
            if one.words != own and not f" {self.noun.words}".endswith(f" {one.words}")
        ]

    def link_of(self, column: str) -> Link | None:
        found = [link for link in self.links if column in link.columns]
        return min(found, key=lambda link: (len(link.columns), link.column != column), default=None)

    def links_in(self, columns: Container[str]) -> list[Link]:
        """The links whose columns are all among these, no column twice: the widest first."""
        out, bound = list[Link](), set[str]()
        for link in sorted(self.links, key=lambda link: -len(link.columns)):
            if bound.isdisjoint(link.columns) and all(one in columns for one in link.columns):
                out.append(link)
                bound |= {*link.columns}
        return out

    def named_by(self, link: Link) -> bool:
        """True where the link's values tell the rows apart."""
        return any({*columns} <= {*link.columns} for columns in self.distinct_sets)

    @property
    def distinct_sets(self) -> list[tuple[str, ...]]:
        """The columns of the key and of each unique rule, whole or of some rows."""
        found = [self.key, *self.uniques, *(columns for columns, _ in self.partials)]
        return [columns for columns in dict.fromkeys(found) if columns]

    @property
    def found(self) -> list[str]:
        """The columns that a find shows: the key, the name, what tells rows of one name apart."""
        kinds: tuple[Role, ...] = ("status", "link", "moment", "name", "text", "category")
        telling = [column.name for column in self.of_role(*kinds) if column.distinct > 1]
        return list(dict.fromkeys([*self.key, *self.handle, *telling[:3]]))

    @property
    def is_value(self) -> bool:
        """True for a list of values, such as currencies: rows without dates and references that
        are not people.
        """
        people = is_of_people(self.name) or self.of_role("person")
        happens = any(column.kind in {"date", "moment"} for column in self.columns)
        return not (people or happens or self.links)

    @property
    def is_join(self) -> bool:
        """True for a table that only ties rows of others together, or is called after that."""
        tied = self.of_role("key", "link", "audit", "position", "flag", "version", "identifier")
        stamps = [column for column in self.of_role("moment") if _STAMP.match(column.label)]
        told = {one.name for one in (*tied, *stamps)} | {*self.key}
        ties = self.noun.one.rpartition("_")[2] in {"association", "mapping", "relation", "xref"}
        only = ties or len(self.columns) == len(told)
        return len(self.links) > 1 and not self.handle and only

    @property
    def stamps(self) -> list[ColumnShape]:
        """The columns of the day or time at which the create tool makes a row."""
        return [
            column
            for column in self.of_role("moment")
            if column.kind in DATES
            and (column.stamped or (not column.computed and _STAMP.match(column.label)))
        ]

    @property
    def whose(self) -> str:
        """The word for what a row has."""
        owned = any(is_of_people(link.table) for link in self.links)  # a user's address
        people = is_of_people(self.name) or (self.of_role("person") and not owned)
        return "their" if people else "its"

    @property
    def key_words(self) -> str:
        """The word for a key: its number, or its id where it is a text or the rows have numbers."""
        others = {column.words for column in self.columns if column.name not in self.key}
        numbers = {"number", "code", f"{self.noun.words} number", f"{self.noun.words} code"}
        text = any(self.column(name).kind == "text" for name in self.key)
        return "id" if text or numbers & others else "number"


@dataclass(frozen=True, slots=True)
class Shape:
    """The tables of a database by their names."""

    tables: Mapping[str, TableShape] = field(default_factory=dict[str, TableShape])

    def only(self, names: Container[str]) -> Shape:
        """The shape of these tables, without links to others."""
        kept = {name: table for name, table in self.tables.items() if name in names}
        return Shape(
            {
                name: replace(table, links=tuple(one for one in table.links if one.table in kept))
                for name, table in kept.items()
            }
        )

    def children(self, table: str) -> list[tuple[TableShape, Link]]:
        """The tables with a link to a table, and that link."""
        return [
            (child, link)
            for child in self.tables.values()
            for link in child.links
            if link.table == table
        ]
