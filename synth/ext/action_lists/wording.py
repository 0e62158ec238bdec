"""The words in which the expert proposes and reports the calls of a list, and the conditions
under which its user agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from synth.core.foundation.json_leaves import named_values
from synth.core.tasks.yaml.step_templates import ConfirmTemplate
from synth.core.tasks.yaml.user import ConsentText
from synth.core.validation.argument_provenance import appears_in

_SAME_ACT = (
    ("cancel", "call off"),
    ("exchange", "swap", "replace"),
    ("return", "refund", "take back", "send back"),
    ("refund", "return", "pay back"),
    (
        "modify",
        "change",
        "update",
        "set",
        "switch",
        "edit",
        "upgrade",
        "downgrade",
        "add",
        "remove",
    ),
    ("update", "change", "modify", "upgrade", "downgrade", "add", "remove", "switch"),
    ("modify", "exchange", "replace", "swap"),
    ("book", "reserve", "order", "place"),
    ("create", "open", "make", "place", "add"),
    ("delete", "remove"),
    ("send", "give", "issue"),
    ("transfer", "hand over", "escalate"),
)
"""Verbs of which one in a proposal stands for another."""

_VERBS = frozenset(word for row in _SAME_ACT for word in row if " " not in word)

MENTIONED = 4
"""Values that a proposal must restate before the user agrees."""

_CONFIRM = re.compile(
    r"\b(?:confirm\w*|consent\w*|permission|approv\w+|agree\w*|a yes|\(yes\))", re.IGNORECASE
)
_FIRST = re.compile(
    r"\b(?:before|prior to|first|until|unless|must|obtain|wait|explicit\w*|ask\w*|always)\b",
    re.IGNORECASE,
)


_IDENTITY = re.compile(
    r"\b(?:authenticat\w+|verif\w+|confirm\w*|check|establish|locat\w+|find|obtain|identify)"
    r"(?: out)?\b[^.\n]{0,40}"
    r"\b(?:identity|who (?:the|your)|user ?id|customer ?id|customer by|user by)",
    re.IGNORECASE,
)


def wants_consent(text: str) -> bool:
    """True if a policy or a scenario says that a change waits for the user's yes."""
    parts = re.split(r"(?<=[.!?;])\s+|\n", text)
    return any(_CONFIRM.search(part) and _FIRST.search(part) for part in parts)


def wants_identity(policy: str) -> bool:
    """True if a policy says that the user's identity comes first."""
    return _IDENTITY.search(policy) is not None


def plain(name: str) -> str:
    """The name of a tool or a parameter in words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ").lower()


def proposal(tool: str, arguments: Mapping[str, Any]) -> ConfirmTemplate:
    """The expert's question before a write."""
    values = "; ".join(f"{plain(name)} {value}" for name, value in _values(arguments))
    about = f": {values}" if values else ""
    return ConfirmTemplate([f"I will {_act(tool)}{about}. Shall I go ahead?"])


def _act(tool: str) -> str:
    """The act of a tool with an article: "cancel the pending order"."""
    verb, _, thing = plain(tool).partition(" ")
    article = (
        thing and verb in _VERBS and thing.split()[0] not in {"to", "for", "from", "with", "by"}
    )
    return f"{verb} the {thing}" if article else plain(tool)


def _values(arguments: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    found = [
        (name, value)
        for name, value in named_values(arguments)
        if value is not None and not isinstance(value, bool)
    ]
    return list(dict.fromkeys(found))


def consent(
    tool: str,
    arguments: Mapping[str, Any],
    schema: Mapping[str, Any],
    said: str,
    results: Sequence[object],
) -> ConsentText:
    """The condition under which the user agrees to a call: values that the user has ``said`` are
    restated in a form that the ``results`` of reads give, the others are right if they are named,
    and the act is named.
    """
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties") or {}
    facts: list[str] = []
    said_facts: list[str] = []
    forms: dict[str, Sequence[str]] = {}
    rivals: dict[str, Sequence[str]] = {}
    for name, value in _values(arguments):
        fact, found = str(value), forms_of(name, value, results)
        choices = (properties.get(name) or {}).get("enum")
        if choices is None and not found and len(fact) < 3:
            continue
        facts.append(fact)
        forms[fact] = found
        if choices is not None:
            rivals[fact] = _others(choices, value)
        elif any(appears_in(form, said) for form in (value, *found)):
            said_facts.append(fact)
    mentions = _whole(said_facts)[:MENTIONED]
    return ConsentText(
        mentions,
        act=_acts_of(tool),
        covers=[tool],
        forms=forms,
        rivals=rivals,
        if_named=[fact for fact in dict.fromkeys(facts) if fact not in mentions],
        never=[f"to {plain(other)}" for others in rivals.values() for other in others],
    )


def _others(choices: Sequence[Any], value: Any) -> list[str]:
    """The other choices that a word names by itself, as "yes" and "no" do not."""
    return [str(choice) for choice in choices if choice != value and len(str(choice)) > 3]


def _whole(facts: Sequence[str]) -> list[str]:
    """The facts that are not part of another one."""
    return [
        fact
        for fact in dict.fromkeys(facts)
        if not any(fact.casefold() in other.casefold() for other in facts if other != fact)
    ]


def _acts_of(tool: str) -> list[str]:
    words = plain(tool).split()
    groups = [row for row in _SAME_ACT if words[0] in row]
    return list(dict.fromkeys([words[0], *(word for row in groups for word in row)]))


def report(tools: Sequence[str], outputs: Sequence[str]) -> str:
    """The expert's words once calls that write are done, with what the user asked to know."""
    acts = list(dict.fromkeys(_act(tool) for tool in tools))
    parts = [f"This is done: {', '.join(acts)}."] if acts else []
    if outputs:
        parts.append(f"What you asked to know: {', '.join(outputs)}.")
    return " ".join(parts) or "That is all."


Row = Mapping[str, object]


def forms_of(name: str, value: Any, results: Sequence[object]) -> Sequence[str]:
    """The forms of an argument's value beside the value itself, by what was read.

    Example: "credit_card_442" is also "442", "credit card", and "ending in 7447" if its row says
    so.
    """
    words = str(value)
    if isinstance(value, int | float):
        return [f"${value:g}"] if _is_sum(name) else []
    kind, _, digits = words.removeprefix("#").rpartition("_")
    out = [digits] if digits != words else []
    if kind and digits.isdigit():
        out.append(kind.replace("_", " "))
    return list(dict.fromkeys([*out, *_row_forms(words, results)]))


def _row_forms(key: str, results: Sequence[object]) -> list[str]:
    """The texts of the row with this id that none of its neighbours has."""
    for rows in (rows for result in results for rows in _groups(result)):
        own = next((row for other, row in rows if other == key), None)
        if own is not None:
            others = {form for other, row in rows if other != key for form in _texts(row)}
            return [form for form in _texts(own) if form not in others]
    return []


def _is_sum(name: str) -> bool:
    return any(word in name for word in ("amount", "price", "cost", "sum", "total_paid"))


def _groups(value: object) -> Iterator[list[tuple[str, Row]]]:
    """The groups of rows in a result, each row with its id."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value)
        yield [(key, cast("Row", row)) for key, row in items.items() if isinstance(row, Mapping)]
        inner: Sequence[object] = list(items.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = cast("Sequence[object]", value)
        rows = [cast("Row", row) for row in inner if isinstance(row, Mapping)]
        yield [(str(row[key]), row) for row in rows for key in row if _names_row(key)]
    else:
        return
    for item in inner:
        yield from _groups(item)


def _names_row(key: str) -> bool:
    return key == "id" or key.endswith("_id")


def _texts(row: Row) -> list[str]:
    """The forms that a row gives: its kind, its last digits, its name."""
    texts = {name: text for name, text in row.items() if isinstance(text, str) and len(text) < 40}
    return [
        f"ending in {text}" if name.startswith("last") else text.replace("_", " ")
        for name, text in texts.items()
        if not _names_row(name) and (name.startswith("last") or not text.isdigit())
    ]
