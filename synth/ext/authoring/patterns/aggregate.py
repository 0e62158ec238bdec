"""Lists, counts, sums and greatest values over the rows of one parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from synth.ext.authoring.names import Noun, be, is_sayable, noun_of, parameter, quoted
from synth.ext.authoring.patterns.answers import field_of
from synth.ext.authoring.patterns.base import Draft, Named, Sketch, Step, ended, family, nameable
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import TableTools, closed

SHORT = 12
"""The most rows of a list that a reply names."""


@dataclass(frozen=True, slots=True)
class Children:
    """The rows of a parent that a person names, in SQL under the alias c. ``is_owned`` is true for
    "orders of the customer", and false where the parent is a value: "orders whose currency is ...".
    """

    tools: TableTools
    parent: Named
    link: Link
    is_owned: bool

    @property
    def table(self) -> TableShape:
        return self.tools.table

    @property
    def noun(self) -> Noun:
        return self.tools.table.noun

    @property
    def whose(self) -> str:
        """The words for the parent: "of the customer Anna", "whose support rep is Anna", "of
        message number 3".
        """
        parent = self.parent
        if self.is_owned:
            return f"of {parent.words}"
        if parent.by_name or len(self.link.targets) > 1:
            said = parent.value if parent.by_name else parent.words
            return (
                f"in {said}"
                if self.link.words == "currency"
                else f"whose {self.link.words} is {said}"
            )
        return f"of {self.link.words} {parent.told}"

    @property
    def is_sparse(self) -> bool:
        """True where hardly a parent has two rows."""
        column = self.table.column(self.link.column)
        return 2 * (self.table.rows - column.nulls) < 3 * column.distinct

    @property
    def words(self) -> str:
        """The words for the rows: "tracks of the album {album}"."""
        return f"{self.noun.plural_words} {self.whose}"

    def named(self, *parts: str) -> str:
        return "_".join(map(parameter, (self.parent.table.noun.one, *parts)))

    @property
    def suffix(self) -> str:
        return "" if self.link.is_plain else f"_{self.link.role}"

    @property
    def source(self) -> str:
        """SQL for the rows."""
        return f"FROM {quoted(self.table.name)} c WHERE {self.link.on('c', self.parent.alias)}"

    def ground(self, where: Sequence[str] = (), *select: str, least: int = 1) -> str:
        """The parents that have some rows, but few."""
        few = f"(SELECT COUNT(*) {self.source}) BETWEEN {least} AND {SHORT}"
        return self.parent.ground([*self.parent.hidden, *select], [few, *where])

    def listed(
        self, save: Mapping[str, str], arguments: Mapping[str, object], *, changes: bool = False
    ) -> list[Step]:
        """Steps of gold that list the rows; what ``changes`` them looks at the parent's state."""
        shut = closed(self.parent.table) if changes else None
        state = {f"{self.parent.slot}_state": shut[0]} if shut else {}
        own = {self.table.parameter(one): self.parent.reference(to) for one, to in self.link.pairs}
        return [
            *(self.parent.look(state) if state else self.parent.find()),
            {str(self.tools.list_): {**own, **arguments}, "save": dict(save)},
        ]

    def oracle(self, select: str, more: str = "") -> str:
        keys = [f"{quoted(one)} = :{self.parent.oracle_key(to)}" for one, to in self.link.pairs]
        where = " AND ".join(keys)
        return f"SELECT {select} FROM {quoted(self.table.name)} WHERE {where}{more}"

    def known(self, *columns: ColumnShape) -> list[str]:
        """Conditions that no row is without a value of these columns."""
        own = [f"c.{quoted(column.name)}" for column in columns if column.nullable]
        return [f"NOT EXISTS (SELECT 1 {self.source} AND {one} IS NULL)" for one in own]

    def first_by(self) -> ColumnShape | None:
        """A column by which rows have a first: a number, else a moment."""
        sorts = map(self.table.column, self.tools.sorts)
        columns = sorted(sorts, key=lambda column: column.role == "moment")
        said = (one for one in columns if one.distinct > 2 and (one.is_said or one.deed))
        return next((one for one in said if not one.words.startswith("first ")), None)

    def first(self, by: ColumnShape) -> str:
        """SQL for the rows with the greatest value."""
        name = f"c.{quoted(by.name)}"
        return f"{self.source} AND {name} = (SELECT MAX({name}) {self.source})"


def families_of(sketch: Sketch) -> list[Children]:
    """Parents that a person can name, with a child of which they may have several, and its link."""
    found = [
        Children(
            sketch.tools[child.name],
            Named(sketch.tools[parent.name], "p"),
            link,
            link.is_plain and not (parent.is_value and _has_owner(sketch, child)),
        )
        for parent in sketch.tables
        for child, link in sketch.shape.children(parent.name)
        if child.column(link.column).distinct
        and not child.named_by(link)
        and {*link.columns} <= {*sketch.tools[child.name].filters}
        and not child.is_join
        and is_sayable(child.noun.words)
        and nameable(sketch.tools[parent.name])
        and {*parent.key} == {*link.targets}
        and link.is_said
    ]
    return sorted(
        found, key=lambda one: (not one.parent.by_name, one.is_sparse, not one.table.handle)
    )


def _has_owner(sketch: Sketch, child: TableShape) -> bool:
    """True for rows that refer to more than values."""
    return not all(sketch.shape.tables[link.table].is_value for link in child.links)


def list_children(sketch: Sketch) -> Iterator[Draft]:
    """Name all rows of a parent."""
    yield from sketch.first(3, map(_list, families_of(sketch)))


def count_children(sketch: Sketch) -> Iterator[Draft]:
    """Count the rows of a parent, or those in one state."""
    yield from sketch.first(3, map(_count, families_of(sketch)))


def sum_children(sketch: Sketch) -> Iterator[Draft]:
    """Add up a column over the rows of a parent."""
    yield from sketch.first(3, map(_sum, families_of(sketch)))


def greatest_child(sketch: Sketch) -> Iterator[Draft]:
    """Find the row of a parent with the greatest value."""
    yield from sketch.first(3, map(_greatest, families_of(sketch)))


def _shown(rows: Children) -> tuple[ColumnShape, str] | None:
    """The column by which a reply tells the rows of one parent apart, and its words."""
    table = rows.table
    names = table.handle or [one for one in table.key if one not in rows.link.columns]
    if len(names) != 1:
        return None
    column = table.column(names[0])
    return column, column.words if table.handle else table.key_words


def _list(rows: Children) -> Draft | None:
    shown = _shown(rows)
    if shown is None:
        return None
    column, many = shown[0], parameter(rows.noun.many)
    names = noun_of(shown[1].replace(" ", "_")).plural_words
    named = rows.noun.words.endswith(shown[1])  # the chapters of catalog chapters
    asked = rows.words if named else f"{names} of the {rows.words}"
    return family(
        "list_children",
        f"{rows.named(many)}{rows.suffix}",
        f"List the {rows.noun.plural_words} of one {rows.parent.table.noun.words}.",
        rows.ground(rows.known(column), least=2),
        [
            f"What are the {asked}?",
            f"Please list the {rows.words}{'' if named else f'; the {names} will do'}.",
        ],
        [
            *rows.listed({many: f"$.{rows.noun.many}[*].{column.label}", "number": "$.count"}, {}),
            *ended({many: f"${many}"}, *_replies(rows, many)),
        ],
        answer={
            many: {
                "type": "array",
                "items": "integer" if column.kind == "integer" else "string",
                "compare": "bag",
                "description": f"The {shown[1]} of each {rows.noun.words}.",
            }
        },
        oracle={many: rows.oracle(quoted(column.name))},
    )


def _replies(rows: Children, many: str) -> list[str]:
    """Replies that name all rows."""
    holder = rows.parent.words
    own = f"{holder} has {{number}} {rows.noun.plural_words}: {{{many}}}."
    said = [
        f"I found {{number}} {rows.words}: {{{many}}}.",
        f"These are the {rows.words}, {{number}} in all: {{{many}}}.",
    ]
    return [*said, own] if rows.is_owned else said


def _count(rows: Children) -> Draft | None:
    filters = [rows.table.column(name) for name in rows.tools.filters]
    state = next((column for column in filters if column.is_choice), None)
    flag = next((column for column in filters if column.mark), None)
    more, vary, arguments, some = "", {}, dict[str, object](), list[str]()
    many = parameter(rows.noun.many)
    counted, state_of = rows.noun.plural_words, ""
    if state and rows.is_owned:
        vary = {"vary": {"wanted": {"choice": list(state.choices)}}}
        more = f" AND {quoted(state.name)} = :wanted"
        arguments = {state.parameter: "{wanted}"}
        state_of = f" with the {state.words} {{wanted}}"
    elif flag:
        more = f" AND {flag.is_set(quoted(rows.table.name))}"
        some = [f"EXISTS (SELECT 1 {rows.source} AND {flag.is_set('c')})"]
        arguments = {flag.parameter: flag.yes}
        counted = f"{flag.mark} {counted}"
    words, holder = f"{counted} {rows.whose}", rows.parent.words
    asked = [f"How many {words} are there?", f"I need the number of {words}."]
    said = [f"I found {{{many}}} {words}.", f"The number of {words} is {{{many}}}."]
    if rows.is_owned:
        counted += state_of
        has, asked = f"how many {counted} {holder} has", [f"How many {counted} does {holder} have?"]
        asked += [f"I need to know {has}.", f"Can you tell me {has}?"]
        said = [
            f"{holder} has {{{many}}} {counted}.",
            f"I found {{{many}}} {counted} for {holder}.",
        ]
    return family(
        "count_children",
        f"{rows.named(rows.noun.many)}{rows.suffix}",
        f"Count the {rows.noun.plural_words} of one {rows.parent.table.noun.words}.",
        rows.ground(some, least=2).replace(f"AND {SHORT}", "AND 200"),
        asked,
        [
            *rows.listed({"count": "$.count", many: "$.count"}, arguments),
            *ended({"count": "$count"}, *said),
        ],
        **vary,
        answer={"count": {"type": "integer", "description": f"How many {rows.noun.plural_words}."}},
        oracle={"count": rows.oracle("COUNT(*)", more)},
    )


def _sum(rows: Children) -> Draft | None:
    columns = [rows.table.column(name) for name in rows.tools.totals]
    column = next((c for c in columns if c.distinct > 1), None)
    if column is None:
        return None
    total, verb = f"total_{column.parameter}", be(column.words)
    summed = [one for one in column.words.split() if one != "total"]
    words = " ".join(["total", *summed, "of all", rows.words])
    many = parameter(rows.noun.many)
    over = f"{{{many}}} {rows.noun.plural_words}"
    return family(
        "sum_children",
        rows.named(rows.noun.many, column.parameter),
        f"Add up the {column.words} of the {rows.noun.plural_words} of a row.",
        rows.ground(rows.known(column), least=2),
        [f"What {verb} the {words}?", f"I need the {words}."],
        [
            *rows.listed({total: f"$.total_{column.label}", many: "$.count"}, {}),
            *ended(
                {total: f"${total}"},
                f"The {words} {verb} {column.shown(total)}; there are {over}.",
                f"There are {over}; the {words} {verb} {column.shown(total)}.",
            ),
        ],
        answer={total: {**field_of(column), "description": f"The sum of the {column.words}."}},
        oracle={total: rows.oracle(f"SUM({quoted(column.name)})")},
    )


def _fact(by: ColumnShape, own: str) -> str:
    """The end of a reply: the greatest value of a row, in its ``own`` words."""
    figure = by.shown("figure")
    if by.verb:
        return f", {by.verb} on {figure}"
    it = "they have" if own.startswith("their") else "it has"
    return f"; {it if by.is_counted else f'{own} {be(by.words)}'} {figure}"


def _greatest(rows: Children) -> Draft | None:
    by, shown, noun = rows.first_by(), _shown(rows), rows.noun
    if by is None or shown is None:
        return None
    answer = f"{noun.one}_found"
    first = by.most(noun.words, rows.whose)
    which, _, what = first.rpartition(" with ")
    found = f"which {which} has {what}" if which else f"what is the {first}"
    wanted, asked, fact = {answer: shown[0]}, f"{rows.table.whose} {shown[1]}", ""
    if by.is_said:  # seconds since 1970 are not
        wanted["figure"] = by
        it_was = "they were" if rows.table.whose == "their" else "it was"
        own = f"{rows.table.whose} {by.words}"
        asked += f" and when {it_was} {by.verb}" if by.verb else f" and {own}"
        fact = _fact(by, own)
    # a number beside another says which is which only by its place
    it = f"{'' if shown[0].kind == 'text' else f'{shown[1]} '}{{{answer}}}"
    return family(
        "greatest_child",
        rows.named(noun.one, by.parameter),
        f"Sort the {noun.plural_words} of one {rows.parent.table.noun.words} by {by.words}.",
        rows.ground(
            [f"(SELECT COUNT(*) {rows.first(by)}) = 1", *rows.known(by, shown[0])], least=2
        ),
        [
            f"{found}? I need {asked}.",
            f"Please find {f'out {found}' if which else f'the {first}'} and tell me {asked}.",
        ],
        [
            *rows.listed(
                {one: f"$.{noun.many}[0].{of.label}" for one, of in wanted.items()},
                {"order_by": by.label, "descending": True},
            ),
            *ended(
                {one: f"${one}" for one in wanted},
                f"the {first} is {it}{fact}.",
                f"{it} is the {first}{fact}.",
            ),
        ],
        answer={one: field_of(of) for one, of in wanted.items()}
        | {answer: {**field_of(shown[0]), "description": f"The {shown[1]} of the {noun.words}."}},
        oracle={
            one: rows.oracle(quoted(of.name), f" ORDER BY {quoted(by.name)} DESC LIMIT 1")
            for one, of in wanted.items()
        },
    )
