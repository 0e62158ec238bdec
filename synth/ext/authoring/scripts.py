"""SQL scripts in two: what makes the tables, and what fills them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from envs.scripts import split

_TAIL = re.compile(r"\s*;?[ \t]*\n?")
"""What is left of the line of a statement."""
_FILLS = re.compile(r"(?:INSERT|REPLACE|UPDATE|DELETE|WITH)\b", re.IGNORECASE)


def separate(texts: Sequence[str]) -> tuple[str, str]:
    """The schema and the rows of SQLite scripts, in the order in which they stand.

    Comments stay with the schema.
    """
    schema, seed = list[str](), list[str]()
    for text in texts:
        kept, rows, position = "", list[str](), 0
        for statement in split(text, "sqlite"):
            start = text.index(statement.text, position)
            end = start + len(statement.text)
            if tail := _TAIL.match(text, end):
                end = tail.end()
            if statement.kind == "sql" and _FILLS.match(statement.text):
                kept += text[position:start]
                rows.append(f"{statement.text};\n")
            else:
                kept += text[position:end]
            position = end
        schema.append((kept + text[position:]).strip())
        seed += rows
    return "\n\n".join(filter(None, schema)) + "\n", "".join(seed)
