"""The entries of an action list, in one form whatever the file's form is.

The file is a JSON list, an object with the list under ``tasks``, or JSON Lines. An entry has a
scenario and the calls that are expected, in one of two forms::

    {"id": "17", "user_scenario": {"instructions": {"reason_for_call": ..., "known_info": ...,
     "unknown_info": ..., "task_instructions": ...}}, "evaluation_criteria": {"actions":
     [{"name": ..., "arguments": {...}}], "communicate_info": [...]}}

    {"id": "17", "instruction": ..., "actions": [{"name": ..., "arguments": {...}}],
     "outputs": [...]}

Either may have ``initial_state.initialization_actions``, calls that set the world's state first
(``initialization_data`` is such a call, of a tool of that name), and the first form has
``evaluation_criteria.env_assertions``, calls whose results are expected at the end. Both are
``{"func_name": ..., "arguments": {...}}``, assertions with an ``assert_value``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from synth.core.foundation.entry_files import raw_entries
from synth.core.foundation.json_leaves import strict_json
from synth.errors import OperatorError

FORMS = (
    "an entry has `user_scenario.instructions` and `evaluation_criteria.actions`, or"
    " `instruction` and `actions` (docs/guides/worlds/action-lists.md)"
)
"""The fields of both forms, for messages."""

_FIRST_DATA, _FIRST_CALLS = "initialization_data", "initialization_actions"
_SCENARIO = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


class _EntryError(ValueError):
    """An entry that cannot be read. The text says why."""


@dataclass(frozen=True)
class ExpectedCall:
    """One call of the list, as its author wrote it: the agent's, or one ``by_user``. An assertion
    has to return ``value``.
    """

    name: str
    arguments: Mapping[str, Any]
    by_user: bool = False
    value: bool = True


@dataclass(frozen=True)
class Scenario:
    """The texts about the user. ``request`` is a whole instruction where the author did not divide
    it; then the other texts are empty.
    """

    request: str
    known: str = ""
    unknown: str = ""
    instructions: str = ""
    persona: str = ""

    @property
    def divided(self) -> bool:
        """True if the author said which part is what."""
        return bool(self.known or self.unknown or self.instructions)


@dataclass(frozen=True)
class Entry:
    """One entry of a list. ``outputs`` are values that a reply must hold, ``line`` is its line in
    JSON Lines, otherwise 1. The calls of ``setup`` are made before the task begins.
    """

    id: str
    scenario: Scenario
    calls: Sequence[ExpectedCall]
    outputs: Sequence[str] = ()
    line: int = 1
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    setup: Sequence[ExpectedCall] = ()
    assertions: Sequence[ExpectedCall] = ()


class Kind(StrEnum):
    """A kind of mistake in a list, as reports count it."""

    UNREADABLE = "cannot be read"
    DUPLICATE_ID = "has the id of another task"
    NOT_SET_UP = "cannot be set up"
    UNKNOWN_TOOL = "calls an unknown tool"
    WRONG_ARGUMENTS = "calls a tool with wrong arguments"
    FAILS_ON_DATA = "makes a call that fails on the data"
    UNKNOWABLE_VALUE = "uses a value that nobody could know"
    NO_CHANGE = "makes a write that changes nothing"
    UNSUPPORTED_OUTPUT = "expects an output that no row supports"
    WRONG_END = "comes to another end than it asserts"
    NOTHING_TO_JUDGE = "has nothing to judge"
    HALF_DONE = "does a part of what its user names"
    OTHER_GOLD = "expects something else than a task of the same words"
    NOT_PROVED = "does not prove itself"
    WRONG_AGENT_WINS = "lets a lazy or wrong agent win"
    HONEST_AGENT_LOSES = "lets an honest agent lose"


class Refused(Exception):
    """An entry that cannot become a task."""

    def __init__(self, kind: Kind, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind, self.reason = kind, reason


@dataclass(frozen=True)
class LeftOut:
    """A task of a list that is left out, and the reason."""

    id: str
    kind: Kind
    reason: str

    def __str__(self) -> str:
        return f"task {self.id} {self.kind}: {self.reason}"


def read_entries(path: Path, option: str = "tasks.path") -> list[Entry | LeftOut]:
    """The entries of a file in their order. ``option`` named the file, for messages.

    Raises :class:`OperatorError` for a file that is no list, and for one without a readable entry.
    """
    out: list[Entry | LeftOut] = []
    for index, (line, raw) in enumerate(raw_entries(path, option, FORMS)):
        name = _id_of(raw, index)
        try:
            out.append(_entry(raw, name, line))
        except _EntryError as error:
            out.append(LeftOut(name, Kind.UNREADABLE, str(error)))
    if not any(isinstance(entry, Entry) for entry in out):
        first = next((item.reason for item in out if isinstance(item, LeftOut)), "it is empty")
        raise OperatorError(f"{option}: {path} holds no task that can be read: {first}; {FORMS}")
    return out


def _id_of(raw: Any, index: int) -> str:
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}
    value: object = fields.get("id", fields.get("task_id"))
    return str(value) if isinstance(value, (str, int)) and value != "" else str(index)


def _entry(raw: Any, name: str, line: int) -> Entry:
    if not isinstance(raw, Mapping):
        raise _EntryError(f"it is {raw!r:.60}, not an object; {FORMS}")
    fields = cast("Mapping[str, Any]", raw)
    if "user_scenario" in fields:
        return _scenario_entry(fields, name, line)
    if "instruction" in fields:
        calls = _calls(fields.get("actions"), "actions")
        outputs = _texts(fields.get("outputs"), "outputs")
        scenario = Scenario(_text(fields, "instruction"))
        return Entry(name, scenario, calls, outputs, line, fields, _setup(fields))
    keys = ", ".join(map(str, fields)) or "none"
    raise _EntryError(f"its fields are {keys}; {FORMS}")


def _scenario_entry(fields: Mapping[str, Any], name: str, line: int) -> Entry:
    scenario = _object(fields["user_scenario"], "user_scenario")
    told: Any = scenario.get("instructions")
    persona = scenario.get("persona")
    if isinstance(told, str):
        read = Scenario(_text({"instructions": told}, "instructions"))
    else:
        parts = _object(told, "user_scenario.instructions")
        request = _text(parts, "reason_for_call")
        known, unknown, rest = (
            _text(parts, key) if parts.get(key) else "" for key in _SCENARIO[1:]
        )
        read = Scenario(request, known, unknown, rest, persona if isinstance(persona, str) else "")
    criteria = _object(fields.get("evaluation_criteria"), "evaluation_criteria")
    calls = _calls(criteria.get("actions"), "evaluation_criteria.actions")
    assertions = [
        _assertion(item, f"env_assertions[{index}]")
        for index, item in enumerate(_items(criteria.get("env_assertions"), "env_assertions"))
    ]
    outputs = [
        *_texts(criteria.get("communicate_info"), "communicate_info"),
        *_texts(criteria.get("outputs"), "outputs"),
    ]
    return Entry(name, read, calls, outputs, line, fields, _setup(fields), assertions)


def _setup(fields: Mapping[str, Any]) -> list[ExpectedCall]:
    """The calls before the task, of an entry in either form."""
    state = _object(fields.get("initial_state") or {}, "initial_state")
    if others := [key for key in state if state[key] and key not in (_FIRST_DATA, _FIRST_CALLS)]:
        known = f"{_FIRST_DATA} and {_FIRST_CALLS} are"
        raise _EntryError(f"`initial_state.{others[0]}` is not read, only {known}")
    given = _object(state.get(_FIRST_DATA) or {}, f"initial_state.{_FIRST_DATA}")
    data = {key: part for key, part in given.items() if part}
    calls = _calls(state.get(_FIRST_CALLS), f"initial_state.{_FIRST_CALLS}")
    return [ExpectedCall(_FIRST_DATA, data), *calls] if data else calls


def _assertion(raw: Any, where: str) -> ExpectedCall:
    call, value = _call(raw, where), raw.get("assert_value", True)
    if not isinstance(value, bool):
        raise _EntryError(f"`{where}.assert_value` must be true or false, not {value!r:.60}")
    return replace(call, value=value)


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _EntryError(f"`{where}` must be an object, not {value!r:.60}; {FORMS}")
    return cast("Mapping[str, Any]", value)


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _EntryError(f"`{key}` must be a text, not {value!r:.60}")
    return value.strip()


def _texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _EntryError(f"`{where}` must be a list of values, not {value!r:.60}")
    items = cast("list[Any]", value)
    for item in items:
        if not isinstance(item, (str, int, float)) or not str(item).strip():
            raise _EntryError(f"`{where}` must hold texts or numbers, not {item!r:.60}")
    return [str(item).strip() for item in items]


def _calls(value: Any, where: str) -> list[ExpectedCall]:
    return [_call(item, f"{where}[{index}]") for index, item in enumerate(_items(value, where))]


def _items(value: Any, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise _EntryError(f"`{where}` must be a list of calls, not {value!r:.60}")
    return cast("list[Any]", value)


def _call(raw: Any, where: str) -> ExpectedCall:
    fields = _object(raw, where)
    key = "func_name" if "func_name" in fields else "name"
    name = fields.get(key)
    if not isinstance(name, str) or not name:
        raise _EntryError(f"`{where}.{key}` must be the name of a tool, not {name!r:.60}")
    requestor: object = fields.get("requestor", "assistant")
    if requestor not in ("assistant", "user"):
        raise _EntryError(f"`{where}.requestor` must be assistant or user, not {requestor!r:.60}")
    arguments: Any = fields.get("arguments", fields.get("kwargs"))
    if arguments is None:
        arguments = {}
    if isinstance(arguments, str):
        try:
            arguments = strict_json(arguments)
        except (ValueError, RecursionError) as error:
            raise _EntryError(f"`{where}.arguments` must be JSON: {error}") from None
    return ExpectedCall(name, dict(_object(arguments, f"{where}.arguments")), requestor == "user")
