"""A model's answer, read as one family. It is data: nothing in it is imported or executed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from synth.core.tasks.yaml.source_map import Map, load_yaml
from synth.core.tasks.yaml.words import FAMILY_ID
from synth.errors import TaskError
from synth.ext.authoring.asking.questions import Refusal
from synth.plugins import REWARDS

LONGEST = 16_000
"""The most characters of a family."""

_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:ya?ml)?[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL
)
_OWN_KEYS = {
    "source": "it is filled in for you",
    "honest": "a family that you write has to reward all honest agents",
}
_OWN_ID = "a family needs an `id` of letters, digits and _"


def read_family(answer: str, scratch: Path, taken: Collection[str]) -> dict[str, Any]:
    """The family that an answer holds. ``scratch`` is a file for its YAML, ``taken`` are the ids
    that the world has.

    Raises :class:`Refusal`.
    """
    text = _yaml_of(answer)
    if len(text) > LONGEST:
        raise Refusal("too long", (f"the YAML has {len(text):,} characters, {LONGEST:,} may be",))
    _refuse_aliases(text)
    scratch.write_text(text, "utf-8")
    try:
        family = _one_family(load_yaml(scratch))
    except TaskError as error:
        line = f"line {error.line} of your YAML: " if error.line else ""
        raise Refusal("not YAML", (f"{line}{error.message}",)) from None
    _check_id(family.get("id"), taken)
    _refuse_own_keys(family)
    _check_gates(family.get("gates"))
    return dict(family)


def _yaml_of(answer: str) -> str:
    """The longest fenced block, or else the whole answer."""
    blocks = [found.group(1) for found in _FENCE.finditer(answer)]
    text = max(blocks, key=len) if blocks else answer
    return text.encode("utf-8", "replace").decode("utf-8")


def _refuse_aliases(text: str) -> None:
    """Refuse anchors and aliases, by which a short text may become an endless one."""
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise Refusal("not YAML", ("YAML aliases (`*name`) are not allowed: write it out",))
    except (yaml.YAMLError, RecursionError):
        return  # reading it reports the mistake with its line


def _one_family(root: object) -> Map:
    """The only family of a document: a list of one, a mapping with `families`, or itself."""
    if isinstance(root, Map) and "families" in root:
        root = root["families"]
    items = cast("list[object]", root) if isinstance(root, list) else [root]
    families = [item for item in items if isinstance(item, Map)]
    if not families or len(families) < len(items):
        message = "no family: answer with one ```yaml block that begins `- id: ...`"
        raise Refusal("no YAML", (message,))
    if len(families) > 1:
        raise Refusal("several families", (f"there are {len(families)} families: write one",))
    return families[0]


def _check_id(name: object, taken: Collection[str]) -> None:
    if not isinstance(name, str) or not FAMILY_ID.fullmatch(name):
        raise Refusal("notation", (f"{_OWN_ID}, not {str(name)[:80]!r}",))
    if name in taken:
        raise Refusal("duplicate", (f"the world has a family {name!r} already: write another",))


def _refuse_own_keys(family: Mapping[str, Any]) -> None:
    """Refuse keys by which a family would excuse itself from proofs."""
    for key, why in _OWN_KEYS.items():
        if key in family:
            raise Refusal("not allowed", (f"leave out `{key}`: {why}",))
    reply = family.get("reply")
    if isinstance(reply, Map) and "unjudged" in reply:
        raise Refusal("not allowed", ("leave out `unjudged`: replies are judged",))


def _check_gates(gates: object) -> None:
    """Refuse gates that do not ship: their names are paths of Python code."""
    for entry in cast("list[object]", gates) if isinstance(gates, list) else []:
        names = list(cast("Mapping[str, object]", entry)) if isinstance(entry, Map) else [entry]
        for name in names:
            if not isinstance(name, str) or name not in REWARDS.builtin:
                known = ", ".join(sorted(REWARDS.builtin))
                raise Refusal("not allowed", (f"no gate {str(name)[:80]!r} here: use {known}",))
