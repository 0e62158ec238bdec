"""Provenance of gold's arguments: each of them must have appeared earlier, where an agent could
read it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from envs.tools.sql import BUILTIN
from envs.types import RowChange, ToolOutcome
from synth.core.foundation.json_leaves import parsed
from synth.core.tasks.yaml.template import written
from synth.core.tasks.yaml.words import SUBMIT
from synth.core.types.events import ToolResultEvent, UserTurnEvent
from synth.core.validation.gold_run import GoldRun
from synth.task import Task
from synth.user import Topic


def ungrounded_arguments(
    task: Task,
    gold: GoldRun,
    pure: Collection[str] = (),
    inferred: Collection[tuple[str, object]] = (),
) -> list[tuple[str, str]]:
    """Find arguments of gold that appear in no text that the agent has seen: the request, the
    policy, the tools, earlier results and earlier turns of the user.

    Returns pairs of the tool and a message. Text that ends up in free text only may be the agent's
    own, and of the texts that a ``pure`` tool is given, only the numbers must come from somewhere.
    ``inferred`` are values, each with its tool, that follow from what is known.
    """
    seen = [task.system, task.prompt, *(str(leaf) for _, leaf in leaves(gold.tools))]
    out: list[tuple[str, str]] = []
    outcomes = iter(gold.run.outcomes)
    for event in gold.run.events:
        if isinstance(event, UserTurnEvent):
            seen.append(event.text)
        elif isinstance(event, ToolResultEvent):
            outcome = next(outcomes)
            out += _unknown(task, outcome, flat("\n".join(seen)), pure, inferred)
            seen += [
                outcome.content,
                *(leaf for _, leaf in leaves(outcome.result.payload()) if isinstance(leaf, str)),
            ]
    return out


def _unknown(
    task: Task,
    outcome: ToolOutcome,
    seen: str,
    pure: Collection[str],
    inferred: Collection[tuple[str, object]],
) -> Iterator[tuple[str, str]]:
    name = outcome.call.name
    for argument, value in unknown_arguments(outcome, seen, task.rules.compare, pure):
        if (name, value) in inferred:
            continue
        what = f"gold calls {name} with {argument}={value!r}, which nobody told the agent"
        knows = task.user.every_topic if task.user is not None else dict[str, Topic]()
        known = [topic for topic, text in knows.items() if appears_in(value, flat(text.says))]
        advice = f" before this call; ask it first: `- ask: {known[0]}`" if known else ""
        yield name, f"{what}{advice} (task {task.id})"


def unknown_arguments(
    outcome: ToolOutcome, seen: str, rules: Mapping[str, Any], pure: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """The arguments of a call, each with a value, that do not appear in a :func:`flat` text and
    are not the agent's own words. ``rules`` are those by which columns compare.
    """
    name = outcome.call.name
    arguments = {} if name == SUBMIT else outcome.arguments or {}
    for argument, value in _given(name, arguments, pure=name in pure):
        cents = argument.endswith("_cents") and isinstance(value, int)  # people say 12.50 for 1250
        known = appears_in(value, seen) or (cents and appears_in(f"{value / 100:.2f}", seen))
        if not (known or _own_words(value, outcome.changes, rules)):
            yield argument, value


def _given(tool: str, arguments: Mapping[str, Any], *, pure: bool) -> Iterator[tuple[str, Any]]:
    """The values of a call that must come from somewhere; only the constants of the SQL of a
    built-in tool, and the numbers in the texts of a pure one, whose words are the agent's own.
    """
    for argument, value in leaves(arguments):
        if pure and isinstance(value, str):
            yield from ((argument, number) for number in numbers(value))
        elif tool in BUILTIN and argument == "sql":
            yield from ((argument, constant) for constant in constants(str(value)))
        else:
            yield argument, value


def constants(sql: str) -> Iterator[str | int | float]:
    """The texts (without surrounding wildcards of LIKE) and the numbers in a statement, without the
    numbers 0 to 9, which belong to its form.
    """
    for found in _CONSTANT.finditer(sql):
        text, number = found["text"], found["number"]
        if text is not None and any(map(str.isalnum, bare := text.replace("''", "'").strip("%_ "))):
            yield bare
        elif number is not None and len(number) > 1:
            yield float(number) if "." in number else int(number)


def numbers(expression: str) -> Iterator[int | float]:
    """The numbers in an expression, without 0 to 9 and 100, which belong to its form."""
    for found in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", expression):
        if len(found) > 1 and found != "100":
            yield float(found) if "." in found else int(found)


_CONSTANT = re.compile(
    r"""'(?P<text>(?:[^']|'')*)' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | \b[A-Za-z_]\w*
    | (?P<number>\d+(?:\.\d+)?)""",
    re.DOTALL | re.VERBOSE,
)


def _own_words(value: Any, changes: Sequence[RowChange], rules: Mapping[str, Any]) -> bool:
    """True if a text was written, and only into columns of free text."""
    held = [
        rule_of(rules, change.table, column)
        for change in changes
        for column, cell in (change.after or {}).items()
        if isinstance(value, str) and cell == value
    ]
    return bool(held) and all(rule == "free_text" for rule in held)


def rule_of(rules: Mapping[str, Any], table: str, column: str) -> Any:
    """The rule by which a column compares."""
    return rules.get(f"{table}.{column}", rules.get(f"*.{column}", "exact"))


def flat(text: str) -> str:
    return " ".join(text.casefold().split())


def leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """The scalars in a value, each with its path; the JSON text of an object is read as that."""
    if isinstance(value, str) and value.startswith("{"):
        value = parsed(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return [
            leaf for key, inner in items for leaf in leaves(inner, f"{name}.{key}" if name else key)
        ]
    if isinstance(value, list):
        return [leaf for inner in cast("list[Any]", value) for leaf in leaves(inner, f"{name}[]")]
    return [(name, value)]


def appears_in(value: Any, seen: str) -> bool:
    """True if a value is a word of a :func:`flat` text, or a name inside one of its e-mail
    addresses or user ids ("rossi" in "yusuf_rossi_9620").
    """
    if value is None or isinstance(value, bool):
        return True
    forms = [flat(str(value)), flat(written(str(value)))]
    if isinstance(value, float) and value.is_integer():
        forms.append(str(int(value)))
    if isinstance(value, int):
        forms.append(f"{value}.0")
    if isinstance(value, int | float):  # 12.50 is 12.5
        forms += [f"{form}0" for form in forms if "." in form]
    whole = (rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)" for form in forms)
    if any(re.search(pattern, seen) for pattern in whole):
        return True
    return isinstance(value, str) and _inside_an_id(forms[0], seen)


_ID = re.compile(r"[\w.+-]*@[\w.-]+|\b[^\W\d_]\w*_\w*")
"""E-mail addresses and user ids such as yusuf_rossi_9620."""


def _inside_an_id(name: str, seen: str) -> bool:
    """True if a name of three letters or more, or a postcode, is a part of an id."""
    parts = re.findall(r"\w+", name)
    if len(name) < 3 or not parts or not re.fullmatch(r"[^\W\d_][^\d_]*|\d{4,}", name):
        return False
    ids = _ID.findall(seen)
    return all(any(part in found for found in ids) for part in parts)
