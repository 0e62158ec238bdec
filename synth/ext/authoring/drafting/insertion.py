"""Insertion of a family into the text of a tasks.yaml, which keeps all that stands there."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml

from synth.errors import OperatorError
from synth.ext.authoring.tasks_file import family_text

NEW_FILE = "# Task families, written by a model and proved by `synth draft`.\nfamilies: []\n"
"""The text of a tasks.yaml without a family."""


@dataclass(frozen=True)
class Inserted:
    """A text of tasks.yaml with a new family, whose own text begins in ``line`` (from 1)."""

    text: str
    line: int


def with_family(text: str, body: Mapping[str, object]) -> Inserted:
    """The text with one more family at the end of its list.

    Raises OperatorError for a text whose list of families cannot be continued.
    """
    key, families = _families(text)
    new = family_text(body)
    if not families.value:
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        end = families.end_mark.index
        head = text[:start] + "families:\n"
        return Inserted(head + new + text[end:].lstrip("\n"), head.count("\n") + 1)
    if families.flow_style:
        raise OperatorError(
            f"line {families.start_mark.line + 1} of tasks.yaml begins the list of families with"
            " `[`: write one `- id: ...` for each family, so that another can be added"
        )
    end = _end(text, families)
    head = text[:end].rstrip("\n") + "\n"
    indented = textwrap.indent(new, " " * families.start_mark.column)
    return Inserted(head + indented + text[end:], head.count("\n") + 1)


def _families(text: str) -> tuple[Any, Any]:
    """The nodes of the key `families` and of its list."""
    try:
        root = cast("Any", yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise OperatorError(f"tasks.yaml is not valid YAML: {error}") from None
    if isinstance(root, yaml.MappingNode) and not root.flow_style:
        for key, value in cast("list[tuple[Any, Any]]", root.value):
            if key.value == "families" and isinstance(value, yaml.SequenceNode):
                return key, value
    raise OperatorError("tasks.yaml has no list `families`: add `families: []`")


def _end(text: str, families: Any) -> int:
    """The index behind the line in which the last family ends.

    A block's own end mark stands behind the comments that follow it; its last leaf's does not.
    """
    node = families
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(node, yaml.MappingNode) else last
    index = int(node.end_mark.index)
    if index and text[index - 1] == "\n":  # behind a block of text
        return index
    newline = text.find("\n", index)
    return len(text) if newline < 0 else newline + 1
