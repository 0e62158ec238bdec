"""New rows: under a parent, and refused where the name is taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from synth.core.personal.guess import is_of_people
from synth.ext.authoring.names import a, is_sayable, quoted
from synth.ext.authoring.patterns.base import (
    Draft,
    Named,
    Sketch,
    Step,
    ended,
    family,
    joined,
    literal,
    nameable,
    open_only,
    query,
)
from synth.ext.authoring.patterns.values import NOTES, domain_of, is_kind, new_texts
from synth.ext.authoring.shape import ColumnShape, Link, TableShape
from synth.ext.authoring.toolset import closed


@dataclass
class _Plan:
    """The makings of a new row: parents that the user names, and values that vary. ``slots`` maps
    slots to their columns, ``numbers`` those that take the next free number.
    """

    parents: list[tuple[Link, Named]] = field(default_factory=list[tuple[Link, Named]])
    vary: dict[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    arguments: dict[str, object] = field(default_factory=dict[str, object])
    words: list[str] = field(default_factory=list[str])
    numbers: dict[str, str] = field(default_factory=dict[str, str])
    slots: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def references(self) -> dict[str, str]:
        """SQL for the columns that refer to the parents."""
        return {own: one.col(to) for link, one in self.parents for own, to in link.pairs}


def create(sketch: Sketch) -> Iterator[Draft]:
    """Create a row under the parents that the user names."""
    yield from sketch.first(6, (_create(sketch, table) for table in sketch.tables))


def _plan_of(sketch: Sketch, table: TableShape, without: str = "") -> _Plan | None:
    """The plan of a new row; None if a value of it cannot be made up or a parent not be named."""
    plan = _Plan()
    if not (_only_ties(table) or is_sayable(table.noun.words)):
        return None
    given = sketch.tools[table.name].given
    links = {one: link for link in table.links_in(given) for one in link.columns}
    for name in given:
        column, link = table.column(name), links.get(name)
        if name == without or column.parameter in plan.arguments:
            continue
        if link is not None:
            if not _belongs(sketch, table, link, plan):
                return None
            continue
        if table.link_of(name):  # a part of a reference
            return None
        if not _is_given(column):
            return None  # the program makes it, and no person says it
        if column.mark:
            plan.arguments[column.parameter] = column.yes
            plan.words.append(f"marked as {column.sign}")
            continue
        slot, domain = f"new_{column.parameter}", domain_of(table, column, sketch.now)
        plan.slots[slot] = name
        if domain is None:
            return None
        if _is_numbered(table, column):
            plan.numbers[slot] = name
        else:
            plan.vary[slot] = domain
        plan.arguments[column.parameter] = f"{{{slot}}}"
        plan.words.append(_said(column, slot, domain))
    return plan


def _is_given(column: ColumnShape) -> bool:
    """True for a value that a person says: no number for a kind, no reference to what is hidden."""
    numbered = column.role == "category" and column.kind == "integer"
    made = numbered or column.role in {"identifier", "audit", "measure", "link"}
    return not made and is_sayable(column.words)


def _belongs(sketch: Sketch, table: TableShape, link: Link, plan: _Plan) -> bool:
    """Put a new row under what it refers to, if a person can name it: no measurement under the
    measurement.
    """
    parent = Named(sketch.tools[link.table], f"p{len(plan.parents)}", link.role)
    plan.parents.append((link, parent))
    for own, to in link.pairs:
        plan.arguments[table.parameter(own)] = parent.reference(to)
    whole = {*parent.table.key} == {*link.targets} and link.role != table.noun.one
    return whole and nameable(parent.tools)


def _said(column: ColumnShape, slot: str, domain: Mapping[str, object]) -> str:
    """The words for a value that varies; a remark stands in quotation marks."""
    value = column.shown(slot)
    value = f"“{value}”" if domain.get("choice") == [*NOTES] else value
    return f"{column.verb} on {value}" if column.verb else f"{column.words} {value}"


def _is_numbered(table: TableShape, column: ColumnShape) -> bool:
    """True for a whole number that tells rows apart: a new row takes the next one."""
    apart = any(column.name in columns for columns in table.distinct_sets)
    return apart and column.kind == "integer" and not column.choices and column.high is None


def _create(sketch: Sketch, table: TableShape) -> Draft | None:
    tools, noun = sketch.tools[table.name], table.noun
    plan = _plan_of(sketch, table)
    if tools.create is None or plan is None or len(plan.parents) + bool(plan.words) < 2:
        return None  # somebody wants a row of several parents, or of one with values
    free = _free(table, plan, tools.given) if len(plan.parents) < 4 else None  # too many to say
    if free is None:
        return None
    made = {
        f"new_{table.parameter(column)}": f"$.{table.column(column).label}"
        for column in table.key
        if column not in tools.given
    }
    says, replies, tells_key = _tied(plan) if _only_ties(table) else _named(table, plan)
    call: Step = {str(tools.create): plan.arguments}
    if made and tells_key:
        call["save"] = made
        key = f" {table.whose.capitalize()} {table.key_words} is {{{next(iter(made))}}}."
        replies = [reply + key for reply in replies]
    return family(
        "create",
        noun.one,
        f"Create {a(noun.words)} under what it belongs to.",
        _ground(sketch, table, plan, free),
        says,
        [
            *(step for _, parent in plan.parents for step in _checked(parent)),
            call,
            {"say": replies},
        ],
        **({"vary": plan.vary} if plan.vary else {}),
    )


def _only_ties(table: TableShape) -> bool:
    """True for a table that is called after those whose rows it ties: a wishlist item is not."""
    tied = {word for link in table.links for word in link.noun.split("_")}
    return table.is_join and {*table.noun.one.split("_")} <= tied | _TIES


_TIES = frozenset(
    {"assignment", "association", "link", "map", "mapping", "relation", "member", "xref"}
)
"""Words in the names of tables that only tie rows together."""


def _tied(plan: _Plan) -> tuple[list[str], list[str], bool]:
    """Requests for a row that ties others together, and the replies."""
    parents = sorted(plan.parents, key=lambda one: is_of_people(one[1].table.name))
    first, *others = [parent.words for _, parent in parents]
    asked = ", ".join([f"{' and '.join(others)} to {first}", *plan.words])
    replies = [f"Done: I have added {asked}.", f"I have added {asked}, as you asked."]
    return [f"Please add {asked}.", f"Can you add {asked}?"], replies, False


def _named(table: TableShape, plan: _Plan) -> tuple[list[str], list[str], bool]:
    """Requests for a new row, the replies, and whether these are still to tell the key: the row has
    no name.
    """
    noun, words = table.noun.words, [*plan.words]
    new = noun
    name = next((slot for slot, column in plan.slots.items() if (column,) == table.handle), None)
    if name:
        value = f"{{{name}}}"
        new = table.column(table.handle[0]).called(noun, value)
        words = [text for text in words if not text.endswith(f" {value}")]
    owners = [_under(pair) for pair in plan.parents if pair[0].is_plain]
    said = {link.words: one.told for link, one in plan.parents if not link.is_plain}
    maker = said.pop("creator", "")
    others = [" ".join(pair) for pair in said.items()]
    whose = " and ".join(filter(None, [", ".join(owners[:-1]), *owners[-1:]]))
    under, words = f"{new} for {whose}" if owners else new, [*others, *words]
    under += f" on behalf of {maker}" if maker else ""
    details = f": {', '.join(words)}" if words else ""
    says = [
        f"Please add {a(under)}{details}.",
        f"We need a new {under}{details}. Can you enter it?",
    ]
    replies = [f"The {under} has been created{details}.", f"I have created the {under}{details}."]
    return says, replies, name is None


def _checked(parent: Named) -> list[Step]:
    """Steps of gold that look at a parent, and at the state that may close it."""
    shut = closed(parent.table)
    return parent.look({f"{parent.slot}_state": shut[0]}) if shut else parent.read()


def _under(pair: tuple[Link, Named]) -> str:
    """The words for what a new row belongs to."""
    link, parent = pair
    article = "the " if parent.by_name and link.is_said else ""
    return f"{article}{link.words} {parent.told}"


def _ground(sketch: Sketch, table: TableShape, plan: _Plan, free: Sequence[str]) -> str:
    """Every choice of parents, bounded where there are several; those that are ``free``."""
    parents = [parent for _, parent in plan.parents]
    where = [one for parent in parents for one in (*parent.conditions, *open_only(sketch, parent))]
    where += [
        f"EXISTS (SELECT 1 FROM {quoted(table.name)} used WHERE {link.on('used', parent.alias)})"
        for link, parent in plan.parents
        if not free and not table.named_by(link)
    ]
    keys = joined(*(parent.key for parent in parents))
    numbers = [f"({_next(table, plan, one)}) AS {slot}" for slot, one in plan.numbers.items()]
    named = [column for parent in parents for column in parent.select]
    ground = query(
        [f"{keys} AS task_key", *named, *numbers],
        [parents[0].source, *(f"CROSS JOIN {parent.source}" for parent in parents[1:])],
        [*where, *free],
    )
    return ground if len(parents) == 1 else f"{ground}ORDER BY 1 LIMIT 400\n"


def _next(table: TableShape, plan: _Plan, column: str) -> str:
    """SQL for the next number of a column: among the rows of the same parents, if these and the
    number together tell rows apart.
    """
    sets = [set(columns) for columns in table.distinct_sets if column in columns]
    shared = set[str].intersection(*sets)
    same = [
        link.on("taken", parent.alias)
        for link, parent in plan.parents
        if not shared.isdisjoint(link.columns)
    ]
    where = f" WHERE {' AND '.join(same)}" if same else ""
    top = f"SELECT COALESCE(MAX(taken.{quoted(column)}), 0) + 1"
    return f"{top} FROM {quoted(table.name)} taken{where}"


def _free(table: TableShape, plan: _Plan, given: Sequence[str]) -> list[str] | None:
    """Conditions under which a new row is like no other where rows must differ; None if no choice
    of parents sees to that.
    """
    if table.is_join and len({link.table for link, _ in plan.parents}) < len(plan.parents):
        return None  # which of the two is added to the other, only the columns say
    out, numbered = list[str](), set(plan.numbers.values())
    parents = plan.references
    rules = [(columns, "") for columns in dict.fromkeys([*table.uniques, table.key])]
    for columns, where in [*rules, *table.partials]:
        if not table.hidden.keys().isdisjoint(columns):  # a new row leaves such a column out
            continue
        shapes = [table.column(name) for name in columns]
        if any(_is_new(table, column, given, numbered) for column in shapes):
            continue
        same = [f"taken.{quoted(one)} = {parents[one]}" for one in columns if one in parents]
        if not same:
            return None
        rows = " AND ".join([*same, *([f"({where})"] if where else [])])
        out.append(f"NOT EXISTS (SELECT 1 FROM {quoted(table.name)} taken WHERE {rows})")
    return out


def _is_new(
    table: TableShape, column: ColumnShape, given: Sequence[str], numbered: set[str]
) -> bool:
    """True for a column whose value in a new row no other row has: made up, numbered or null."""
    if column.name not in given:
        return column.name in table.key or (column.nullable and not column.has_default)
    made_up = column.kind == "text" and not column.choices and table.link_of(column.name) is None
    return (made_up and not is_kind(table, column)) or column.name in numbered


def refuse_taken(sketch: Sketch) -> Iterator[Draft]:
    """Create a row, or say that there is one of this name."""
    yield from sketch.first(3, (_refuse_taken(sketch, table) for table in sketch.tables))


def _name_column(sketch: Sketch, table: TableShape) -> ColumnShape | None:
    """A text that a new row is given, and that no two rows may share."""
    single = [one[0] for one in [*table.uniques, table.key] if len(one) == 1]
    given = [table.column(name) for name in sketch.tools[table.name].given if name in single]
    texts = [c for c in given if c.kind == "text" and c.role not in {"identifier", "link"}]
    return texts[0] if texts else None


def _refuse_taken(sketch: Sketch, table: TableShape) -> Draft | None:
    tools, column = sketch.tools[table.name], _name_column(sketch, table)
    entity = len(table.columns) > 2 or sketch.shape.children(table.name)  # no name of a setting
    if column is None or tools.create is None or not (entity and is_sayable(column.words)):
        return None
    plan, fresh = _plan_of(sketch, table, column.name), new_texts(table, column)
    if plan is None or plan.parents or plan.numbers or not fresh:
        return None
    return _taken(table, column, tools.create, plan, fresh)


def _taken(
    table: TableShape, column: ColumnShape, tool: str, plan: _Plan, fresh: Sequence[str]
) -> Draft:
    noun, name = table.noun, quoted(column.name)
    slot = f"new_{column.parameter}"
    rows = f"NOT EXISTS (SELECT 1 FROM {quoted(table.name)} WHERE {name} ="
    union = "".join(
        f"UNION ALL SELECT {x}, {x}, 0 WHERE {rows} {x})\n" for x in map(literal, fresh)
    )
    ground = (
        f"SELECT {name} AS task_key, {name} AS {slot}, 1 AS taken FROM {quoted(table.name)}\n"
        f"WHERE {name} IS NOT NULL\n{union}"
    )
    details = f": {', '.join(plan.words)}" if plan.words else ""
    call = {tool: {**plan.arguments, column.parameter: f"{{{slot}}}"}}
    words = column.called(noun.words, f"{{{slot}}}")
    return family(
        "refuse_taken",
        f"{noun.one}_{column.parameter}",
        f"{a(column.words)} that is taken is refused by the tool; a free one is not.",
        ground,
        [f"Please add {a(words)}{details}.", f"Can you enter a new {words}{details}?"],
        [
            {
                "free": [
                    call,
                    *ended(
                        {"outcome": "created"},
                        f"The {words} has been created{details}.",
                        f"I have created the {words}{details}.",
                    ),
                ]
            },
            {
                "taken": [
                    {**call, "fails": "conflict"},
                    *ended(
                        {"outcome": "refused"}, f"I can't do that, as there is already {a(words)}."
                    ),
                ]
            },
        ],
        **({"vary": plan.vary} if plan.vary else {}),
        cases={"free": "taken = 0", "taken": "taken = 1"},
        answer={"outcome": {"enum": ["created", "refused"], "description": "What came of it."}},
    )
