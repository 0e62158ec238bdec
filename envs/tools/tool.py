"""A tool: a name, a description, a JSON Schema of its parameters, and the function that does it.

Under :func:`tool`, a typed function with a docstring in Google's style becomes one::

    @tool(read_only=True)
    def get_patient(db: Connection, patient_id: int) -> dict:
        \"\"\"Return one patient's chart.

        Args:
            patient_id: The patient's id, as list_patients gives it.
        \"\"\"

Schemas keep to the subset that OpenAI's strict mode, Mistral and vLLM all accept;
:func:`lint` lists what does not.
"""  # noqa: D214 - the section is the example's

from __future__ import annotations

import functools
import inspect
import json
import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import jsonschema
from jsonschema import Draft202012Validator

from envs.errors import WorldError
from envs.tools.portable import sent
from envs.types import Json, Limits, ToolResult

if TYPE_CHECKING:
    import sqlalchemy

NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
"""What the name of a tool may look like at OpenAI, Anthropic, Mistral and vLLM alike."""

PROPERTY = re.compile(r"^[A-Za-z0-9_.-]{1,64}$")
"""What the name of a parameter may look like at OpenAI and Anthropic alike."""

PORTABLE = frozenset({
    "type", "description", "enum", "const", "properties", "required", "additionalProperties",
    "items", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "pattern", "format", "default", "title",
})  # fmt: skip
"""JSON Schema keywords that the common endpoints accept in a tool's parameters."""

SCALARS: dict[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean"}

BY_NAME = frozenset({inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY})

UNHASHABLE = "unhashable type: 'dict'"
ANNOTATED_ADVICE = (
    "keywords cannot stand inside a union: write Annotated[int | None, {...}], not"
    " Annotated[int, {...}] | None"
)
"""Before Python 3.14 a union hashes its members, and a dict has no hash."""

PositiveInt = Annotated[int, {"minimum": 1}]
"""Annotation of a parameter or an option that is a whole number above 0."""

OptionalPositiveInt = Annotated[int | None, {"minimum": 1}]
"""The same of an option that may be None: before Python 3.14 a union cannot hold the keywords."""

Risk = Literal["read", "write", "destructive"]
RISKS: tuple[Risk, ...] = ("read", "write", "destructive")

Audience = Literal["agent", "user", "nobody"]

Executor = Callable[[dict[str, Json], "sqlalchemy.Connection"], ToolResult]


@dataclass(frozen=True, slots=True)
class Tool:
    """A resident: it holds a function. ``limits`` can only tighten the environment's.

    ``risk`` says how much depends on a call, for whoever approves calls; None: as ``read_only``
    says, read or write. ``free_sql`` says that the executor runs SQL which the agent wrote. Where
    the engine cannot break off every statement (SQLite), such a call runs in a process that can be
    killed: it keeps nothing in memory from one call to the next. ``secret`` names parameters whose
    values leave no trace in an audit, not even in a digest (:mod:`envs.audit`). The result of a
    ``pure`` tool, such as a calculator, follows from its arguments alone. ``offered_to`` says whose
    it is: a tool of the user is its own, such as a switch of its phone; one of nobody sets or
    checks the state of the database for a task.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    executor: Executor
    read_only: bool = False
    output_schema: Mapping[str, Json] | None = None
    risk: Risk | None = None
    limits: Limits = field(default_factory=lambda: Limits(False, None, None, None))
    free_sql: bool = False
    secret: frozenset[str] = frozenset()
    pure: bool = False
    offered_to: Audience = "agent"

    def to_openai(self) -> dict[str, Json]:
        """The tool as an OpenAI-compatible endpoint is shown it: its parameters in the one form
        that known servers take (:func:`envs.tools.portable.sent`).
        """
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": sent(self.parameters),
            },
        }


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    read_only: bool = False,
    risk: Risk | None = None,
    output_schema: Mapping[str, Json] | None = None,
    statement_timeout_ms: int | None = None,
    max_rows: int | None = None,
    max_result_bytes: int | None = None,
    free_sql: bool = False,
    secret: Collection[str] = (),
    pure: bool = False,
    offered_to: Audience = "agent",
) -> Any:
    """Make a :class:`Tool` from a typed function whose first parameter is the connection.

    The function returns a JSON value, or a :class:`ToolResult`; it raises
    :class:`~envs.errors.ToolError` to speak to the model. ``free_sql``: it runs SQL that the agent
    wrote. ``secret``: parameters whose values no audit may show. ``pure``: its result
    follows from the arguments alone, as a calculator's does. ``offered_to``: whose it
    is. Raises :class:`~envs.errors.WorldError` for a signature that has no JSON Schema.
    """

    def make(inner: Callable[..., Any]) -> Tool:
        plain: Any = inspect.unwrap(inner)
        if not inspect.isfunction(plain):
            raise WorldError(f"@tool goes on a plain function, not on {inner!r}")
        code = plain.__code__
        if sort := kind_of_function(plain):
            raise WorldError(
                f"tool {plain.__name__}: it is {sort}; write a plain function that returns its"
                " result",
                code.co_filename,
                code.co_firstlineno,
            )
        try:
            description, parameters = describe(inner)
        except TypeError as error:
            raise WorldError(
                f"tool {inner.__name__}: {error}", code.co_filename, code.co_firstlineno
            ) from None

        def execute(arguments: dict[str, Json], db: sqlalchemy.Connection) -> ToolResult:
            result = inner(db, **arguments)
            return result if isinstance(result, ToolResult) else ToolResult(result)

        made = Tool(
            name=name or inner.__name__,
            description=description,
            parameters=parameters,
            executor=execute,
            read_only=read_only,
            output_schema=output_schema,
            risk=risk,
            limits=Limits(read_only, statement_timeout_ms, max_rows, max_result_bytes),
            free_sql=free_sql,
            secret=frozenset([secret] if isinstance(secret, str) else secret),
            pure=pure,
            offered_to=offered_to,
        )
        if problems := lint(made):
            raise WorldError("; ".join(problems), code.co_filename, code.co_firstlineno)
        return made

    return make if function is None else make(function)


def kind_of_function(function: Callable[..., Any]) -> str:
    """Say which kind of function cannot be an executor, because its result is not there when it
    returns: ``async`` or ``a generator``; empty for a plain function.
    """
    if inspect.iscoroutinefunction(function):
        return "async"
    return (
        "a generator"
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
        else ""
    )


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, Json]]:
    """Description and parameter schema of a typed function; TypeError for what has no schema.

    Every parameter needs an annotation and a line under ``Args:``; a default makes it optional.
    """
    signature = inspect.signature(function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except TypeError as error:
        raise TypeError(
            f"{error}; {ANNOTATED_ADVICE}" if UNHASHABLE in str(error) else str(error)
        ) from None
    description, documented = _docstring(inspect.getdoc(function) or "")
    if not description:
        raise TypeError("it needs a docstring: the model reads it")
    names = list(signature.parameters)[1:]
    if not signature.parameters:
        raise TypeError("its first parameter must be the connection")
    if loose := [name for name in names if signature.parameters[name].kind not in BY_NAME]:
        raise TypeError(f"parameter `{loose[0]}` cannot be passed by name")
    if unknown := sorted(set(documented) - set(names)):
        raise TypeError(f"the docstring describes the unknown parameter `{unknown[0]}`")
    properties: dict[str, Json] = {}
    required: list[str] = []
    for name in names:
        if name not in hints:
            raise TypeError(f"parameter `{name}` needs a type annotation")
        if name not in documented:
            raise TypeError(f"parameter `{name}` needs a line under Args: in the docstring")
        properties[name] = {**schema_of(hints[name]), "description": documented[name]}
        if signature.parameters[name].default is inspect.Parameter.empty:
            required.append(name)
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": required}
    return description, schema | {"additionalProperties": False}


def schema_of(hint: Any) -> dict[str, Json]:
    """JSON Schema of an annotation: scalars, list, dict, Literal, Enum, ``X | None`` and Annotated
    with keywords.

    The keywords of an optional parameter stand outside: ``Annotated[int | None, {"minimum": 1}]``.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _schema_of_union(hint, arguments)
    if origin is Literal:
        return _schema_of_values(hint, arguments)
    if origin in (list, Sequence) and arguments:
        return {"type": "array", "items": schema_of(arguments[0])}
    if hint in SCALARS:
        return {"type": SCALARS[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return schema_of(Literal[tuple(member.value for member in hint)])
    if dict in (hint, origin):
        return {"type": "object"}
    if list in (hint, origin):
        raise TypeError("a bare list has no item type; write list[str] or the like")
    raise TypeError(f"{hint!r} has no portable JSON Schema")


def _annotated(hint: Any, extras: Sequence[object]) -> dict[str, Json]:
    """The schema of the hint with these keywords; keywords with a `type` take its place."""
    given: dict[str, Json] = {}
    for extra in extras:
        if isinstance(extra, Mapping):
            given |= cast("Mapping[str, Json]", extra)
    return given if "type" in given else schema_of(hint) | given


def _schema_of_union(hint: Any, members: tuple[Any, ...]) -> dict[str, Json]:
    present = [member for member in members if member is not type(None)]
    if len(present) != 1:
        raise TypeError(
            f"a union of several types ({hint}) is not portable between endpoints; take one type"
        )
    return schema_of(present[0])


def _schema_of_values(hint: Any, values: tuple[Any, ...]) -> dict[str, Json]:
    kinds = {SCALARS.get(type(value)) for value in values}
    if len(kinds) != 1 or None in kinds:
        raise TypeError(f"the values of {hint} must be scalars of one type")
    return {"type": kinds.pop(), "enum": list(values)}


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a Google-style docstring into its prose and its ``Args:`` lines."""
    prose, _, rest = text.partition("\nArgs:\n")
    documented: dict[str, str] = {}
    name = ""
    for line in rest.splitlines():
        if re.match(r"^(Returns|Raises|Yields|Examples?|Notes?):\s*$", line):
            break
        if found := re.match(r"^(?: {4}|\t)(\w+)(?: \([^)]*\))?:\s*(.*)$", line):
            name = found.group(1)
            documented[name] = found.group(2)
        elif name and line.strip():
            documented[name] += " " + line.strip()
    return " ".join(prose.split()), documented


def lint(item: Tool) -> list[str]:
    """List what breaks at a common endpoint, of a tool's name and schemas; empty if nothing."""
    problems: list[str] = []
    if not NAME.fullmatch(item.name):
        problems.append(f"tool name {item.name!r} must match {NAME.pattern}")
    if not item.description.strip():
        problems.append(f"tool {item.name}: no description")
    if item.risk is not None and (
        item.risk not in RISKS or (item.risk == "read") is not item.read_only
    ):
        allowed = "read, as it is read_only" if item.read_only else "write or destructive"
        problems.append(f"tool {item.name}: risk must be {allowed}, not {item.risk!r}")
    if item.offered_to not in get_args(Audience):
        allowed = "agent, user or nobody"
        problems.append(f"tool {item.name}: offered_to must be {allowed}, not {item.offered_to!r}")
    problems += [f"tool {item.name}: {line}" for line in _unknown_secrets(item)]
    for label, schema in (("parameters", item.parameters), ("output_schema", item.output_schema)):
        if schema is None:
            continue
        if problem := _broken_schema(schema):
            problems.append(f"tool {item.name}: {label} {problem}")
        elif label == "parameters":
            if schema.get("type") != "object":
                problems.append(f"tool {item.name}: parameters must be of type object")
            problems += [f"tool {item.name}: {line}" for line in _unportable(schema, "parameters")]
    return problems


def _unknown_secrets(item: Tool) -> list[str]:
    schema = cast("object", item.parameters)
    known: object = None
    if isinstance(schema, Mapping):
        known = cast("Mapping[str, object]", schema).get("properties")
    names = cast("Mapping[str, object]", known if isinstance(known, Mapping) else {})
    return [
        f"secret: unknown parameter {name!r}; known are {', '.join(names) or 'none'}"
        for name in sorted(item.secret - names.keys())
    ]


def _broken_schema(schema: object) -> str:
    """Say why a value is not a JSON Schema; empty if it is one."""
    if not isinstance(schema, Mapping):
        return f"must be a JSON Schema, not {schema!r}"
    try:
        text = json.dumps(dict(cast("Mapping[str, Any]", schema)), allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"must be JSON: {error}; write dates and the like as text"
    return _broken_schema_text(text)


@functools.lru_cache(maxsize=1_024)
def _broken_schema_text(text: str) -> str:
    """:func:`_broken_schema`, once per text: tools are linted when made and in each toolbox."""
    try:
        Draft202012Validator.check_schema(json.loads(text))
    except jsonschema.SchemaError as error:
        path = ".".join(str(part) for part in error.absolute_path)
        return f"must be a JSON Schema: {f'{path}: ' if path else ''}{error.message}"
    return ""


def _unportable(schema: Mapping[str, Json], where: str) -> list[str]:
    out = [f"{where}: keyword `{key}` is not portable" for key in schema if key not in PORTABLE]
    if isinstance(schema.get("type"), list):
        out.append(
            f"{where}: a list of types is not portable; take one type and leave the property"
            " optional"
        )
    for name, inner in cast("Mapping[object, Json]", schema.get("properties", {})).items():
        if not isinstance(name, str) or not PROPERTY.fullmatch(name):
            out.append(f"{where}: the name {name!r} must match {PROPERTY.pattern}")
        if not isinstance(inner, Mapping):
            out.append(f"{where}.{name}: {inner!r} is not portable; write a schema with a type")
            continue
        inner = cast("Mapping[str, Json]", inner)
        out += _unportable(inner, f"{where}.{name}")
    if unknown := [
        item for item in schema.get("required", ()) if item not in schema.get("properties", {})
    ]:
        out.append(f"{where}: `required` names the unknown property {unknown[0]!r}")
    if isinstance(items := schema.get("items"), Mapping):
        out += _unportable(cast("Mapping[str, Json]", items), f"{where}[]")
    if schema.get("type") == "array" and "items" not in schema:
        out.append(f"{where}: an array needs `items`")
    return out
