"""The role of each column, inferred once from its name, type, comment, checks and values.

Everything that `synth new` does with a column follows from its role: what a tool sorts, adds up
and changes, what a request asks for, how a new value looks. The rules stand in one table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import yaml
from pydantic import TypeAdapter, ValidationError

from envs.plugins import resolve
from synth.core.personal.guess import is_of_people
from synth.errors import OperatorError
from synth.ext.authoring.names import is_plural, is_sayable, noun_of, spelled
from synth.ext.authoring.providers import ADDRESS_END, STANDARD_END, provider_of
from synth.ext.authoring.shape import ColumnShape, Role, Shape, TableShape
from synth.ext.authoring.snapshot import LiveTable

SUMMED: tuple[Role, ...] = ("money", "quantity", "measure")
"""Roles of numbers that are added up."""

SET: tuple[Role, ...] = ("money", "quantity", "share")
"""Roles of numbers that a person sets; what is measured or counted is as it is."""

COMPARED: tuple[Role, ...] = (*SET, "measure")
"""Roles of numbers that have a highest."""

ASKED: tuple[Role, ...] = ("money", "moment", *COMPARED[1:], "status", "category", "text")
"""Roles of what a person wants to know, the most telling first."""

LONGEST = 60
"""The most characters of a value that a person says in a request."""

FEW = 12
"""The most different values of a column that counts as a choice."""

_NUMBERS = ("integer", "number")
_DATES = ("date", "moment")
_ANY = (*_NUMBERS, *_DATES, "text", "boolean", "other")

_FIRST = re.compile(r"(?:^|_)(?:first|given|fore|f)_?name$")
_LAST = re.compile(r"(?:^|_)(?:last|family|sur|l)_?name$")
_NAMES = """name title full_name real_name display_name label code number reference attribute sku
    isbn email username registration callsign""".split()  # noqa: SIM905
_OF_PEOPLE = frozenset({"email", "username"})
_BY_SUFFIX = re.compile(r"_?(?:name|title|code|number|no)$")
_SECRET = re.compile(
    r"(?:^|_)(?:\w*passw(?:or)?d|pass|pwd|secret|token|salt|pin|(?:api|private|access)_?key|t?otp"
    r"|credential|passphrase)s?(?:_|$)"
)
_VALUE = re.compile(r"(?:^|_)(?:val(?:ue)?s?(?:_\w+)?|content|data)\d*$")
"""Names of columns whose values another column of the row names."""

_PACKED = re.compile(r"\s*(?:[\[{]|a:\d)")
_PACKED_KEY = re.compile(r'"([^"\\]{1,64})"\s*[:;]\s*(?:[si]:)?["\d]')
"""Texts of several values, in JSON or as PHP writes them, and the keys in them."""

_KINDS = (
    "type|kind|category|class|mode|method|gender|sex|genre|role|currency|unit|severity|visibility"
    "|encoding|direction|frequency"
)
"""Names of what sorts rows into a few kinds."""

_PACK = "tags|settings|pref(?:erence)?s|options|params|ids|arg(?:ument)?s|attr(?:ibute)?s|headers"
"""Names of several values in one, be it a text or the bits of a number."""

COUNTED_OFF = re.compile(rf"(?:^|_)(?:{_KINDS}|status|state|level|code|count(?:er)?)$")
"""Names of what has more than two values, though it may be 0 or 1."""

ADDRESS = "its name says an address"

_YES_NO = frozenset({"0", "1", "y", "n", "t", "f", "yes", "no", "true", "false", "on", "off"})


def _is_flag(column: ColumnShape) -> bool:
    """True for numbers and words that say yes or no."""
    values = {str(value).lower() for value in column.seen} - {""}
    return values <= ({"0", "1"} if column.kind == "integer" else _YES_NO)


def _is_switch(column: ColumnShape) -> bool:
    """True for a small number that is 0 or 1 by default, and for a text that is yes or no."""
    known = {"0", "1"} if column.small else _YES_NO - {"0", "1"}
    return column.default.lower() in known and not COUNTED_OFF.search(column.label)


def _is_long_code(column: ColumnShape) -> bool:
    """True for texts that nobody says: digests, links, paths, numbers of many digits."""
    unsaid = re.compile(r"[0-9a-fA-F-]{16,}|\w+://\S*|/\S*/\S*|\d{12,}")
    return bool(column.seen) and all(unsaid.fullmatch(str(value)) for value in column.seen)


def _is_bounded(column: ColumnShape) -> bool:
    """True for a number with decimals or an upper bound over one, or with an unreadable name."""
    above = column.high is not None and column.high > 1
    return column.kind == "number" or above or not column.name.isascii()


def _is_state(column: ColumnShape) -> bool:
    last = column.label.rpartition("_")[2]
    return _is_flag(column) and resolve("synth.ext.authoring.english:kind_of")(last) == "state"


def _is_deed(column: ColumnShape) -> bool:
    """True for a verb and what it is done to: ``follow_redirects``."""
    first, _, rest = column.label.partition("_")
    return resolve("synth.ext.authoring.english:is_verb")(first) and is_plural(rest)


def _is_code_list(column: ColumnShape) -> bool:
    """True for few codes: all of them words in capitals, or all in small letters."""
    codes = [str(value) for value in column.choices]
    return bool(codes) and any(
        all(re.fullmatch(rf"[{letters}\d_.+/-]{{1,16}}", code) for code in codes)
        for letters in ("A-Z", "a-z")
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """A role for columns of these kinds whose name matches, if ``test`` holds."""

    role: Role
    why: str
    kinds: tuple[str, ...]
    name: str = ""
    test: Callable[[ColumnShape], bool] | None = None

    def fits(self, column: ColumnShape) -> bool:
        named = re.search(self.name, column.label) is not None
        return column.kind in self.kinds and named and (self.test is None or self.test(column))


_RULES = (
    _Rule(
        "audit",
        "its name says that the program sets it",
        _ANY,
        r"^(?:last_)?(?:creat|insert|updat|modif|chang|delet|edit)(?:ed|ied|ion|or|e|ing)_?(?:by"
        r"|user\w*)$|^(?:last_)?(?:updated?|modified|changed|edited|inserted)(?:_?(?:at|on|date"
        r"|time|ts|timestamp))?$|^(?:last_)?(?:change|modification|edit)_(?:date|time|ts"
        r"|timestamp)$|^(?:row|record|lock|opt)_?(?:version|stamp|guid|lock)$|^(?:etag|checksum"
        r"|xmin)$|^(?:is_)?deleted(?:_at)?$|^date_(?:modified|updated|changed)$"
        r"|^(?!has_|use_).*_cached?$|^(?:lft|rgt|rght|left|right|tree_id|num_?child)$",
    ),
    _Rule(
        "version",
        "its name",
        (*_NUMBERS, "text"),
        r"(?:^|_)(?:version|revision|rev)(?:_(?:label|name|number|no|string|tag|id))?$",
    ),
    _Rule("flag", "its type", _ANY, "", lambda one: "boolean" in {one.kind, one.declared}),
    _Rule(
        "flag",
        "its name says yes or no",
        ("integer", "text"),
        r"^(?:is|has|was|can|did|use|accept|allow|enable|show|hide|auto|include|requires?)_"
        r"|_(?:flag|only|yn)$|(?:^|_)(?:enabled?|disabled|deleted|active|deactivated|expired"
        r"|hidden|visible|locked?|archived|approved|published|verified|forgotten|[a-z]{3,}[ai]ble"
        r"|admin|default|public|private|read|seen)$",
        _is_flag,
    ),
    _Rule(
        "moment",
        "its type",
        (*_DATES, "text"),
        "",
        lambda one: not {one.kind, one.declared}.isdisjoint(_DATES),
    ),
    _Rule(
        "moment",
        "its values are seconds since 1970",
        _NUMBERS,
        "",
        lambda one: bool(one.seen) and all(abs(float(value)) >= 1e9 for value in one.seen),
    ),
    _Rule(
        "moment",
        "its name",
        _NUMBERS,
        r"(?:^|_)at$|(?<!up|di)date$|_(?:ts|date_?time|timestamp"
        r"|epoch)(?:_ms)?$|^(?:timestamp|epoch|date"
        r"|time|clock|ts|ctime|mtime|atime)$|^date_|(?:^|_)(?:start|stop|end|begin|submi|creat"
        r"|finish|expir|modif)\w*_time$|^(?:last|first|next)_?(?:seen|check\w*|update\w*|change\w*"
        r"|log(?:in|out)|activity|visit)$",
    ),
    _Rule(
        "coordinate",
        "its name",
        _NUMBERS,
        r"(?:^|_)(?:lat|lon|lng|latitude|longitude|[xyz](?:_\dd)?)$",
    ),
    _Rule(
        "position",
        "its name says an order",
        _NUMBERS,
        r"^(?!.*_per_|max_|min_).*(?:^|_)(?:sort|order|ordering|position|pos|ordinal|seq|sequence"
        r"|rank|ranking|idx|index|step|depth|lft|rgt|weight_order|line_?(?:no|number)?"
        r"|prio(?:rity)?|map_index)$|^sort_|^level$",
    ),
    _Rule(
        "category",
        "its name says a kind or a state",
        ("integer",),
        rf"(?:^|_)(?:{_KINDS}|{_PACK}|status|state|flags?|mask|bits|option"
        r"|terms|perms?|permissions?|privs?|privileges?)$",
    ),
    _Rule(
        "measure",
        "its name says what is counted or measured",
        _NUMBERS,
        r"(?:^|_)(?:try|tries|retry|attempt)_(?:no|number)$|(?:^|_)total_bytes$|(?:^"
        r"|_)value_as_number$|(?:^|_)time_(?:\w+(?:ed|en)|left|spent)$|(?:^|_)(?:read|write|run"
        r"|load|wait|idle|cpu|session|response|execution|processing|lead|travel|elapsed"
        r"|\w*work)(?:ing)?_time(?:_|$)",
    ),
    _Rule(
        "code",
        "its name says a code",
        _NUMBERS,
        r"(?:^|_)(?:id|years?|code|no|nr|num|number|zip|postcode|phone|key|ref|serial|by|port|uid"
        r"|gid|pid|oid|hash|crc|color|colour)$|^(?:year|month|day)_|^(?:number|code|no|id"
        r"|fk)_(?!of_|length$)|(?:^|_)(?:month|weekday|quarter)$|(?:^|_)day(?:_(?!rate)|$)",
    ),
    _Rule(
        "share",
        "its name says a part of a whole",
        _NUMBERS,
        r"(?:^|_)(?:pct|perc(?:ent)?|percentage|share|ratio|probability|fraction)(?:_|$)"
        r"|^(?:tax|vat)_rate$",
    ),
    _Rule("measure", "a whole number of things", ("integer",), r"(?:^|_)total$"),
    _Rule(
        "money",
        "its name says an amount",
        _NUMBERS,
        r"(?:^|_)(?:price|amount|amt|cost|total|fee|salary|balance|budget|fare|charge|revenue"
        r"|deposit|payment|wage|premium|discount|freight|paid|copay|tax|subtotal|credit"
        r"|debit|(?:base|room|rental|(?:hour|dai|night|week|month)ly)_rate"
        r"|rate_per_(?:hour|day|night|week|month))s?\d*"
        r"(?:_(?:usd|eur|gbp|chf|cad|aud|jpy|(?:in|ex)cl\w*|before|after|per|due|gross"
        r"|limit|value|start|end|spent|\w+ed)(?:_\w+)?)?$|_cents$",
    ),
    _Rule(
        "measure",
        "its name says what is measured or counted",
        _NUMBERS,
        r"^(?!.*(?:^|_)(?:max|min|high|low|limit|most|least|timeout|interval)(?:_|$)).*(?:^"
        r"|_)(?:duration|length|width|height|\w*size|age|mileage|(?:milli)?seconds|[mu]?sec|bytes"
        r"|distance\w*|ms|kb|mb|value|space|area|bandwidth|mem(?:ory)?|battery|temperature|load"
        r"|\w+_count(?:er)?)(?:_|$)",
    ),
    _Rule(
        "quantity",
        "its name says how many or how much",
        _NUMBERS,
        r"(?:^|_)(?:quantity|qty|stock|count|capacity|slots|timeout|retention|interval|threshold"
        r"|seats?|copies|units?|on_hand|level|points?|hours|minutes|seconds|days|credits?|(?:hour"
        r"|minute|second|day)(?=$)|number_of_\w+|no_of_\w+|beds?|places|reorder_\w+|length|width"
        r"|height|size|age|weight|rating|score|grade|floor|max|min|high|low|most|least|limit|delay"
        r"|ttl|timer|lifetime|speed|rate|brightness|contrast|validity|km|kg)(?:_|$)",
    ),
    _Rule(
        "flag",
        "its check",
        ("integer", "text"),
        "",
        lambda one: len(one.choices) == 2 and _is_flag(replace(one, seen=one.choices)),
    ),
    _Rule("flag", "its name says what is done", ("integer",), "_", _is_deed),
    _Rule("category", "it has few values", _NUMBERS, "", lambda one: bool(one.choices)),
    _Rule("quantity", "a bound or decimals", _NUMBERS, "", _is_bounded),
    _Rule("measure", "its name counts what is there", _NUMBERS, r"^num_"),
    _Rule(
        "measure",
        "a plural, which counts what is there",
        _NUMBERS,
        "",
        lambda one: is_plural(re.sub(r"_[a-z]+ed$", "", one.label).rpartition("_")[2]),
    ),
    _Rule(
        "flag",
        "its values say yes or no",
        ("integer", "text"),
        "",
        lambda column: column.distinct > 1 and _is_flag(column),
    ),
    _Rule("flag", "its name says a state", ("integer",), "", _is_state),
    _Rule(
        "flag",
        "its default says yes or no",
        ("integer", "text"),
        "",
        lambda one: _is_switch(one) and _is_flag(one),
    ),
    _Rule("code", "its name says an address", _NUMBERS, rf"(?:address|server)$|{ADDRESS_END}"),
    _Rule("code", "a number that says no amount", _NUMBERS),
    _Rule("other", "its values are several in one, or of several types", ("other",)),
    _Rule("person", "its name", ("text",), f"{_FIRST.pattern}|{_LAST.pattern}"),
    _Rule(
        "status",
        "its values close a row",
        ("text",),
        "",
        lambda one: bool(closed_states(one.choices)),
    ),
    _Rule("status", "its name", ("text",), r"(?:^|_)(?:status|state|stage|priority|phase)$"),
    _Rule("category", "its check", ("text",), "", lambda column: column.checked),
    _Rule(
        "category",
        "its name",
        ("text",),
        rf"(?:^|_)(?:{_KINDS}|level|rating|condition)$",
    ),
    _Rule(
        "identifier",
        "its name or its values are for programs",
        ("text",),
        r"(?:^|_)(?:id|gid|uuid|guid|ident(?:ifier)?|slug|hash|digest|checksum|md5|sha\d*|url|uri"
        r"|image|picture|photo|avatar|thumbnail|path|file|mime_?type|key|index|cert|source_value"
        r"|zip(?:_?code)?|post_?code)$",
    ),
    _Rule(
        "other",
        "its name says several values in one",
        ("text",),
        rf"(?:^|_)(?:{_PACK}|config|meta(?:data)?|extra|payload|data|json|xml|yaml)$",
    ),
    _Rule("identifier", "its values are for programs", ("text",), "", _is_long_code),
    _Rule("moment", "its name says a time", ("text",), r"(?:^|_)time$"),
    _Rule("category", "its name says a standard", ("text",), STANDARD_END),
    _Rule("identifier", ADDRESS, ("text",), ADDRESS_END),
    _Rule(
        "category",
        "its values are codes",
        ("text",),
        "",
        lambda one: one.small or _is_code_list(one),
    ),
)
"""The first rule that fits decides; a text that fits none is a name or free text."""


_PRESET = _Rule("quantity", "its default is set", _NUMBERS)

_PLUMBING = re.compile(
    r"^(?:schema_(?:migrations?|version|info)|ar_internal_metadata|active_storage_\w+"
    r"|alembic_version|django_(?:admin_log|content_type|migrations|session|site)"
    r"|auth_(?:\w+_)?permissions?|delayed_jobs?|failed_jobs|job_batches"
    r"|migrations?|sessions?|cache(?:_\w+)?|\w+_cache|oauth\w*|flyway_\w+"
    r"|database_?changelog(?:_?lock)?|knex_\w+|personal_access_tokens|queue_\w+|update_?log)$"
)


def is_plumbing(table: str) -> bool:
    """True for a table that a framework keeps for itself, by its name."""
    return _PLUMBING.search(spelled(table)) is not None


def secrets_of(table: LiveTable, values: Mapping[str, Collection[object]]) -> set[str]:
    """The columns of a table that no tool shows: no flags, nor numbered keys and references."""
    named = table.bound.union(table.key)
    plain = {c.name for c in table.columns if c.type != "TEXT"}
    flags = {c.name for c in table.columns if c.type == "BOOLEAN"}
    shown = {name: own for name, own in values.items() if name not in flags | (named & plain)}
    return secret_columns(shown, plain)


def secret_columns(
    values: Mapping[str, Collection[object]], plain: Container[str] = ()
) -> set[str]:
    """The secret ones of some columns with their values.

    A column is secret by its name, by a key in its texts, or because it holds the values of what
    another column names: ``parameter_value`` beside a ``parameter_name`` that is ``password``.
    Of ``plain`` columns, numbers and days, the name has to end so: a ``pin`` is one, but neither
    ``secret_count`` nor ``password_changed_at``.
    """
    naming = {column for column, own in values.items() if any(map(_names_secret, own))}
    return {
        column
        for column, own in values.items()
        if (
            ((found := _SECRET.search(spelled(column))) and (column not in plain or _is_one(found)))
            or any(map(_packs_secret, own))
            or (_VALUE.search(spelled(column)) and naming - {column})
        )
    }


def _is_one(found: re.Match[str]) -> bool:
    """True for a name that ends with one secret: ``tokens`` that are a number are counted."""
    return found.end() == len(found.string) and not is_plural(found[0].rpartition("_")[2])


def _names_secret(value: object) -> bool:
    name = isinstance(value, str) and re.fullmatch(r"[\w.:/${}-]{2,64}", value)
    return bool(name) and _SECRET.search(spelled(str(value))) is not None


def _packs_secret(value: object) -> bool:
    packed = isinstance(value, str) and _PACKED.match(value)
    return bool(packed) and any(map(_names_secret, _PACKED_KEY.findall(str(value))))


def with_roles(table: TableShape, given: Mapping[str, Role] | None = None) -> TableShape:
    """A table whose columns have their roles, and its handle. ``given`` are roles that the author
    has set, by column.
    """
    given = given or {}
    columns = tuple(_with_role(table, column, given.get(column.name)) for column in table.columns)
    shaped = replace(table, columns=columns)
    is_past = "histor" in noun_of(table.name).one  # what was has no name
    return replace(shaped, handle=() if is_past else _handle(shaped))


def _with_role(table: TableShape, column: ColumnShape, given: Role | None) -> ColumnShape:
    if given is not None:
        return replace(column, role=given, why="roles.yaml")
    if table.link_of(column.name) is not None:
        return replace(column, role="link", why="a foreign key")
    if column.name in table.key and column.kind != "text":
        return replace(column, role="key", why="a key")
    found = _rule_for(table, column)
    if column.kind == "text" and _is_name(table, column, found):
        return replace(column, role="name", why="its name")
    if found is None and _REGISTERED.search(column.label):
        return replace(column, role="code", why="its name says a number")
    if found is not None and found.role in SUMMED and _is_apart(table, column):
        return replace(column, role="position", why="it tells rows apart, with others")
    role, why = (found.role, found.why) if found else _text_role(table, column)
    return replace(column, role=role, why=why)


def _is_name(table: TableShape, column: ColumnShape, found: _Rule | None) -> bool:
    """True for a text that names its row, be it an address or of a few kinds by a rule."""
    address = found is not None and found.why == ADDRESS
    free = found is None or found.role == "category" or address
    form = column.label == "title" and any(_LAST.search(one.label) for one in table.columns)
    naming = column.label in _name_order(table) or (address and column.unique)
    return free and naming and not (column.checked or form)


def _text_role(table: TableShape, column: ColumnShape) -> tuple[Role, str]:
    """The role of a text that no rule tells, and why."""
    if provider_of(table, column) is None and not is_sayable(column.words):
        return "identifier", "its name is not what a person says"
    if table.key == (column.name,):
        return "name", "a key that is a text"
    if _is_apart(table, column):
        return "identifier", "it tells rows apart, with others"
    return "text", "a text"


def _is_apart(table: TableShape, column: ColumnShape) -> bool:
    """True for a column that tells rows apart, with others."""
    return any(one[1:] and column.name in one for one in table.distinct_sets)


def _rule_for(table: TableShape, column: ColumnShape) -> _Rule | None:
    """The rule that decides; of values of several types the type decides that most of them have."""
    meant = column
    if column.kind == "other":
        numeric = column.declared in {"integer", "number"}
        seen = tuple(one for one in column.seen if not (numeric and isinstance(one, str)))
        meant = replace(column, kind=column.declared, seen=seen)
    found = next((rule for rule in _RULES if rule.fits(meant)), None)
    preset = meant.default.isdecimal() and int(meant.default) > 1  # what is counted starts at none
    if found is not None and found.role == "measure" and preset:
        return _PRESET
    region = found is not None and found.role == "status" and _is_region(table, column)
    return None if region else found


_REGISTERED = re.compile(
    r"^(?!.*(?:phone|mobile|fax)).*(?:^|_)"
    r"(?:number|num|no|nr|code|port|serial|sku|upc|barcode|ean|gtin|vin|iban|symbol)$"
)
"""Names of texts by which something is registered: of a lot, a document, an account."""

_PLACE = re.compile(r"city|town|zip|postal|post_?code|country|street|address")


def _is_region(table: TableShape, column: ColumnShape) -> bool:
    """True for a state that is a part of a country: it stands beside a place."""
    others = any(_PLACE.search(one.label) for one in table.columns)
    return column.label.endswith("state") and not column.checked and others


def _name_order(table: TableShape) -> Mapping[str, int]:
    one = noun_of(table.name).one
    last = one.rpartition("_")[2]
    prefixes = dict.fromkeys((table.noun.one, one, last))
    own = [f"{prefix}_{name}" for prefix in prefixes for name in ("name", "title")]
    codes = [f"{prefix}_{name}" for prefix in prefixes for name in ("code", "number", "no")]
    people = is_of_people(table.name)
    plain = [name for name in _NAMES[5:] if people or name not in _OF_PEOPLE]
    nouns = [word for word in (one, last) if not _VALUE.search(word)]
    ordered = [*_NAMES[:5], *own, *nouns, *plain, *codes]
    rest = [
        column.label
        for column in table.columns
        if (found := _BY_SUFFIX.search(column.label))
        and (column.unique or column.label[: found.start()] in one)
    ]
    return {name: place for place, name in reversed([*enumerate([*ordered, *rest])])}


def _handle(table: TableShape) -> tuple[str, ...]:
    """The columns by which a person names a row; empty if only the key does.

    A column counts if most rows have a value of their own in it, short enough to be said.
    """
    people = {column.label: column for column in table.of_role("person")}
    pair = [
        next((column for label, column in people.items() if pattern.search(label)), None)
        for pattern in (_FIRST, _LAST)
    ]
    names = [column.name for column in pair if column is not None]
    if len(names) == 2:
        return tuple(names)
    order = _name_order(table)
    fitting = [column for column in table.of_role("name") if _sayable(column, table.rows)]
    other = {column: len(order) for column in table.key}  # after what is called a name
    for column in sorted(fitting, key=lambda c: order.get(c.label, other.get(c.name, -1))):
        return (column.name,)
    telling = [column for column in table.columns if column.role not in {"key", "audit", "flag"}]
    texts = [
        column
        for column in table.of_role("text", "category")
        if (column.unique and column.role == "text") or telling == [column]
    ]
    return (texts[0].name,) if texts and _sayable(texts[0], table.rows) else ()


def _sayable(column: ColumnShape, rows: int) -> bool:
    texts = [str(value) for value in column.seen]
    fine = [t for t in texts if 1 < len(t) <= LONGEST and t == t.strip() and "\n" not in t]
    most = 0.5 * max(1, rows - column.nulls)
    return bool(texts) and len(fine) >= 0.8 * len(texts) and column.distinct >= most


CLOSED = frozenset(
    """cancelled canceled closed done completed complete delivered returned discharged finished
    archived retired inactive lost sold refunded resolved rejected departed arrived landed graduated
    expired withdrawn dropped void settled shipped paid paid_off committed posted captured success
    succeeded merged deceased terminated fulfilled reversed""".split()  # noqa: SIM905
)
"""States after which a row is not changed any more."""


def closed_states(choices: Iterable[object]) -> list[str]:
    return [str(choice) for choice in choices if str(choice).lower().replace(" ", "_") in CLOSED]


Roles = Mapping[str, Mapping[str, Role]]
"""Roles by table and column."""

_HEAD = """\
# What `synth new` took each column for. Correct a role and make the world again with
# --roles FILE. Roles: {roles}.
"""


def write_roles(shape: Shape) -> str:
    """The text of roles.yaml: the role of each column."""
    known = {
        name: {column.name: str(column.role) for column in table.columns}
        for name, table in shape.tables.items()
    }
    body = yaml.safe_dump(known, allow_unicode=True, sort_keys=False)
    return _HEAD.format(roles=", ".join(sorted(get_args(Role)))) + body


def read_roles(text: str, place: str) -> Roles:
    """The roles that a file sets. Raises OperatorError for a file that is none, or another role."""
    try:
        found: object = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise OperatorError(f"{place} is not YAML: {error}") from error
    try:
        return TypeAdapter(dict[str, dict[str, Role]]).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise OperatorError(f"{place}: {where}: {first['msg']}") from error


def explained(shape: Shape) -> list[str]:
    """A line for each column: its role, and what it was inferred from."""
    return [
        f"{name}.{column}: {role} ({why})"
        for name, table in shape.tables.items()
        for column, role, why in (
            *((one.name, one.role, one.why) for one in table.columns),
            *((one, "secret", why) for one, why in table.hidden.items()),
        )
    ]
