"""Names of tables and columns as words, and as identifiers that every tool and language takes.

Words keep a name in its own letters; an identifier is transliterated, cut and made distinct.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile
from typing import Any

from anyascii import anyascii
from sqlalchemy.dialects.mysql.reserved_words import RESERVED_WORDS_MARIADB, RESERVED_WORDS_MYSQL
from sqlalchemy.dialects.postgresql.base import RESERVED_WORDS
from sqlalchemy.dialects.sqlite.base import SQLiteIdentifierPreparer

from envs import quoting
from envs.plugins import resolve

_TAKEN = frozenset({"db", "limit", "offset", "order_by", "descending", "records", "sql", "found"})
"""Names that tools use themselves."""

_RESERVED = (
    RESERVED_WORDS
    | RESERVED_WORDS_MARIADB
    | RESERVED_WORDS_MYSQL
    | SQLiteIdentifierPreparer.reserved_words
)


TOOL_NAME = 64
"""The most characters of a tool's name, for OpenAI and Anthropic alike."""

_LABEL = 48
"""The most characters of an identifier that a prefix may still be added to."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing in one and in many: ``track`` and ``tracks``, in snake case, and in words."""

    one: str
    many: str
    words: str
    plural_words: str


def _english() -> Any:
    return resolve("synth.ext.authoring.english:FORMS")


_GLUED = re.compile(r"[a-z]{6,}")
"""What may be several words of a name in one."""


def _apart(glued: re.Match[str]) -> str:
    return "_".join(resolve("synth.ext.authoring.english:words_of")(glued[0]))


@cache
def snake(name: str) -> str:
    """A name as an identifier in snake case: ``AlbumId`` becomes ``album_id``, ``Länge [m]``
    ``lange_m``, ``3pt_pct`` ``n_3pt_pct``.
    """
    plain = spelled(anyascii(name)) or "value"
    return shortened(f"n_{plain}" if plain[0].isdigit() else plain, _LABEL)


@cache
def spelled(name: str) -> str:
    """The words of a name in its own letters and lower case, joined by underscores.

    >>> spelled("lastLogin"), spelled("borrowernumber"), spelled("kubernetes")
    ('last_login', 'borrower_number', 'kubernetes')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+", "_", name)
    return _GLUED.sub(_apart, spaced.strip("_").lower())


def shortened(name: str, most: int) -> str:
    """The name, cut to ``most`` characters; what is cut off is told by a digest."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: most - 9].rstrip('_')}_{digest}"


def labels(columns: Iterable[str], links: Collection[str] = ()) -> dict[str, str]:
    """An identifier for each column of a table, no two of them the same parameter."""
    out, taken = dict[str, str](), set[str]()
    for column, bare in bare_columns(columns, links).items():
        label, number = snake(bare), 2
        while parameter(label) in taken:
            label, number = f"{snake(column)}_{number}", number + 1
        taken.add(parameter(label))
        out[column] = label
    return out


_WITH_PLURAL = {
    "staff_member": "staff personnel",
    "{}_file": "media",
    "crew_member": "crew",
    "person": "people",
    "{}_item": "equipment furniture luggage baggage hardware merchandise news clothing",
    "{}_record": "info information traffic research maintenance history",
}
_UNCOUNTABLE = {
    word: one.format(word) for one, words in _WITH_PLURAL.items() for word in words.split()
}
"""Nouns without a plural, with a word that has one."""

_DATES = {
    "start": "starts started start begins begin began starting beginning",
    "end": "ends ended end finishes finished finish ending",
    "expiry": "expires expired expire expiry",
    "due": "due",
    "creation": "create",
}
_DATE_WORD = {word: noun for noun, words in _DATES.items() for word in words.split()}


@cache
def date_words(label: str, *, day: bool) -> str:
    """A column of dates as a noun: ``paid_at`` is the paid time, ``starts`` the start date.

    >>> [date_words(one, day=True) for one in ("date_draft", "date_sent", "date_from")]
    ['draft date', 'date sent', 'date from']
    """
    bare = re.sub(r"_(?:on|at)$", "", label)
    stem = " ".join(_DATE_WORD.get(word, word) for word in bare.split("_"))
    last = bare.rpartition("_")[2]
    plain = bare == label and last not in _DATE_WORD and not PARTICIPLE.search(last)
    if bare.startswith("date_") and bare.count("_") == 1:
        whole = PARTICIPLE.search(last) or last in PREPOSITIONS
        return stem if whole else f"{_DATE_WORD.get(last, last)} date"
    if plain or bare.startswith("date_"):
        return stem
    return f"{stem} {'date' if day else 'time'}"


OF_ITSELF = frozenset(
    """arrived departed died joined graduated resigned retired failed occurred happened expired
    ended started appeared scheduled planned""".split()  # noqa: SIM905
)
"""What a row does or will do, not what has been done to it."""


@cache
def date_verb(label: str) -> str:
    """The participle of a column of dates: ``opened`` for ``opened_on``; empty without one."""
    bare = re.sub(r"^date_|_(?:on|at|date|time|ts|time_?stamp)(?:_ms)?$", "", label)
    bare = re.sub("creation$", "created", bare)
    bare = re.sub("^time_?stamp(?:_ms)?$", "added", bare)
    *first, last = bare.split("_")
    kind_of = resolve("synth.ext.authoring.english:kind_of")
    fitting = PARTICIPLE.search(last) and last not in OF_ITSELF and kind_of(last) == "state"
    return bare.replace("_", " ") if fitting and {*first} <= {"first", "last"} else ""


PARTICIPLE = re.compile(
    r"^(?:[a-z]*[a-z]{2}ed|paid|sent|sold|made|taken|built|born|bought|held|seen|given|lost|written"
    r"|done|begun|shown|set|cut|met|put|read|drawn|known|returned)$"
)
"""Words that say what was done to a row: it was opened, it was paid."""


@cache
def noun_of(table: str) -> Noun:
    """The noun of a table, whichever number its name has.

    >>> noun_of("chart_of_accounts").plural_words
    'charts of accounts'
    """
    bare = re.sub(r"^(?:tbl|t)_", "", spelled(table)) or snake(table)
    bare = "_".join(_SHORT.get(word, word) for word in bare.split("_"))
    bare, of, whole = bare.partition("_of_")
    head, _, last = bare.rpartition("_")
    if PARTICIPLE.search(last) and is_plural(head.rpartition("_")[2]):
        head, last = f"{last}_{head}".rpartition("_")[::2]  # receipts_linearized
    one, many = (f"{word}{of}{whole}" for word in _numbers(last))
    prefix = f"{head}_" if head else ""
    words, plural = (prefix + one).replace("_", " "), (prefix + many).replace("_", " ")
    return Noun(snake(prefix + one), snake(prefix + many), words, plural)


def _numbers(word: str) -> tuple[str, str]:
    """A word in the singular and in the plural; one of other letters has one form, and one whose
    forms nobody writes in English is not inflected.

    >>> [noun_of(one).words for one in ("umsatz", "relaties", "callsigns", "enrol")]
    ['umsatz record', 'relaties record', 'callsign', 'enrol record']
    """
    if not word.isascii() or not word.isalpha():
        return word, word
    is_only_verb = resolve("synth.ext.authoring.english:is_only_verb")
    no_plural = _is_mass(word) or is_only_verb(word)
    if one := _UNCOUNTABLE.get(word) or (no_plural and f"{word}_record"):
        return one, f"{one}s"
    singular = _english().singular_noun(word)
    is_written, many = resolve("synth.ext.authoring.english:is_written"), _plural(word)
    if singular and not word.endswith(("ss", "alias")) and is_written(singular, singular, word):
        return str(singular), word
    return (word, many) if is_written(many, word) else (f"{word}_record", f"{word}_records")


def _plural(word: str) -> str:
    return str(_english().plural_noun(word))


@cache
def _is_mass(word: str) -> bool:
    """True for a noun that people hardly use with an article or in the plural.

    >>> [_is_mass(one) for one in ("logging", "weather", "booking", "status", "interwiki")]
    [True, True, False, False, False]
    """
    return bool(resolve("synth.ext.authoring.english:is_mass")(word, _plural(word)))


@cache
def is_countable(words: str) -> bool:
    """True for words that end with a noun of which there are several.

    >>> [is_countable(one) for one in ("calendar", "admin", "overdue", "standing", "internal")]
    [True, True, False, False, False]
    """
    last = words.rpartition(" ")[2]
    kind = resolve("synth.ext.authoring.english:kind_of")(last)
    no_plural = resolve("synth.ext.authoring.english:is_rare")(_plural(last))
    return kind in {"noun", "other"} and not (_is_mass(last) or no_plural or last.endswith("ing"))


@cache
def is_plural(word: str) -> bool:
    """True for an English noun in the plural."""
    one, many = _numbers(word)
    return many == word != one


PREPOSITIONS = frozenset(
    {"by", "to", "of", "for", "from", "in", "out", "on", "at", "with", "as", "per"}
)
_SHORT = {
    "nr": "number",
    "num": "number",
    "qty": "quantity",
    "pct": "percentage",
    "amt": "amount",
    "desc": "description",
    "lang": "language",
    "addr": "address",
    "curr": "currency",
    "tel": "telephone",
    "dt": "date",
    "hist": "history",
    "excl": "excluding",
    "incl": "including",
    "vol": "volume",
    "dob": "date of birth",
    "eol": "end of life",
    "ts": "time",
    "pos": "position",
    "min": "minimum",
    "max": "maximum",
    "orig": "original",
    "pref": "preference",
    "fname": "first name",
    "lname": "last name",
}
_COUNTS = {**dict.fromkeys(("num", "nr", "no", "number", "n"), "number"), "sum": "sum"}
_BOUNDS = frozenset({"max", "min"})
_BOUND_WORDS = frozenset({"maximum", "minimum"})
_UNITS = {
    **{unit: unit for unit in ("seconds", "milliseconds", "minutes", "bytes", "cents")},
    "km": "kilometres",
    "m": "metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "km2": "square kilometres",
    "m2": "square metres",
    "g": "grams",
    "kg": "kilograms",
    "ms": "milliseconds",
    "kb": "kilobytes",
    "mb": "megabytes",
    "gb": "gigabytes",
}
"""What begins the name of a count or of its bound, and what ends the name of a measure."""

_MEASURED = {"seconds": "length", "milliseconds": "length", "minutes": "length", "bytes": "size"}
"""What a column holds that is called after its unit."""

_PHRASE = re.compile(r"[A-Za-z][a-z]+(?: [a-z]+){0,2}")
"""A comment that is a noun of up to three words."""


_NEVER_BEFORE = frozenset({"by", "with", "as", "at", "from", "until", "all", "any"})
"""Words that do not stand before the last word of a noun."""


@cache
def is_sayable(words: str) -> bool:
    """True for a noun that a person would say: each word is in use or of another language, the last
    and the one before `of` are nouns, none is a verb, says who or how, or stands there twice.

    >>> [is_sayable(one) for one in ("pack size", "per pack", "ele", "last seen", "name locale")]
    [True, False, False, False, False]
    >>> is_sayable("send delay")
    False
    """
    if not words.isascii():
        return "“" not in words
    first, last = words.split()[:-1], words.rpartition(" ")[2]
    ends = {words.partition(" ")[0], last} & PREPOSITIONS or last in {"json", "xml", "index"}
    inside = re.search(r"^name | (?:last|first) (?!name)", words)  # the email box last check
    if ends or inside or not _NEVER_BEFORE.isdisjoint(first):
        return False
    heads = {one.rpartition(" ")[2] for one in re.split(r" (?:of|in|per) ", words)}
    heads = {re.sub(r"(?<=[a-z]{3})\d+$", "", one) for one in heads}  # a part2 is a part
    plain = [one for one in first if one.isalpha() and one not in PREPOSITIONS]
    kind_of = resolve("synth.ext.authoring.english:kind_of")
    nouns = {*map(kind_of, heads)} == {"noun"} and len({*plain, last}) > len(plain)
    return nouns and all(map(_is_attribute, plain))


def _is_attribute(word: str) -> bool:
    """True for a word that may stand before a noun: no verb, as in a "send offset"."""
    kind = resolve("synth.ext.authoring.english:kind_of")(word)
    is_verb = resolve("synth.ext.authoring.english:is_verb")
    return kind == "noun" or (kind != "" and not is_verb(word))


def be(words: str) -> str:
    """``are`` for words in the plural, else ``is``; in "the number of seats" the number counts."""
    head = re.split(r" (?:of|in) ", words)[0]
    return "are" if is_plural(head.rpartition(" ")[2]) else "is"


def said(
    columns: Mapping[str, str | None], noun: str = "", links: Collection[str] = ()
) -> dict[str, str]:
    """Each column as words: its comment, if that is a noun that no other column has, else its bare
    name without words that repeat the ``noun`` of the row. ``columns`` maps names to comments.

    >>> said(dict.fromkeys(["num_child", "num_of_pages", "max_num_seats", "sum_grades"])).values()
    dict_values(['number of children', 'number of pages', 'maximum number of seats', \
'sum of grades'])
    """
    comments = [(one or "").strip().rstrip(".") for one in columns.values()]
    bare, out = bare_columns(columns, links), dict[str, str]()
    for name, comment in zip(columns, comments, strict=True):
        if _PHRASE.fullmatch(comment) and comments.count(comment) == 1:
            out[name] = comment[:1].lower() + comment[1:]
            continue
        words = bare[name].removeprefix("fk_").split("_")
        out[name] = _said(sorted(words, key=lambda one: one not in _BOUNDS))
    for shorter in (partial(_without, noun.split()), _without_initials):
        bare = {name: shorter(words) for name, words in out.items()}
        taken = [*out.values(), *bare.values()]
        out = {name: bare[name] if taken.count(bare[name]) == 1 else out[name] for name in out}
    return out


_OF_SOMETHING = frozenset(
    {"amount", "count", "date", "days", "hours", "number", "percent", "time", "value"}
)
"""Words that say little without the word before them, even a short one."""


def _without_initials(words: str, between: str = " ") -> str:
    """The words without a program's initials, a short first word that is not English: ``rt name``.
    They stay before words such as `date` and `amount`.
    """
    first, _, rest = words.partition(between)
    if first in PREPOSITIONS or rest in _OF_SOMETHING or not re.fullmatch(r"[a-z]{1,4}", first):
        return words
    is_word = resolve("synth.ext.authoring.english:kind_of")(first)
    return words if is_word or not is_sayable(rest.replace("_", " ")) else rest


def _without(noun: Sequence[str], words: str) -> str:
    """The words of a column without those before them that repeat the noun, whole or as its
    beginning: ``emp birthday``.
    """
    first, _, rest = words.partition(" ")
    if rest and any(one == first or (len(first) > 2 and one.startswith(first)) for one in noun):
        return _without(noun, rest)
    return words


def _said(words: Sequence[str]) -> str:
    """The words of a column's name; what is shortened is written out."""
    ending = {"no": "number"} if len(words) > 1 else {}
    last = {**_SHORT, **ending}.get(words[-1], words[-1])
    first = [_SHORT.get(one, one) for one in words[:-1]]
    if last == "count" and first not in ([], ["total"]):
        bounds_first = sorted(["number of", *first[:-1]], key=lambda one: one not in _BOUND_WORDS)
        first, last = bounds_first, _numbers(first[-1])[1]
    elif words[0] in _COUNTS and any(map(is_plural, words[1:])):
        first = [_COUNTS[words[0]], "of", *filter("of".__ne__, first[1:])]
    elif words[0] == "num" and len(words) == 2:
        first, last = ["number", "of"], _numbers(last)[1]
    elif words[0] in _BOUNDS and any(map(is_plural, words)):
        first = [first[0], "number", "of", *filter("number".__ne__, first[1:])]
    elif last in _UNITS and (first or last in _MEASURED):
        first, last = [*(first or [_MEASURED[last]]), "in"], _UNITS[last]
    return " ".join([*first, last])


def bare_columns(columns: Iterable[str], links: Collection[str] = ()) -> dict[str, str]:
    """The spelled name of each column without the first word that all at least three columns share
    which are no ``links`` to other tables; where there are fewer, that all columns share. It is
    without the last words that all columns share.

    >>> [*bare_columns(["date_web_session", "robot_web_session", "id_web_session"]).values()]
    ['date', 'robot', 'id']
    >>> bare_columns(["gup_id", "gu_id", "gup_name", "gup_value"], links=["gu_id"])
    {'gup_id': 'id', 'gu_id': 'gu_id', 'gup_name': 'name', 'gup_value': 'value'}
    """
    names = _without_end({column: spelled(column) for column in columns})
    own = [name.partition("_") for column, name in names.items() if column not in links]
    own = own if len(own) > 2 else [name.partition("_") for name in names.values()]
    heads = {head for head, _, rest in own if rest}
    shared = len(own) > 2 and len(heads) == 1 and all(rest for _, _, rest in own)
    prefix = f"{heads.pop()}_" if shared else ""
    return {column: name.removeprefix(prefix) for column, name in names.items()}


def _without_end(names: Mapping[str, str]) -> dict[str, str]:
    """The names without the last words that all of at least three share."""
    parts = {column: name.split("_") for column, name in names.items()}
    ends = zip(*map(reversed, parts.values()), strict=False)
    shared = len([*takewhile(lambda words: len({*words}) == 1, ends)])
    tail = shared if len(parts) > 2 and all(one[shared:] for one in parts.values()) else 0
    return {column: "_".join(words[: len(words) - tail]) for column, words in parts.items()}


def bare_names(tables: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The name of each table without the first words that stand for the program: several tables
    begin with them, and no column has them, or they are no words. Where a program names tables by
    its modules, which an ``order_order`` shows, it is without the module. ``tables`` maps tables to
    their columns.

    >>> bare_names({"gp_user": ["gp_id"], "gp_role": [], "gp_key": [], "task_log": ["task_id"]})
    {'gp_user': 'user', 'gp_role': 'role', 'gp_key': 'key', 'task_log': 'task_log'}
    >>> [*bare_names({"order_order": [], "order_line": ["order_id"], "tax_line": []}).values()]
    ['order', 'order_line', 'tax_line']
    >>> [*bare_names({f"{one}_model": [] for one in ("item", "unit", "bill", "sale")}).values()]
    ['item', 'unit', 'bill', 'sale']
    >>> [*bare_names(dict.fromkeys(["folio_item", "minibar_item", "minibar_use"], ())).values()]
    ['folio_item', 'minibar_item', 'minibar_use']
    """
    names = _without_tail({table: spelled(table) for table in tables})
    said = {
        word for columns in tables.values() for one in columns for word in snake(one).split("_")
    }
    while cut := _cut(names, said):
        names |= cut
    return names


def _without_tail(names: Mapping[str, str]) -> dict[str, str]:
    """The names without a last word that most of them share, as it says nothing of one: `model`."""
    tails = Counter(name.rpartition("_")[2] for name in names.values())
    tail, count = max(tails.items(), key=lambda one: one[1], default=("", 0))
    bare = {table: name.removesuffix(f"_{tail}") for table, name in names.items()}
    most = count > 3 and 2 * count > len(names)
    return bare if most and len({*bare.values()}) == len(bare) else dict(names)


def _cut(names: Mapping[str, str], said: set[str]) -> dict[str, str]:
    """The names without their first word, where that is the program's or a module's."""
    parts = {table: name.partition("_") for table, name in names.items()}
    bares = Counter(bare for _, _, bare in parts.values())
    heads = _heads(names.values(), said)
    return {
        table: bare
        for table, (head, _, bare) in parts.items()
        if bare and head in heads and bare not in names.values() and bares[bare] == 1
    }


def _heads(names: Collection[str], said: set[str]) -> set[str]:
    """The first words that stand for the program or for one of its modules."""
    parts = [name.partition("_") for name in names]
    times = Counter(head for head, _, bare in parts if bare)
    modules = {head for head, _, bare in parts if noun_of(bare).one == noun_of(head).one}
    nouns = {noun_of(name).one for name in names}
    kind_of = resolve("synth.ext.authoring.english:kind_of")
    kept = nouns | (set[str]() if modules else {*filter(kind_of, said)})  # gpo_ is no word
    of_all = {head for head, count in times.items() if 1 < count == len(names)}
    is_rare = resolve("synth.ext.authoring.english:is_rare")
    pairs = {*filter(is_rare, times)} - _distinguishing(parts)
    least = {one: 2 if modules or one in pairs else 3 for one in times.keys() - kept}
    return modules | of_all | {one for one, count in least.items() if times[one] >= count}


def _distinguishing(parts: Iterable[tuple[str, str, str]]) -> set[str]:
    """First words that distinguish tables with one last word: ``minibar_item``, ``folio_item``."""
    heads = dict[str, set[str]]()
    for head, _, bare in parts:
        heads.setdefault(bare, set()).add(head)
    return {head for own in heads.values() if len(own) > 1 for head in own}


def nouns(tables: Mapping[str, Iterable[str]]) -> dict[str, Noun]:
    """A noun for each table, no two of them the same: of ``queue`` and ``queues`` the one
    with fewer columns is the ``queue record``. What nobody says stands in quotation marks.
    ``tables`` maps tables to their columns.

    >>> tables = ("circles", "circles_users", "circles_closed", "tag_has_files", "labels2", "oe")
    >>> [one.words for one in nouns(dict.fromkeys(tables, ())).values()]
    ['circle', 'circle user', 'closed circle', 'tag file', 'label', 'row of “oe”']
    """
    out, taken, names = dict[str, Noun](), set[str](), bare_names(tables)
    names = {
        table: re.sub(r"(?<=[a-z]s)\d(?=_|$)|_has(?=_)", "", one) for table, one in names.items()
    }
    ones = {found.many: found.one for found in map(noun_of, names.values())}
    for table, bare in sorted(names.items(), key=lambda one: -len([*tables[one[0]]])):
        *heads, last = bare.split("_")  # graph_templates_item, filters2_rules
        owner = max((one for one in ones if f"{bare}_".startswith(f"{one}_")), key=len, default="")
        if heads and owner and owner != bare and not PARTICIPLE.search(last):
            *heads, last = (ones[owner] + bare.removeprefix(owner)).split("_")
        heads = heads if PARTICIPLE.search(last) else [ones.get(head, head) for head in heads]
        noun, number = noun_of(_without_initials("_".join([*heads, last]), "_")), 1
        one = noun.one
        while {noun.one, noun.many} & taken:
            number += 1
            more = "" if number == 2 else f"_{number}"
            noun = noun_of(f"{one}{more}_record")
        taken |= {noun.one, noun.many}
        said = [noun.words, noun.plural_words]
        said = (
            said
            if is_sayable(noun.words)
            else [f"row of “{noun.words}”", f"rows of “{noun.words}”"]
        )
        out[table] = Noun(noun.one, noun.many, *said)
    return out


def a(words: str) -> str:
    """Words with their indefinite article."""
    return str(_english().a(words))


def parameter(column: str) -> str:
    """The name of a column as a parameter in Python."""
    name = snake(column)
    clashes = keyword.iskeyword(name) or name in _TAKEN
    return f"{name}_value" if clashes or (name in vars(builtins) and name != "id") else name


def slot(words: str) -> str:
    """A name for a slot, which is a column of SQL too."""
    name = snake(words)
    return f"{name}_named" if name in _RESERVED else name


def quoted(name: str) -> str:
    """An identifier in SQL, in quotes only where it needs them."""
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name not in _RESERVED
    return name if plain else quoting.quoted(name)
