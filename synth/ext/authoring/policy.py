"""policy.md of a generated world: what its constraints and states mean for the agent."""

from __future__ import annotations

from synth.ext.authoring.patterns.base import Sketch
from synth.ext.authoring.shape import Shape
from synth.ext.authoring.toolset import TableTools, closed


def consent_columns(shape: Shape, tools: dict[str, TableTools]) -> dict[str, frozenset[str]]:
    """The columns that are changed with consent only: amounts of money, else states."""
    for role in ("money", "status"):
        found = {
            name: frozenset(
                column for column in one.updates if shape.tables[name].column(column).role == role
            )
            for name, one in tools.items()
        }
        if any(found.values()):
            return {name: columns for name, columns in found.items() if columns}
    return {}


def write_policy(name: str, sketch: Sketch) -> str:
    """The text of policy.md."""
    tables = sketch.shape.tables
    lines = [
        f"# Rules for {name.replace('_', ' ')}",
        "",
        (
            "You look after this database through the tools you are given. Do what is asked within"
            " these rules,"
        ),
        "and nothing besides. Look everything up: never guess a number or a name.",
        "Read a row before you change it.",
        "",
        "## Names",
        "- A name that fits nothing is said to be unknown; nothing else is taken in its place.",
        "- A name that fits several is asked about before anything is read out or changed.",
    ]
    consents = [
        f"- {table.noun.words}: {', '.join(table.column(column).words for column in sorted(found))}"
        for key, found in sketch.consent.items()
        for table in [tables[key]]
    ]
    if consents:
        lines += [
            "",
            "## Consent",
            (
                "Before one of these is changed, restate what will be changed and its new value,"
                " and wait for a yes:"
            ),
            *consents,
        ]
    states = [
        f"- {table.noun.words}: {column.words} {', '.join(shut)}"
        for table in tables.values()
        for column, shut in [closed(table) or (None, [])]
        if column is not None
    ]
    if states:
        lines += [
            "",
            "## Closed",
            (
                "What is in one of these states is not changed any more, although the tools would"
                " do it. Say so, and change nothing:"
            ),
            *states,
        ]
    lines += [
        "",
        "## Answering",
        "- Where a `submit` tool is offered, hand in your result with it once, after the work.",
        "- Then tell the user in a sentence or two what they asked to know, or what was done.",
    ]
    return "\n".join(lines) + "\n"
