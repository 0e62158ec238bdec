"""tasks.yaml as a person would write it: short maps on one line, SQL and texts in blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, cast

import yaml

from synth.ext.authoring.patterns.base import Draft

LEAST = 2
"""The fewest tasks that make a family."""

Reads = Mapping[str, object]
"""The lookups of which one comes before a tool that changes a row, as `read_before` has them."""

_WIDTH = 100
_NUMBER = re.compile(r"[-+.]?[0-9]")
"""Beginning of a text that YAML 1.1 and 1.2 may read as different numbers."""
_FLOW = 84
"""The most characters of a map or list that stands on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Flow(dict[str, object]):
    """A map on one line."""


class _FlowList(list[object]):
    """A list on one line."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    block = "\n" in value and value.strip(" ") == value and "\t" not in value
    quoted = any(c in value for c in "{}$:#'") or _NUMBER.match(value)
    style = "|" if block else '"' if quoted or "\n" in value else None
    return cast("Any", dumper).represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(
    _Flow, lambda d, v: d.represent_mapping("tag:yaml.org,2002:map", v, flow_style=True)
)
_Dumper.add_representer(
    _FlowList, lambda d, v: d.represent_sequence("tag:yaml.org,2002:seq", v, flow_style=True)
)


def write_tasks(drafts: Sequence[Draft], now: str, reads: Reads | None = None) -> str:
    """The text of tasks.yaml; families of one pattern stand together under a heading. ``reads`` is
    the key `read_before`.
    """
    parts = [
        (
            "# Task families, written by `synth new` and proved by `synth check`. They are yours to"
            " change.\n"
        ),
        f'now: "{now}"\ntransient: forbid\n',
        _yaml({"read_before": _styled(reads)}) if reads else "",
        "families:\n" if drafts else "families: []\n",
    ]
    for pattern, group in groupby(drafts, key=lambda draft: draft.pattern):
        title = pattern.replace("_", " ").capitalize()
        parts.append(f"\n# {title} {'-' * (70 - len(title))}\n\n")
        parts += [family_text(draft.body) + "\n" for draft in group]
    return "".join(parts).rstrip() + "\n"


def family_text(body: Mapping[str, object]) -> str:
    """A family as an item of the list `families`."""
    return _yaml([_styled(dict(body), top=True)])


def _yaml(value: object) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _styled(value: object, *, top: bool = False) -> object:
    """The value with its short maps and lists on one line."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value)
        short = not top and _is_short(pairs)
        made = {key: _styled(inner) for key, inner in pairs.items()}
        return _Flow(made) if short else made
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        inner = [_styled(item) for item in items]
        texts = any(isinstance(item, str) and " " in item for item in items)
        return _FlowList(inner) if _is_short(items) and not texts else inner
    return value


def _is_short(value: object) -> bool:
    text = repr(value)
    return len(text) <= _FLOW and "\\n" not in text
