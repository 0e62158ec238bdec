"""The role of a column, by its name, its kind and its content; the columns that name a row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from synth.ext.authoring.names import noun_of
from synth.ext.authoring.shape import ColumnShape, Role, TableShape

_MONEY = re.compile(
    r"(?:^|_)(?:price|amount|cost|total|fee|salary|balance|budget|fare|charge|revenue|deposit"
    r"|payment|wage|premium|discount|freight)s?(?:_|$)"
)
_QUANTITY = re.compile(
    r"(?:^|_)(?:quantity|qty|stock|count|capacity|seats?|copies|units?|on_hand|level|points?|hours"
    r"|minutes|days|credits?|number_of_\w+|beds?|places|reorder_\w+|duration|length|size|age|weight"
    r"|mileage|milliseconds|bytes|rating|score|grade|floor|distance\w*)(?:_|$)"
)
_STATUS = re.compile(r"(?:^|_)(?:status|state|stage|priority|condition|phase)$")
_CATEGORY = re.compile(r"(?:^|_)(?:kind|type|category|class|level|genre|rating|method|mode)$")
_CODE = re.compile(
    r"(?:^|_)(?:id|years?|code|no|nr|num|number|zip|postcode|phone|version|rank|key|ref|by)$"
    r"|^(?:year|number|code|no|id)_"
)
_FLAG = re.compile(r"^(?:is|has|was|can|did)_|_flag$")
_FIRST = re.compile(r"^(?:first|given|fore)_?name$")
_LAST = re.compile(r"^(?:last|family|sur)_?name$")
_NAMES = (
    "name",
    "title",
    "full_name",
    "label",
    "code",
    "number",
    "reference",
    "sku",
    "isbn",
    "email",
    "username",
    "registration",
    "callsign",
)
_BY_SUFFIX = re.compile(r"_(?:name|title|code|number|no)$")

LONGEST = 60
"""The most characters of a value that a person says in a request."""

FEW = 12
"""The most different values of a column that counts as a choice."""


def with_roles(table: TableShape) -> TableShape:
    """A table whose columns have their roles, and its handle."""
    columns = tuple(replace(column, role=_role(table, column)) for column in table.columns)
    shaped = replace(table, columns=columns)
    return replace(shaped, handle=_handle(shaped))


def _role(table: TableShape, column: ColumnShape) -> Role:
    name = column.label
    if table.link_of(column.name) is not None:
        return "link"
    if _is_key(table, column):
        return "key"
    if column.kind in {"date", "moment"}:
        return "date"
    if column.kind in {"integer", "number"}:
        return _role_of_number(column)
    if column.kind != "text":
        return "other"
    if _FIRST.match(name) or _LAST.match(name):
        return "person"
    if column.choices and (column.checked or _STATUS.search(name) or _CATEGORY.search(name)):
        return "status"
    return "name" if name in _name_order(table) else "text"


def _is_key(table: TableShape, column: ColumnShape) -> bool:
    own = column.name in table.key and (column.kind != "text" or len(table.key) > 1)
    return own or column.name in table.joint


def _role_of_number(column: ColumnShape) -> Role:
    name = column.label
    flag = column.distinct <= 2 and set(column.seen) <= {0, 1}
    if column.choices or _is_code(name) or _FLAG.search(name) or _is_long(column):
        return "other"
    if flag and not _QUANTITY.search(name):
        return "other"
    if _MONEY.search(name):
        return "money"
    return "quantity"


def _is_long(column: ColumnShape) -> bool:
    """True for numbers of ten digits and more, such as seconds since 1970, which nobody says."""
    return bool(column.seen) and all(abs(float(value)) >= 1e9 for value in column.seen)


def _is_code(name: str) -> bool:
    """True for a number that names or places something, which nobody adds up or compares."""
    return bool(_CODE.search(name)) and not name.startswith(("number_of_", "no_of_"))


def _name_order(table: TableShape) -> list[str]:
    one = noun_of(table.name).one
    last = one.rpartition("_")[2]
    prefixes = dict.fromkeys((one, last))
    own = [f"{prefix}_{name}" for prefix in prefixes for name in ("name", "title")]
    codes = [f"{prefix}_{name}" for prefix in prefixes for name in ("code", "number", "no")]
    ordered = [*_NAMES[:3], *own, *_NAMES[3:], *codes]
    rest = [column.label for column in table.columns if _BY_SUFFIX.search(column.label)]
    return list(dict.fromkeys([*ordered, *rest]))


def _handle(table: TableShape) -> tuple[str, ...]:
    """The columns by which a person names a row; empty if only the key does.

    A column counts if most rows have a value of their own in it, short enough to be said.
    """
    people = {column.label: column for column in table.of_role("person")}
    pair = [
        next((column for label, column in people.items() if pattern.match(label)), None)
        for pattern in (_FIRST, _LAST)
    ]
    names = [column.name for column in pair if column is not None]
    if len(names) == 2:
        return tuple(names)
    order = _name_order(table)
    fitting = [column for column in table.of_role("name") if _sayable(column, table.rows)]
    for column in sorted(fitting, key=lambda one: order.index(one.label)):
        return (column.name,)
    unique = [column for column in table.of_role("text") if column.unique]
    return (unique[0].name,) if unique and _sayable(unique[0], table.rows) else ()


def _sayable(column: ColumnShape, rows: int) -> bool:
    texts = [str(value) for value in column.seen]
    fine = [text for text in texts if _is_plain(text)]
    most = 0.5 * max(1, rows - column.nulls)
    return bool(texts) and len(fine) >= 0.8 * len(texts) and column.distinct >= most


def _is_plain(text: str) -> bool:
    return 1 < len(text) <= LONGEST and text == text.strip() and "\n" not in text


CLOSED = frozenset(
    """cancelled canceled closed done completed complete delivered returned discharged finished
    archived retired inactive lost sold refunded resolved rejected departed arrived landed graduated
    expired withdrawn dropped void settled shipped paid_off""".split()  # noqa: SIM905
)
"""States after which a row is not changed any more."""


def closed_states(choices: Iterable[object]) -> list[str]:
    return [str(choice) for choice in choices if str(choice).lower().replace(" ", "_") in CLOSED]
