"""The steps of a gold solution: from YAML to JSON, and from JSON to those of one task.

A compiled step is JSON with a ``do``:

    {"do": "call", "tool": ..., "arguments": {...}, "save": {name: path}, "fails": category or None}
    {"do": "ask", "topics": [...], "text": ...}        the text only when the task is made
    {"do": "confirm", "texts": [...]}                  one is drawn when the task is made, and stands under "text"
    {"do": "submit", "fields": {...}}
    {"do": "say", "texts": [...]}                      likewise
    {"do": "for_each", "name": ..., "over": ..., "steps": [...]}
    {"do": "branch", "branch": ..., "steps": [...]}    only until the task is made: it keeps its own branch's
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import jsonpath

from envs.sql_tools import BUILTIN
from synth.canonical import derive_seed
from synth.tasks.scope import Scope, nearest
from synth.tasks.template import fill
from synth.tasks.user import question
from synth.tasks.words import NAME, WORDS
from synth.tasks.yaml_source import Map, Seq

Json = Any

_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")
_LONE = frozenset({"say", "ask", "confirm", "submit"})
"""What comes once in a solution, hence never in a loop."""


def compile_steps(raw: Json, scope: Scope, line: int, saved: set[str], what: str = "gold") -> list[Json]:
    """Compile a list of steps; ``saved`` grows by the names that they save."""
    if not isinstance(raw, Seq) or not raw:
        raise scope.fail(f"{what} must be a list of steps", line)
    return [_compile(step, scope, raw.lines[at], saved) for at, step in enumerate(raw)]


def every_step(steps: Sequence[Json]) -> Iterator[Json]:
    """All compiled steps, those of branches and loops too."""
    for step in steps:
        yield step
        yield from every_step(step.get("steps", ()))


def _compile(step: Json, scope: Scope, line: int, saved: set[str]) -> Json:
    if not isinstance(step, Map):
        raise scope.fail(f"a step is a mapping such as `say: ...`, not {step!r}", line)
    actions = [key for key in step if key not in {"save", "fails"}]
    if len(actions) > 1 and (odd := _misspelt(actions, scope)):
        raise scope.fail(odd[1], step.lines[odd[0]])
    if len(actions) != 1:
        raise scope.fail(f"a step does one thing, not {len(actions)} ({', '.join(actions) or 'nothing'})", line)
    action, value = actions[0], step[actions[0]]
    is_call = action not in WORDS and action not in scope.branches
    if not is_call and (extra := [key for key in step if key != action]):
        raise scope.fail(f"`{extra[0]}` goes with a tool call, not with `{action}`", step.lines[extra[0]])
    if action == "say":
        return {"do": "say", "texts": scope.texts(value, "say", line, saved)}
    if action == "ask":
        return _ask(value, scope, line)
    if action == "confirm":
        if not scope.consents:
            raise scope.fail("`confirm` needs `agrees_if` in `user`: nobody could consent", line)
        return {"do": "confirm", "texts": scope.texts(value, "confirm", line, saved)}
    if action == "submit":
        return _submit(value, scope, saved, line)
    if action == "for_each":
        return _for_each(value, scope, saved, line)
    if action in scope.branches:
        inner = set(saved)
        return {"do": "branch", "branch": action, "steps": compile_steps(value, scope, line, inner, f"`{action}`")}
    return _call(step, action, scope, saved, line)


def _misspelt(actions: Sequence[str], scope: Scope) -> tuple[str, str] | None:
    """The first of several keys of a step that is no word at all, and what may have been meant."""
    words = WORDS - {"do"} | scope.branches | set(scope.tools)
    odd = next((each for each in actions if each not in words), None)
    return None if odd is None else (odd, f"{odd!r} is neither a tool nor a step word; {nearest(odd, words)}")


def _ask(value: Json, scope: Scope, line: int) -> Json:
    topics = cast("list[Json]", value) if isinstance(value, list) else [value]
    if not topics or not all(isinstance(each, str) for each in topics) or len(set(topics)) != len(topics):
        raise scope.fail("`ask` takes a topic of the user's `knows`, or a list of topics", line)
    if unknown := [each for each in topics if each not in scope.topics]:
        raise scope.fail(f"the user knows nothing of {unknown[0]!r}; {nearest(unknown[0], scope.topics)}", line)
    return {"do": "ask", "topics": list(topics)}


def _submit(value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    if not isinstance(value, Map):
        raise scope.fail("`submit` takes a mapping of answer fields", line)
    if not value:
        raise scope.fail(f"`submit` hands in nothing; `answer` has the fields {', '.join(sorted(scope.fields))}", line)
    if not scope.fields:
        raise scope.fail("`submit` needs `answer:` in the family, which says what its fields are", line)
    for name in value:
        if name not in scope.fields:
            raise scope.fail(f"`answer` has no field {name!r}; {nearest(name, scope.fields)}", value.lines[name])
    fields = {key: scope.value(each, f"submit {key}", line, saved) for key, each in value.items()}
    return {"do": "submit", "fields": fields}


def _for_each(value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    names = [key for key in value if key != "do"] if isinstance(value, Map) else []
    if len(names) != 1 or "do" not in value:
        raise scope.fail("write `for_each: {name: $list, do: [steps]}`", line)
    over = scope.value(value[names[0]], "for_each", line, saved)
    if not NAME.fullmatch(names[0]):
        raise scope.fail(f"the name {names[0]!r} must match {NAME.pattern}", line)
    if names[0] in scope.slots:
        raise scope.fail(f"`for_each` would hide the slot {names[0]!r}: choose another name", line)
    inner = {*saved, names[0]}
    steps = compile_steps(value["do"], scope, value.lines["do"], inner, "`do`")
    if lone := [step["do"] for step in every_step(steps) if step["do"] in _LONE]:
        raise scope.fail(f"`{lone[0]}` comes once, not in a loop", value.lines["do"])
    return {"do": "for_each", "name": names[0], "over": over, "steps": steps}


def _call(step: Map, name: str, scope: Scope, saved: set[str], line: int) -> Json:
    if name not in scope.tools:
        words = WORDS - {"save", "fails", "do"} | scope.branches | set(scope.tools)
        raise scope.fail(f"{name!r} is neither a tool nor a step word; {nearest(name, words)}", line)
    arguments: Json = step[name] if step[name] is not None else Map()
    if not isinstance(arguments, Map):
        raise scope.fail(f"`{name}` takes a mapping of arguments", line)
    parameters = cast("Mapping[str, Json]", scope.tools[name].get("properties", {}))
    for each in arguments:
        if each not in parameters:
            where = arguments.lines.get(each, line)
            raise scope.fail(f"{name} has no argument {each!r}; {nearest(each, parameters)}", where)
    given = {key: each for key, each in arguments.items() if each is not None}
    compiled = {key: _argument(name, key, each, scope, saved, line) for key, each in given.items()}
    fails = step.get("fails")
    if fails is not None and not isinstance(fails, str):
        raise scope.fail("`fails` names one error category", step.lines["fails"])
    if fails is None and (left := [each for each in scope.tools[name].get("required", ()) if each not in given]):
        raise scope.fail(f"{name} cannot do without its argument {left[0]!r}", line)
    return {"do": "call", "tool": name, "arguments": compiled, "save": _saves(step, scope, saved), "fails": fails}


def _argument(tool: str, name: str, value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    """An argument; in the SQL of a built-in tool ``:name`` is a literal."""
    sql = tool in BUILTIN and name == "sql" and isinstance(value, str)
    return scope.sql(value, tool, line, saved) if sql else scope.value(value, f"{tool} {name}", line, saved)


def _saves(step: Map, scope: Scope, saved: set[str]) -> dict[str, Json]:
    save: Json = step["save"] if step.get("save") is not None else Map()
    if not isinstance(save, Map):
        raise scope.fail("`save` takes a mapping of names to JSONPaths", step.lines["save"])
    saves: dict[str, Json] = {}
    for target, path in save.items():
        where = save.lines[target]
        if not NAME.fullmatch(target):
            raise scope.fail(f"the name {target!r} must match {NAME.pattern}", where)
        if target in scope.slots:
            raise scope.fail(f"`save` would hide the slot {target!r}: choose another name", where)
        saves[target] = _path(str(path), scope, where)
        saved.add(target)
    return saves


def _path(path: str, scope: Scope, line: int) -> Json:
    """A JSONPath: text, or ``{"$path": [parts]}`` where slots stand in it, which are put in as JSON."""
    parts: list[Json] = []
    at = 0
    for found in _SLOT.finditer(path):
        name = found.group(1)
        if name not in scope.slots:
            raise scope.fail(f"save: there is no slot {name!r}; {nearest(name, scope.slots)}", line)
        if path[: found.start()][-1:] in {"'", '"'}:
            message = f"save: write {found.group(0)} without quotes: the value brings its own where it is text"
            raise scope.fail(message, line)
        parts += [path[at : found.start()], {"$slot": name}]
        at = found.end()
    compiled: Json = {"$path": [*parts, path[at:]]} if parts else path
    try:
        singular(joined_path(compiled, dict.fromkeys(scope.slots, "x")))
    except jsonpath.JSONPathError as error:
        raise scope.fail(f"{path!r} is no JSONPath: {error.message}", line) from None
    return compiled


def in_branch(steps: Sequence[Json], branch: str | None) -> Iterator[Json]:
    """The steps of one branch, in order, with the branching gone."""
    for step in steps:
        if step["do"] != "branch":
            yield step
        elif step["branch"] == branch:
            yield from in_branch(step["steps"], branch)


def realise(
    steps: Sequence[Json],
    slots: Mapping[str, Json],
    branch: str | None,
    draw: int,
    asked: Mapping[str, str] | None = None,
) -> list[Json]:
    """Steps of one task: slots filled in, the branch chosen, texts drawn by ``draw``.

    ``asked`` says how the expert asks about each topic. An argument that is null is left out.
    """
    out: list[Json] = []
    for step in in_branch(steps, branch):
        if step["do"] == "say":
            texts = cast("list[Json]", step["texts"])
            out.append({"do": "say", "text": fill(texts[draw % len(texts)], "$slot", slots)})
        elif step["do"] == "confirm":
            texts = cast("list[Json]", step["texts"])
            drawn = texts[derive_seed(draw, "confirm", len(out)) % len(texts)]
            out.append({"do": "confirm", "text": fill(drawn, "$slot", slots)})
        elif step["do"] == "ask":
            out.append({**step, "text": question(step["topics"], asked or {})})
        elif step["do"] == "for_each":
            inner = realise(step["steps"], slots, branch, draw)
            out.append({**step, "over": fill(step["over"], "$slot", slots), "steps": inner})
        elif step["do"] == "call":
            filled = fill(step["arguments"], "$slot", slots)
            arguments = {name: value for name, value in filled.items() if value is not None}
            save = {name: joined_path(path, slots) for name, path in step["save"].items()}
            out.append({**step, "arguments": arguments, "save": save})
        else:
            out.append(fill(step, "$slot", slots))
    return out


def joined_path(path: Json, slots: Mapping[str, Json]) -> str:
    """A compiled JSONPath with its slots put in as JSON literals."""
    if isinstance(path, str):
        return path
    parts = cast("list[Json]", path["$path"])
    return "".join(
        part if isinstance(part, str) else json.dumps(fill(part, "$slot", slots), ensure_ascii=False) for part in parts
    )


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
