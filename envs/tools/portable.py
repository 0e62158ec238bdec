"""The one form of a tool's parameters that known servers take, and what a schema has beyond it.

A world's schema may say more than a server compiles. What is sent keeps the types, and says the
rest in the description of its parameter; the toolbox still checks the schema as the world wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from envs.json_text import lenient

LONGEST = 1_000
"""The longest text and the most items that are sent as numbers: llama.cpp compiles less than 2,000
repetitions, also where they are nested.
"""

_KEPT = frozenset(
    {
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minimum",
        "maximum",
        "default",
        "title",
    }
)
_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}

_SAID = "the description says it instead"
_WHY: Mapping[str, str] = {
    # diegosouzapw/OmniRoute#760, decolua/9router#359, 2026-03
    "enum": f"Gemini takes only texts in it; {_SAID}",
    # ggml-org/llama.cpp#25746 and #26596, firecrawl/firecrawl#4512, 2026-07 to 2026-09
    "lengths": f"llama.cpp refuses the request where it is above 1,000 or nested; {_SAID}",
    # ggml-org/llama.cpp#25895 and #26930, 2026-07 and 2026-08
    "pattern": f"llama.cpp refuses the request where it is nested or not anchored; {_SAID}",
    # HazAT/pi-parallel#4, read on 2026-11-25
    "type": "Gemma's template fails without; it is sent as {type}: write the type that is meant",
    # ollama/ollama-vscode#67, 2026-09
    "properties": "Ollama's templates fail without; an empty one is sent",
    # Mirrowel/LLM-API-Key-Proxy#86, lbjlaq/Antigravity-Manager#61, 2025-12 and 2026-01
    "other": f"Gemini refuses the request; {_SAID}",
}
"""The fate of a keyword, by server; the comments name source and date."""


def sent(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's parameters as every known server takes it: ``properties`` in any case,
    a ``type`` for each parameter and item, and only keywords that compile.
    """
    return _Walk().root(parameters)


class Change(NamedTuple):
    """A keyword that is not sent as it is written, the parameter that has it (empty: the tool
    itself), and which servers would fail, with what is done about it.
    """

    keyword: str
    place: str
    why: str


def beyond(parameters: Mapping[str, Any]) -> list[Change]:
    """Return the changes of :func:`sent`; empty for a schema that is sent as it is."""
    walk = _Walk()
    walk.root(parameters)
    return walk.found


class _Walk:
    """One pass over a schema; ``found`` lists its changes."""

    def __init__(self) -> None:
        self.found: list[Change] = []

    def root(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        if "properties" not in schema:
            self.found.append(Change("properties", "", _WHY["properties"]))
        return self._schema({"type": "object", "properties": {}, **schema}, "", 0)

    def _schema(self, schema: Mapping[str, Any], place: str, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        said: list[str] = []
        if "type" not in schema:
            out["type"] = _guess(schema)
            self.found.append(Change("type", place, _WHY["type"].format(type=out["type"])))
        for key, value in schema.items():
            if problem := _problem(key, value, depth):
                self.found.append(Change(key, place, _WHY[problem]))
                said.append(f"{key}: {value if isinstance(value, str) else lenient(value)}")
            elif key == "properties":
                out[key] = {
                    name: self._schema(inner, f"{place}.{name}".lstrip("."), depth + 1)
                    for name, inner in cast("Mapping[str, Any]", value).items()
                }
            elif key == "items":
                out[key] = self._schema(value, f"{place}[]", depth + 1)
            else:
                out[key] = value
        if said:
            words = [schema["description"]] if schema.get("description") else []
            out["description"] = " ".join([*words, f"({', '.join(said)})"])
        return out


def _problem(keyword: str, value: Any, depth: int) -> str:
    """The key in :data:`_WHY` of a keyword that is not sent; empty for one that is."""
    if keyword == "enum":
        texts = all(isinstance(one, str) and one for one in cast("Iterable[Any]", value))
        return "" if texts else "enum"
    if keyword in _LENGTHS:
        return "" if depth == 1 and value <= LONGEST else "lengths"
    if keyword == "pattern":
        anchored = value.startswith("^") and value.endswith("$")
        return "" if depth == 1 and anchored else "pattern"
    return "" if keyword in _KEPT else "other"


def _guess(schema: Mapping[str, Any]) -> str:
    """The type that the other keywords imply; text, where they say nothing."""
    if "properties" in schema:
        return "object"
    if "items" in schema:
        return "array"
    const = [schema["const"]] if "const" in schema else []
    values: list[object] = [*schema.get("enum", ()), *const]
    kinds = {_TYPES.get(type(value), "string") for value in values}
    return kinds.pop() if len(kinds) == 1 else "string"
