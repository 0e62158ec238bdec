"""Personal columns, masked while they are read: made-up values in the place of real ones."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from envs.types import Column, Table
from envs.world.world_file import PERSONAL_KINDS
from synth.core.foundation.suggestions import hint, nearest
from synth.core.personal.formats import CARD, has_cards, personal_spans
from synth.core.personal.guess import guess_columns, is_of_things, names_somebody
from synth.errors import OperatorError
from synth.ext.authoring.made_up import NONE, MadeUp, same_form
from synth.ext.authoring.names import snake
from synth.ext.authoring.roles import secrets_of
from synth.ext.authoring.snapshot import LiveColumn, LiveTable, Rows, Value

_WORD = re.compile(r"[^\W_]+")
_SAYS_WHO = frozenset({"name", "email", "phone", "address"})
"""Kinds whose values mean the same in any column."""


@dataclass
class RealValues:
    """Real values, with what takes their place; ``public`` are words that are never a name.

    A value is replaced whole: where it is the whole text, or a phrase of a sentence. A single name
    is replaced in sentences only, and never if it is a word of a public value, such as the country
    Jordan.
    """

    draw: random.Random
    public: set[str] = field(default_factory=set[str])
    _whole: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _phrases: dict[str, list[tuple[str, ...]]] = field(
        default_factory=dict[str, list[tuple[str, ...]]]
    )
    _made: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _seen: dict[str, str] = field(default_factory=dict[str, str])

    def learn(self, kind: str, values: Mapping[str, Value]) -> None:
        """Take the values of one kind, as real and made-up ones."""
        for real, made in values.items():
            words, new = _words_of(real), str(made)
            self._seen[real] = new
            orders = [words]
            if kind == "name":
                parts = new.split()
                for place, word in enumerate(words, 1):
                    if len(word) > 2:
                        self._names.setdefault(word, parts[-1 if place == len(words) else 0])
                orders.append((*words[-1:], *words[:-1]))
            for order in orders if len(words) > 1 or any(map(str.isdigit, real)) else ():
                if order not in self._made:
                    self._phrases.setdefault(order[0], []).append(order)
                self._made.setdefault(order, _core(new))
                if kind in _SAYS_WHO:
                    self._whole.setdefault(order, _core(new))

    def replaced(self, text: str, *, prose: bool, cards: bool = True) -> str:
        """The text without the real values; ``prose`` tells that it is sentences, ``cards`` that
        a number with the checksum of a card is one.
        """
        if not prose and (made := self._whole.get(_words_of(text))):
            return text.replace(_core(text), made)
        out, end = list[str](), 0
        found = sorted(self._found(text, prose, cards), key=lambda one: (one[0], -one[1]))
        for start, stop, made in found:
            if start >= end:
                out += [text[end:start], made]
                end = stop
        return "".join([*out, text[end:]])

    def _found(self, text: str, prose: bool, cards: bool) -> Iterator[tuple[int, int, str]]:
        for kind, start, stop in personal_spans(text):
            if cards or kind != CARD:
                yield start, stop, self._by_form(text[start:stop])
        places = list(_WORD.finditer(text)) if prose else []
        folded = tuple(place[0].casefold() for place in places)
        for index, place in enumerate(places):
            for words in self._phrases.get(folded[index], ()):
                last = index + len(words)
                if folded[index:last] == words:
                    yield place.start(), places[last - 1].end(), self._made[words]
            name = self._names.get(folded[index], "")
            if name and place[0][0].isupper() and folded[index] not in self.public:
                yield place.start(), place.end(), name

    def _by_form(self, value: str) -> str:
        if value not in self._seen:
            name, at, _ = value.partition("@")
            made = same_form(name, self.draw)
            self._seen[value] = f"{made}@example.org" if at else made
        return self._seen[value]


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _core(text: str) -> str:
    """A text from its first word to its last, as the marks around stay where they are."""
    places = list(_WORD.finditer(text))
    return text[places[0].start() : places[-1].end()] if places else text


Kinds = Mapping[tuple[str, str], str]

SENTENCE = 4
"""The words that make a text a sentence."""

LOOKED_AT = 500
"""The most values of a column that a guess looks at."""

_PROSE = re.compile(
    r"memo|notes?|comments?|remarks?|descriptions?|messages?|subject|text|details?|reason|body"
)
"""Words in the names of columns of free text."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on one column: ``masked`` as personal data of a kind, or kept. ``replaced``
    counts the values of a kept column in which personal values were replaced; ``sample`` is one of
    the changed values, before and after; ``prose`` tells that it holds sentences.
    """

    column: str
    kind: str | None
    masked: bool
    replaced: int = 0
    prose: bool = False
    sample: tuple[Value, Value] | None = None

    @property
    def line(self) -> str:
        shown = f", such as {self.sample[0]!r:.60} -> {self.sample[1]!r:.60}" if self.sample else ""
        if self.kind is not None:
            what = f"masked{shown}" if self.masked else "kept as you asked"
            return f"{self.column}: {self.kind}, {what}"
        found = f", personal values masked in {self.replaced}{shown}" if self.replaced else ""
        table, _, column = self.column.rpartition(".")
        doubt = "free text: read it" if self.prose else ""
        if not doubt and names_somebody(table, column):
            doubt = f"named like a person: --mask-column {self.column} masks it"
        return f"{self.column}: kept{found}{doubt and f' ({doubt})'}"


@dataclass(frozen=True, slots=True)
class MaskedSample:
    """The result of masking: the tables, with clean comments; a decision for each column that holds
    texts or dates, or is personal; the kinds of the personal columns.
    """

    tables: Sequence[LiveTable]
    decisions: Sequence[Decision]
    personal: Kinds


def mask(
    tables: Sequence[LiveTable],
    rows: Rows,
    keep: Sequence[str],
    seed: int,
    also: Sequence[str] = (),
) -> MaskedSample:
    """Replace the values of personal columns in the sample, and where other texts repeat them.

    ``keep`` names columns that stay, ``also`` columns to mask, as ``table.column`` or
    ``table.column=kind``. One real value becomes one made-up value of its kind in all columns, so
    that references hold. Raises OperatorError for a column or a kind that does not exist.
    """
    columns = {f"{t.name}.{c.name}": (t, c) for t in tables for c in t.columns}
    for name in keep:
        refuse_unknown("--keep-column", name, columns)
    guessed = personal_kinds(tables, rows)
    kinds = _with_references(tables, {**guessed, **_asked(also, columns, keep, guessed)})
    kept = {key for key in kinds if f"{key[0]}.{key[1]}" in keep}
    kept = {*_with_references(tables, dict.fromkeys(kept, "kept"))}
    masked = {key: kind for key, kind in kinds.items() if key not in kept}
    before = {key: _first(rows, key) for key in masked}
    known = _replace(tables, rows, masked, random.Random(seed))
    known.public = _public_words(tables, rows, kinds)
    decisions = list[Decision]()
    for name, (table, column) in columns.items():
        kind = kinds.get((table.name, column.name))
        if kind is not None:
            key = (table.name, column.name)
            sample = (before[key], _first(rows, key)) if before.get(key) is not None else None
            decisions.append(Decision(name, kind, key in masked, sample=sample))
        elif any(isinstance(row[column.name], str) for row in rows.by_table[table.name]):
            decisions.append(_clean(table, column, rows, known, name in keep))
    return MaskedSample([_clean_comments(table, known) for table in tables], decisions, kinds)


def _first(rows: Rows, key: tuple[str, str]) -> Value:
    """The first value of a column."""
    table, column = key
    return next((row[column] for row in rows.by_table[table] if row[column] is not None), None)


def _public_words(tables: Sequence[LiveTable], rows: Rows, kinds: Kinds) -> set[str]:
    """The words of the names of places, firms and products, which are not names of people."""
    return {
        word
        for table in tables
        for column in table.columns
        if (table.name, column.name) not in kinds
        and (is_of_things(table.name) or is_of_things(column.name))
        and not _is_prose(table, column, rows)
        for row in rows.by_table[table.name]
        for word in _words_of(str(row[column.name] or ""))
    }


def _replace(
    tables: Sequence[LiveTable], rows: Rows, masked: Kinds, draw: random.Random
) -> RealValues:
    """Replace the values of the masked columns; returns them with what takes their place."""
    by_name = {table.name: table for table in tables}
    made = {kind: MadeUp(kind, draw) for kind in PERSONAL_KINDS}
    for (table, column), kind in masked.items():
        values = [row[column] for row in rows.by_table[table]]
        keys = (by_name[table].key, *by_name[table].uniques)
        made[kind].learn(column, values, distinct=any(column in key for key in keys))
    for (table, column), kind in masked.items():
        for row in rows.by_table[table]:
            if row[column] not in NONE:
                row[column] = made[kind].values[str(row[column])]
    known = RealValues(draw)
    for kind, one in made.items():
        known.learn(kind, one.values)
    return known


def personal_kinds(tables: Sequence[LiveTable], rows: Rows) -> Kinds:
    """The kinds of personal data by table and column, guessed by contents and names."""
    choices = {(table.name, c.name) for table in tables for c in table.columns if c.choices}
    plain = {
        table.name: Table(table.name, tuple(Column(name, "") for name in table.names))
        for table in tables
    }

    def some(table: str, column: str) -> Sequence[object]:
        values = [row[column] for row in rows.by_table[table] if row[column] is not None]
        return values[:: max(1, len(values) // LOOKED_AT)]

    found = _secrets(tables, rows) | guess_columns(plain, some)
    return {key: kind for key, kind in found.items() if key not in choices}


def _secrets(tables: Sequence[LiveTable], rows: Rows) -> dict[tuple[str, str], str]:
    """The columns of secrets."""
    out = dict[tuple[str, str], str]()
    for table in tables:
        values = {c.name: {row[c.name] for row in rows.by_table[table.name]} for c in table.columns}
        found = secrets_of(table, values)
        out |= {(table.name, column): "identifier" for column in table.names if column in found}
    return out


def refuse_unknown(option: str, name: str, known: Collection[str]) -> None:
    """Raise OperatorError if an option names a column that is not ``known``."""
    if name not in known:
        raise OperatorError(f"{option} {name}: no such column{hint(nearest(name, known))}")


def _asked(
    also: Sequence[str],
    columns: Mapping[str, tuple[LiveTable, LiveColumn]],
    keep: Sequence[str],
    guessed: Kinds,
) -> dict[tuple[str, str], str]:
    """The kinds of the columns that are masked on demand."""
    out = dict[tuple[str, str], str]()
    for text in also:
        name, given, kind = text.partition("=")
        refuse_unknown("--mask-column", name, columns)
        table, column = columns[name]
        kind = kind if given else guessed.get((table.name, column.name), "other")
        if kind not in PERSONAL_KINDS:
            message = f"--mask-column {text}: the kind is one of {', '.join(PERSONAL_KINDS)}"
            raise OperatorError(message + hint(nearest(kind, PERSONAL_KINDS)))
        if name in keep:
            raise OperatorError(f"--mask-column and --keep-column both name {name}: leave one out")
        if column.choices or column.type == "BOOLEAN":
            raise OperatorError(
                f"--mask-column {name}: its values are a fixed set, which the schema lists; leave"
                " its table out with --tables"
            )
        out[table.name, column.name] = kind
    return out


def _with_references(
    tables: Sequence[LiveTable], kinds: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], str]:
    """The kinds, also of the columns that refer to them or that they refer to."""
    pairs = [
        ((table.name, here), (target, there))
        for table in tables
        for columns, target, others in table.links
        for here, there in zip(columns, others, strict=True)
    ]
    out, before = dict(kinds), dict[tuple[str, str], str]()
    while before != out:
        before = dict(out)
        for pair in pairs:
            found = [out[column] for column in pair if column in out]
            if found:
                out |= dict.fromkeys(pair, min(found))
    return out


def _clean(
    table: LiveTable, column: LiveColumn, rows: Rows, known: RealValues, stays: bool
) -> Decision:
    """Replace personal values in the texts of a column that is kept."""
    prose = _is_prose(table, column, rows)
    stays = stays or bool(column.choices)
    public = is_of_things(table.name) or (is_of_things(column.name) and not prose)
    changed = list[tuple[Value, Value]]()
    found = rows.by_table[table.name] if not (stays or public) else []
    texts = [(row, text) for row in found if isinstance(text := row[column.name], str)]
    cards = prose or has_cards([text for _, text in texts])
    for row, text in texts:
        if (clean := known.replaced(text, prose=prose, cards=cards)) != text:
            row[column.name] = clean
            changed.append((text, clean))
    sample = changed[0] if changed else None
    return Decision(f"{table.name}.{column.name}", None, False, len(changed), prose, sample)


def _is_prose(table: LiveTable, column: LiveColumn, rows: Rows) -> bool:
    """True for a column of sentences, by its name or because a tenth of its texts are some."""
    linked = {*table.key, *(name for columns, _, _ in table.links for name in columns)}
    found = [row[column.name] for row in rows.by_table[table.name]]
    texts = [text for text in found if isinstance(text, str) and text.strip()]
    coded = sum(text.lstrip().startswith(("{", "[", "<", "/")) for text in texts)
    if column.name in linked or not texts or 2 * coded > len(texts):
        return False
    if any(_PROSE.fullmatch(word) for word in snake(column.name).split("_")):
        return True
    return 10 * sum(len(text.split()) >= SENTENCE for text in texts) > len(texts)


def _clean_comments(table: LiveTable, known: RealValues) -> LiveTable:
    def clean(comment: str | None) -> str | None:
        return comment and known.replaced(comment, prose=False)

    columns = tuple(replace(column, comment=clean(column.comment)) for column in table.columns)
    return replace(table, columns=columns, comment=clean(table.comment))
