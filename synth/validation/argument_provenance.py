"""Provenance of gold's arguments: each of them must have appeared earlier, where an agent could
read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from envs.tools.sql import BUILTIN
from envs.types import RowChange, ToolOutcome
from synth.tasks.yaml.words import SUBMIT
from synth.types import Task, Topic
from synth.types.events import ToolResultEvent, UserTurnEvent
from synth.validation.prove import GoldRun


def ungrounded_arguments(task: Task, gold: GoldRun) -> list[tuple[str, str]]:
    """Find arguments of gold that appear in no text that the agent has seen: the request, the
    policy, the tools, earlier results and earlier turns of the user.

    Returns pairs of the tool and a message. Text that ends up in free text only may be the agent's
    own.
    """
    seen = [task.system, task.prompt, *(str(leaf) for _, leaf in leaves(gold.tools))]
    out: list[tuple[str, str]] = []
    outcomes = iter(gold.run.outcomes)
    for event in gold.run.events:
        if isinstance(event, UserTurnEvent):
            seen.append(event.text)
        elif isinstance(event, ToolResultEvent):
            outcome = next(outcomes)
            out += _unknown(task, outcome, flat("\n".join(seen)))
            seen += [
                outcome.content,
                *(leaf for _, leaf in leaves(outcome.result.payload()) if isinstance(leaf, str)),
            ]
    return out


def _unknown(task: Task, outcome: ToolOutcome, seen: str) -> Iterator[tuple[str, str]]:
    name = outcome.call.name
    for argument, value in _given(name, outcome.arguments or {}) if name != SUBMIT else ():
        if appears_in(value, seen) or _own_words(value, outcome.changes, task.compare):
            continue
        what = f"gold calls {name} with {argument}={value!r}, which nobody told the agent"
        knows = task.user.every_topic if task.user is not None else dict[str, Topic]()
        known = [topic for topic, text in knows.items() if appears_in(value, flat(text.says))]
        advice = f" before this call; ask it first: `- ask: {known[0]}`" if known else ""
        yield name, f"{what}{advice} (task {task.id})"


def _given(tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a call that must come from somewhere; only the constants of the SQL of a
    built-in tool, whose words are the agent's own.
    """
    for argument, value in leaves(arguments):
        if tool in BUILTIN and argument == "sql":
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
    """The scalars in a value, each with its path."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return [
            leaf for key, inner in items for leaf in leaves(inner, f"{name}.{key}" if name else key)
        ]
    if isinstance(value, list):
        return [leaf for inner in cast("list[Any]", value) for leaf in leaves(inner, f"{name}[]")]
    return [(name, value)]


def appears_in(value: Any, seen: str) -> bool:
    """True if a value is a word of a :func:`flat` text."""
    if value is None or isinstance(value, bool):
        return True
    forms = [flat(str(value))]
    if isinstance(value, float) and value.is_integer():
        forms.append(str(int(value)))
    if isinstance(value, int):
        forms.append(f"{value}.0")
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", seen) for form in forms)
