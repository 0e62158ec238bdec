"""Whether gold knows what it does: every argument of its calls stood somewhere before, where an agent could read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from envs.sql_tools import BUILTIN
from envs.types import RowChange, ToolOutcome
from synth.admission.proof import GoldRun
from synth.tasks.words import SUBMIT
from synth.types import Task, Topic

Json = Any


def unreachable(task: Task, gold: GoldRun) -> list[tuple[str, str]]:
    """Arguments of gold that nobody had told the agent: not the request, the rules, the tools, an earlier result or an
    earlier turn of the user.

    Pairs of the tool and what is wrong. Words that end in free text only may be the agent's own.
    """
    told = [task.system, task.prompt, *(str(leaf) for _, leaf in leaves(gold.tools))]
    out: list[tuple[str, str]] = []
    outcomes = iter(gold.run.outcomes)
    for event in gold.run.events:
        if event["event"] == "user_turn":
            told.append(event["text"])
        elif event["event"] == "tool_result":
            outcome = next(outcomes)
            out += _unknown(task, outcome, flat("\n".join(told)))
            told += [outcome.content, *(leaf for _, leaf in leaves(outcome.result.payload()) if isinstance(leaf, str))]
    return out


def _unknown(task: Task, outcome: ToolOutcome, seen: str) -> Iterator[tuple[str, str]]:
    name = outcome.call.name
    for argument, value in _given(name, outcome.arguments or {}) if name != SUBMIT else ():
        if was_told(value, seen) or _own_words(value, outcome.changes, task.compare):
            continue
        what = f"gold calls {name} with {argument}={value!r}, which nobody told the agent"
        knows = task.user.knows if task.user is not None else dict[str, Topic]()
        known = [topic for topic, text in knows.items() if was_told(value, flat(text.says))]
        advice = f" before this call; ask it first: `- ask: {known[0]}`" if known else ""
        yield name, f"{what}{advice} (task {task.id})"


def _given(tool: str, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The values that a call takes from somewhere; of a built-in tool's SQL the constants, as its words are the agent's own."""
    for argument, value in leaves(arguments):
        if tool in BUILTIN and argument == "sql":
            yield from ((argument, constant) for constant in constants(str(value)))
        else:
            yield argument, value


def constants(sql: str) -> Iterator[str | int | float]:
    """The texts (without the wildcards of LIKE around them) and the numbers in a statement; not 0 to 9, which shape it."""
    for found in _CONSTANT.finditer(sql):
        text, number = found["text"], found["number"]
        if text is not None and any(map(str.isalnum, bare := text.replace("''", "'").strip("%_ "))):
            yield bare
        elif number is not None and len(number) > 1:
            yield float(number) if "." in number else int(number)


_CONSTANT = re.compile(
    r"""'(?P<text>(?:[^']|'')*)'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\b[A-Za-z_]\w*|(?P<number>\d+(?:\.\d+)?)""",
    re.DOTALL,
)


def _own_words(value: Json, changes: Sequence[RowChange], rules: Mapping[str, Json]) -> bool:
    """Whether a text was written, and into columns only that take any text."""
    held = [
        rule_of(rules, change.table, column)
        for change in changes
        for column, cell in (change.after or {}).items()
        if isinstance(value, str) and cell == value
    ]
    return bool(held) and all(rule == "free_text" for rule in held)


def rule_of(rules: Mapping[str, Json], table: str, column: str) -> Json:
    """How a column compares."""
    return rules.get(f"{table}.{column}", rules.get(f"*.{column}", "exact"))


def flat(text: str) -> str:
    return " ".join(text.casefold().split())


def leaves(value: Json, name: str = "") -> list[tuple[str, Json]]:
    """The scalars in a value, each with its path."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value).items()
        return [leaf for key, inner in items for leaf in leaves(inner, f"{name}.{key}" if name else key)]
    if isinstance(value, list):
        return [leaf for inner in cast("list[Json]", value) for leaf in leaves(inner, f"{name}[]")]
    return [(name, value)]


def was_told(value: Json, seen: str) -> bool:
    """Whether a value stands in a :func:`flat` text, as a word of its own."""
    if value is None or isinstance(value, bool):
        return True
    forms = [flat(str(value))]
    if isinstance(value, float) and value.is_integer():
        forms.append(str(int(value)))
    if isinstance(value, int):
        forms.append(f"{value}.0")
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", seen) for form in forms)
