"""The steps of a gold solution: from YAML to JSON, and from JSON to calls.

A compiled step is JSON with a ``do``:

    {"do": "call", "tool": ..., "arguments": {...}, "save": {name: path}, "fails": category or None}
    {"do": "submit", "fields": {...}}
    {"do": "say", "texts": [...]}                      one is drawn when the task is made
    {"do": "for_each", "name": ..., "over": ..., "steps": [...]}
    {"do": "branch", "branch": ..., "steps": [...]}    only until the task is made: it keeps its own branch's
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import jsonpath

from synth.errors import TaskError
from synth.nearest import nearest as nearest_word
from synth.tasks.template import Unknown, compile_value, fill
from synth.tasks.yaml_source import Map, Seq

Json = Any

WORDS = frozenset({"say", "ask", "confirm", "submit", "for_each", "save", "fails", "do"})
"""Words of the notation that no tool and no twin may be named."""

NAME = re.compile(r"^[A-Za-z_]\w*$")
"""What a saved value and the item of a loop may be called."""

LATER = {"ask": "a user to ask", "confirm": "a user who consents"}
"""Steps that need a user; worlds are played without one so far."""


@dataclass(frozen=True)
class Scope:
    """What a step may refer to. ``tools`` maps each tool's name to its parameters' names."""

    file: str
    family: str
    slots: frozenset[str]
    tools: Mapping[str, frozenset[str]]
    branches: frozenset[str]
    fields: frozenset[str]

    def fail(self, message: str, line: int) -> TaskError:
        return TaskError(message, self.file, line, self.family)


def nearest(word: str, known: Sequence[str] | frozenset[str] | set[str]) -> str:
    """A clause that offers the nearest known word, or lists them all."""
    close = nearest_word(word, known)
    return f"did you mean {close!r}?" if close is not None else f"known are {', '.join(sorted(known)) or 'none'}"


def compile_steps(raw: Json, scope: Scope, line: int, saved: set[str]) -> list[Json]:
    """Compile a list of steps; ``saved`` grows by the names that they save."""
    if not isinstance(raw, Seq) or not raw:
        raise scope.fail("must be a list of steps", line)
    return [_compile(step, scope, raw.lines[at], saved) for at, step in enumerate(raw)]


def _compile(step: Json, scope: Scope, line: int, saved: set[str]) -> Json:
    if not isinstance(step, Map):
        raise scope.fail(f"a step is a mapping such as `say: ...`, not {step!r}", line)
    actions = [key for key in step if key not in {"save", "fails"}]
    if len(actions) != 1:
        raise scope.fail(f"a step does one thing, not {len(actions)} ({', '.join(actions) or 'nothing'})", line)
    action, value = actions[0], step[actions[0]]
    is_call = action not in WORDS and action not in scope.branches
    if not is_call and (extra := [key for key in step if key != action]):
        raise scope.fail(f"`{extra[0]}` goes with a tool call, not with `{action}`", step.lines[extra[0]])
    if action in LATER:
        raise scope.fail(f"`{action}` needs {LATER[action]}, and rollouts have no user yet", line)
    if action == "say":
        texts = cast("list[Json]", value) if isinstance(value, list) else [value]
        if not texts or not all(isinstance(each, str) and each.strip() for each in texts):
            raise scope.fail("`say` is a text, or a list of texts", line)
        return {"do": "say", "texts": [_value(each, scope, saved, line) for each in texts]}
    if action == "submit":
        return _submit(value, scope, saved, line)
    if action == "for_each":
        return _for_each(value, scope, saved, line)
    if action in scope.branches:
        inner = set(saved)
        return {"do": "branch", "branch": action, "steps": compile_steps(value, scope, line, inner)}
    return _call(step, action, scope, saved, line)


def _value(raw: Json, scope: Scope, saved: set[str], line: int) -> Json:
    try:
        return compile_value(raw, scope.slots, saved)
    except Unknown as error:
        known = scope.slots | saved
        raise scope.fail(
            f"`{error.name}` is neither a slot nor saved by an earlier step; {nearest(error.name, known)}", line
        ) from None
    except ValueError as error:
        raise scope.fail(str(error), line) from None


def _submit(value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    if not isinstance(value, Map):
        raise scope.fail("`submit` takes a mapping of answer fields", line)
    if not scope.fields:
        raise scope.fail("`submit` needs `answer:` in the family, which says what its fields are", line)
    for name in value:
        if name not in scope.fields:
            raise scope.fail(f"`answer` has no field {name!r}; {nearest(name, scope.fields)}", value.lines[name])
    return {"do": "submit", "fields": {key: _value(each, scope, saved, line) for key, each in value.items()}}


def _for_each(value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    names = [key for key in value if key != "do"] if isinstance(value, Map) else []
    if len(names) != 1 or "do" not in value:
        raise scope.fail("write `for_each: {name: $list, do: [steps]}`", line)
    over = _value(value[names[0]], scope, saved, line)
    if not NAME.fullmatch(names[0]):
        raise scope.fail(f"the name {names[0]!r} must match {NAME.pattern}", line)
    if names[0] in scope.slots:
        raise scope.fail(f"`for_each` would hide the slot {names[0]!r}", line)
    inner = {*saved, names[0]}
    steps = compile_steps(value["do"], scope, value.lines["do"], inner)
    if any(step["do"] in {"say", "submit"} for step in steps):
        raise scope.fail("`say` and `submit` come once, not in a loop", value.lines["do"])
    return {"do": "for_each", "name": names[0], "over": over, "steps": steps}


def _call(step: Map, name: str, scope: Scope, saved: set[str], line: int) -> Json:
    if name not in scope.tools:
        words = WORDS - {"save", "fails", "do"} | scope.branches | set(scope.tools)
        raise scope.fail(f"{name!r} is neither a tool nor a step word; {nearest(name, words)}", line)
    arguments: Json = step[name] if step[name] is not None else Map()
    if not isinstance(arguments, Map):
        raise scope.fail(f"`{name}` takes a mapping of arguments", line)
    for each in arguments:
        if each not in scope.tools[name]:
            where = arguments.lines.get(each, line)
            raise scope.fail(f"{name} has no argument {each!r}; {nearest(each, scope.tools[name])}", where)
    compiled = {key: _value(each, scope, saved, line) for key, each in arguments.items()}
    fails = step.get("fails")
    if fails is not None and not isinstance(fails, str):
        raise scope.fail("`fails` names one error category", line)
    saves: dict[str, str] = {}
    save: Json = step["save"] if step.get("save") is not None else Map()
    if not isinstance(save, Map):
        raise scope.fail("`save` takes a mapping of names to JSONPaths", step.lines["save"])
    for target, path in save.items():
        if not NAME.fullmatch(target):
            raise scope.fail(f"the name {target!r} must match {NAME.pattern}", save.lines[target])
        if target in scope.slots:
            raise scope.fail(f"`save` would hide the slot {target!r}", line)
        try:
            singular(str(path))
        except jsonpath.JSONPathError as error:
            raise scope.fail(f"{path!r} is no JSONPath: {error.message}", line) from None
        saves[target] = str(path)
        saved.add(target)
    return {"do": "call", "tool": name, "arguments": compiled, "save": saves, "fails": fails}


@lru_cache(maxsize=4096)
def singular(path: str) -> tuple[jsonpath.JSONPath, bool]:
    """The compiled path, and whether it can match at most one value."""
    compiled = jsonpath.compile(path)
    if not isinstance(compiled, jsonpath.JSONPath):
        raise jsonpath.JSONPathError("it is a compound path")
    return compiled, compiled.singular_query()


def extract(path: str, value: Json) -> Json:
    """What a path finds in a result: the value of a singular path (LookupError if absent), else the list of all."""
    compiled, single = singular(path)
    found = compiled.findall(cast("dict[str, Json] | list[Json]", value)) if isinstance(value, (dict, list)) else []
    if not single:
        return found
    if not found:
        raise LookupError(f"{path} finds nothing in the result")
    return found[0]


def in_branch(steps: Sequence[Json], branch: str | None) -> Iterator[Json]:
    """The steps of one branch, in order, with the branching gone."""
    for step in steps:
        if step["do"] != "branch":
            yield step
        elif step["branch"] == branch:
            yield from in_branch(step["steps"], branch)


def realise(steps: Sequence[Json], slots: Mapping[str, Json], branch: str | None, draw: int) -> list[Json]:
    """Steps of one task: slots filled in, the branch chosen, one text of each ``say`` drawn by ``draw``."""
    out: list[Json] = []
    for step in in_branch(steps, branch):
        if step["do"] == "say":
            texts = cast("list[Json]", step["texts"])
            out.append({"do": "say", "text": fill(texts[draw % len(texts)], "$slot", slots)})
        elif step["do"] == "for_each":
            inner = realise(step["steps"], slots, branch, draw)
            out.append({**step, "over": fill(step["over"], "$slot", slots), "steps": inner})
        else:
            out.append(fill(step, "$slot", slots))
    return out
