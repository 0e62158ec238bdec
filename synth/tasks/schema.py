"""The JSON Schema of tasks.yaml, for editors: built from the parser's own words, completed by a world's tools.

It says what may stand where; what only the database or the rest of the file can tell (slots, columns, SQL) is the
parser's. ``tasks.schema.json`` beside this file is what :func:`tasks_schema` builds without a world.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from envs.tool import PROPERTY, Tool
from synth.tasks.domains import FAKE_KEYS, FAKE_MOST, KINDS
from synth.tasks.words import (
    ACCEPT_KEYS,
    COLUMN_COMPARE,
    CONSENT_KEYS,
    DIFFICULTIES,
    END_KEYS,
    FAMILY_ID,
    FAMILY_KEYS,
    FIELD_COMPARE,
    FIELD_KEYS,
    FIELD_TYPES,
    FRAME_KEYS,
    GATES,
    NAME,
    ROW_OPS,
    SAYS_KEYS,
    SQL_COLUMNS,
    SQL_KEYS,
    SQL_ROWS,
    TABLE_COMPARE,
    TALK,
    TOPIC_KEYS,
    TRANSIENT,
    USER_KEYS,
    WORDS,
    WORLD_KEYS,
)

Json = Any

TEXT: Json = {"type": "string", "pattern": r"\S"}
TEXTS: Json = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
NOTATION: Json = {"type": "string", "pattern": r"^\$|\{"}
"""A text that stands for another value: a slot or a saved name."""

_LONE = ("say", "ask", "confirm", "submit", "for_each")


def tasks_schema(tools: Sequence[Tool] = ()) -> dict[str, Json]:
    """The schema (draft 7, which editors know best). With ``tools``, gold names these and no other."""
    names = [tool.name for tool in tools]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tasks.yaml of a synth world",
        **_closed(
            WORLD_KEYS,
            {
                "now": _told({"type": "string"}, "The world's date and time, ISO 8601 without offset, taken as UTC."),
                "compare": _told(_ref("compare"), "How columns compare, in all families."),
                "transient": _told(_ref("transient"), "The default of all families."),
                "families": {"type": "array", "minItems": 1, "items": _ref("family")},
            },
            ["families"],
        ),
        "definitions": {
            "family": _family(),
            "compare": _compare(),
            "transient": _told(_one_of(TRANSIENT), "forbid: a row that is written and put back fails the state gate."),
            "tolerance": _closed({"abs"}, {"abs": {"type": "number", "minimum": 0}}, ["abs"]),
            "domain": _domain(),
            "user": _user(),
            "field": _field(),
            "gate": _gate(names),
            "end": _end(),
            "steps": {"type": "array", "minItems": 1, "items": _ref("step")},
            "step": _step(tools),
        },
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/definitions/{name}"}


def _told(schema: Json, description: str) -> Json:
    """A schema with a description; a reference takes none beside itself in draft 7."""
    return (
        {"allOf": [schema], "description": description} if "$ref" in schema else {**schema, "description": description}
    )


def _one_of(words: Collection[str]) -> Json:
    return {"enum": sorted(words)}


def _closed(keys: Collection[str], properties: Mapping[str, Json], required: Sequence[str] = ()) -> dict[str, Json]:
    """An object with these keys and no other; the parser's keys and those described here are the same."""
    assert set(properties) == set(keys), sorted(set(properties) ^ set(keys))
    rest: dict[str, Json] = {"required": list(required)} if required else {}
    return {"type": "object", "properties": dict(properties), "additionalProperties": False, **rest}


def _mapping(values: Json, names: str = NAME.pattern, least: int = 1) -> dict[str, Json]:
    """An object whose keys are names of the author's."""
    return {
        "type": "object",
        "propertyNames": {"pattern": names},
        "additionalProperties": values,
        "minProperties": least,
    }


def _list_of(words: Collection[str] | None) -> Json:
    items = {"type": "string"} if words is None else _one_of(words)
    return {"type": "array", "items": items, "minItems": 1}


def _family() -> Json:
    properties = {
        "id": _told({"type": "string", "pattern": FAMILY_ID.pattern}, "The family's name, in the dataset too."),
        "about": _told({"type": "string"}, "What the family teaches or tests."),
        "ground": _told(
            _closed({"key", "sql"}, {"key": TEXT, "sql": TEXT}, ["key", "sql"]),
            "The rows that tasks are about; their columns are slots, and `key` is one that tells them apart.",
        ),
        "vary": _told(_mapping(_ref("domain"), least=0), "Slots whose values multiply the tasks."),
        "twins": _told(
            _mapping(TEXT, least=2), "A name and an SQL condition over the grounding each, which together cover it."
        ),
        "user": _told(_ref("user"), "Who asks, what is told when asked, and what is agreed to."),
        "answer": _told(_mapping(_ref("field"), PROPERTY.pattern), "The fields of a `submit` tool."),
        "oracle": _told(
            {"type": "object", "additionalProperties": TEXT}, "Independent SQL for the answer, with slots as :name."
        ),
        "gold": _told(_ref("steps"), "The reference solution."),
        "sql": _told(TEXT, "In the place of gold: the query that answers the question, with slots as :name."),
        "hint": _told(TEXT, "What the request says beside the question: a definition, how a value is written."),
        "difficulty": _told(_one_of(DIFFICULTIES), "How hard the author thinks that it is."),
        "gates": _told(
            {"type": "array", "minItems": 1, "uniqueItems": True, "items": _ref("gate")},
            "What a rollout has to pass; by default `state`, and `answer` where gold submits, `sql` where it is a query.",
        ),
        "compare": _told(_ref("compare"), "How columns compare, beside the world's rules."),
        "accept": _told(
            _closed(ACCEPT_KEYS, {"any_of": {"type": "array", "minItems": 1, "items": _ref("end")}}, ["any_of"]),
            "Right ends other than gold's.",
        ),
        "transient": _ref("transient"),
    }
    family = _closed(FAMILY_KEYS, properties, ["id", "ground", "user"])
    return family | {"oneOf": [{"required": ["gold"]}, {"required": ["sql"]}]}


def _compare() -> Json:
    return {
        "type": "object",
        "patternProperties": {
            r"^[^.]+$": {"const": TABLE_COMPARE},
            r"\.": {"anyOf": [_one_of(COLUMN_COMPARE), _ref("tolerance")]},
        },
        "additionalProperties": False,
    }


def _domain() -> Json:
    def numbers(kind: str, least: int) -> Json:
        return {"type": "array", "items": {"type": kind}, "minItems": least, "maxItems": 3}

    day: Json = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"}
    kinds: dict[str, Json] = {
        "int": _told(numbers("integer", 2), "[low, high] or [low, high, step]"),
        "float": _told(numbers("number", 3), "[low, high, step]"),
        "choice": {"type": "array", "minItems": 1, "uniqueItems": True},
        "date": _told({"type": "array", "items": day, "minItems": 2, "maxItems": 2}, "[first, last]"),
        "sql": _told(TEXT, "A query with one column, of which each value is taken."),
        "fake": _told(TEXT, "A provider of faker, such as name, city or sentence."),
    }
    assert set(kinds) == set(KINDS)
    beside: dict[str, Json] = {
        "count": {"type": "integer", "minimum": 1, "maximum": FAKE_MOST},
        "locale": {"type": "string"},
    }
    assert set(beside) | {"fake"} == FAKE_KEYS
    own = [_closed({kind}, {kind: kinds[kind]}, [kind]) for kind in KINDS if kind != "fake"]
    return {"anyOf": [*own, _closed(FAKE_KEYS, {"fake": kinds["fake"], **beside}, ["fake"])]}


def _user() -> Json:
    topic = _closed(
        TOPIC_KEYS,
        {
            "says": _told(TEXTS, "What the user tells; one is drawn."),
            "asked": _told(TEXTS, "How the expert asks; one is drawn."),
            "words": _told(TEXTS, "A question with one of these is about it; so is one with the topic's name."),
        },
        ["says"],
    )
    consent = _closed(
        CONSENT_KEYS,
        {
            "mentions": _told(TEXTS, "What the agent has to restate."),
            "act": _told(TEXTS, "Words for what will be done; a proposal of another act is not agreed to."),
            "says": _told(TEXTS, "How the user agrees; one is drawn."),
            "declines": _told(
                {"anyOf": [TEXTS, _mapping(TEXTS)]},
                "What the user says instead of agreeing: always, or in these twins.",
            ),
        },
        ["mentions"],
    )
    return _closed(
        USER_KEYS,
        {
            "says": _told(TEXTS, "The request; one is drawn."),
            "signed_in": _told(TEXT, "The authenticated user: the last line of the system message."),
            "persona": _told(TEXTS, "Who speaks, for a model that plays the user; one is drawn."),
            "knows": _told(_mapping({"anyOf": [TEXTS, topic]}), "What the user tells only when asked."),
            "agrees_if": _told(consent, "The condition of consent."),
        },
        ["says"],
    )


def _field() -> Json:
    return _closed(
        FIELD_KEYS,
        {
            "type": _one_of(FIELD_TYPES),
            "enum": {"type": "array", "minItems": 1},
            "items": _one_of(set(FIELD_TYPES) - {"array"}),
            "description": TEXT,
            "compare": {"anyOf": [_one_of(FIELD_COMPARE), _ref("tolerance")]},
        },
        ["description"],
    )


def _gate(tools: Sequence[str]) -> Json:
    oracle: Json = {"type": "string", "pattern": r"^\$oracle\."}
    ruled = {"type": "object", "additionalProperties": oracle, "minProperties": 1, "maxProperties": 1}
    options: dict[str, Json] = {
        "answer": {"type": "object", "additionalProperties": {"anyOf": [oracle, ruled]}},
        "no_write_before": _told(_list_of(TALK), "No call may change rows before these steps of gold are done."),
        "required_calls": _list_of(tools or None),
        "forbidden_calls": _list_of(tools or None),
        "says": _told(
            {**_closed(SAYS_KEYS, {"all": TEXTS, "none": TEXTS}), "minProperties": 1}, "Phrases of the last reply."
        ),
        "sql": _sql_gate(),
    }
    assert {*options, "state"} == GATES
    return {
        "anyOf": [
            {"enum": ["state", "answer", "sql"]},
            *(_closed({name}, {name: options[name]}, [name]) for name in options),
        ]
    }


def _sql_gate() -> Json:
    options: dict[str, Json] = {
        "rows": _told(_one_of(SQL_ROWS), "bag: how often a row comes counts (the default); set: it does not."),
        "columns": _told(_one_of(SQL_COLUMNS), "any: columns may stand in another order (the default); given: not."),
        "databases": _told(
            {"type": "integer", "minimum": 0, "maximum": 16}, "Further databases on which the answer has to be right."
        ),
        "tolerance": _told({"type": "number", "minimum": 0}, "The relative error that a figure may have."),
    }
    return _told(_closed(SQL_KEYS, options), "How the answer of the submitted query compares with that of `sql`.")


def _end() -> Json:
    frame = _closed(
        FRAME_KEYS,
        {
            "where": _told(TEXT, "A condition that is true of the row before and after."),
            "columns": _list_of(None),
            "ops": _list_of(ROW_OPS),
            "at_most": {"type": "integer", "minimum": 1},
        },
        ["where"],
    )
    return _closed(
        END_KEYS,
        {
            "bind": _told(_mapping(TEXT, least=0), "Names for values of the end, each of a query with one row."),
            "must": _told(TEXTS, "SQL that gives one true value on the end."),
            "may_change": _told(
                {"type": "object", "additionalProperties": {"anyOf": [TEXT, frame]}}, "The rows that may differ."
            ),
        },
        ["must", "may_change"],
    )


def _step(tools: Sequence[Tool]) -> Json:
    """A step of gold: one of the words, a tool's name with `save` and `fails`, or a twin's name with its own steps."""
    loop = {
        "type": "object",
        "properties": {"do": _ref("steps")},
        "required": ["do"],
        "minProperties": 2,
        "maxProperties": 2,
    }
    words: dict[str, Json] = {
        "say": _told(TEXTS, "The reply to the user."),
        "ask": _told(TEXTS, "Topics of the user's `knows`."),
        "confirm": _told(TEXTS, "What the user is asked to agree to; it contains each of the mentions."),
        "submit": _told({"type": "object", "minProperties": 1}, "The answer's fields."),
        "for_each": _told(loop, "{name: $list, do: [steps]}"),
        "save": _told({"type": "object", "additionalProperties": TEXT}, "Names for values of the result, by JSONPath."),
        "fails": _told(TEXT, "The category with which the call is meant to fail."),
    }
    assert {*words, "do"} == WORDS
    calls = {tool.name: _told(_arguments(tool.parameters), tool.description) for tool in tools}
    other = [_ref("steps")] if tools else [_ref("steps"), {"type": ["object", "null"]}]
    lone = [{"required": [word], "maxProperties": 1} for word in _LONE]
    call = {"not": {"anyOf": [{"required": [word]} for word in _LONE]}, "minProperties": 1, "maxProperties": 3}
    return {
        "type": "object",
        "properties": {**words, **calls},
        "additionalProperties": {"anyOf": other},
        "oneOf": [*lone, call],
    }


def _arguments(parameters: Mapping[str, Json]) -> Json:
    properties = cast("Mapping[str, Mapping[str, Json]]", parameters.get("properties", {}))
    arguments = {name: _notated(schema) for name, schema in properties.items()}
    return {"type": ["object", "null"], "properties": arguments, "additionalProperties": False}


def _notated(schema: Mapping[str, Json]) -> Json:
    """A parameter's schema as an argument of gold has to meet it: anything in it may be a slot, a saved name, or null."""
    inner = {key: value for key, value in schema.items() if key not in {"required", "description"}}
    if "properties" in inner:
        inner["properties"] = {name: _notated(each) for name, each in inner["properties"].items()}
    if "items" in inner:
        inner["items"] = _notated(inner["items"])
    told = {"description": schema["description"]} if "description" in schema else {}
    return {"anyOf": [inner, NOTATION, {"type": "null"}], **told}
