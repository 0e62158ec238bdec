"""The parser of gold's steps: from YAML to :mod:`synth.core.tasks.yaml.step_templates`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import jsonpath

from envs.tools.sql import BUILTIN
from synth.core.tasks.yaml.conditions import compile_conditions
from synth.core.tasks.yaml.models import STEP_WORDS, Steps
from synth.core.tasks.yaml.saves import COMPUTED, CompiledPath, Save, is_path, joined_path, singular
from synth.core.tasks.yaml.scope import FOR_USER, Scope, listed_of, nearest
from synth.core.tasks.yaml.source_map import Map
from synth.core.tasks.yaml.step_templates import (
    AskTemplate,
    BranchTemplate,
    CaseTemplate,
    ConfirmTemplate,
    LoopTemplate,
    SayTemplate,
    StepTemplate,
)
from synth.core.tasks.yaml.words import NAME
from synth.core.types.steps import CallStep, FollowUpStep, InstructStep, SubmitStep, every_step

Json = Any

_NAMES = re.compile(
    r"(?P<quote>['\"])\{[A-Za-z_]\w*\}|'[^']*'|\"[^\"]*\"|\{(?P<slot>[A-Za-z_]\w*)\}"
    r"|\$(?P<saved>[A-Za-z_]\w*)"
)
"""Names in a JSONPath; what stands in quotes is passed over."""
_LONE = frozenset({"submit", "then"})
"""What comes once in a solution, hence never in a loop."""


def compile_steps(raw: Json, scope: Scope, saved: set[str]) -> list[StepTemplate]:
    """Compile a list of steps; ``saved`` grows by the names that they save.

    Raises :class:`~synth.errors.TaskError` with the line of the first mistake.
    """
    return [_compile(step, scope, line, saved) for step, line in zip(raw, raw.lines, strict=True)]


def _action(step: Map, scope: Scope, line: int) -> str:
    """The one key of a step that says what it does."""
    if "if" in step:
        return "if"
    actions = [key for key in step if key not in {"save", "fails"}]
    words = STEP_WORDS - {"do", "else"} | scope.cases | set(scope.tools)
    if len(actions) > 1 and (odd := [action for action in actions if action not in words]):
        message = f"{odd[0]!r} is neither a tool nor a step word; {nearest(odd[0], words)}"
        raise scope.fail(message, step.lines[odd[0]])
    if len(actions) != 1:
        raise scope.fail(
            f"a step does one thing, not {len(actions)} ({', '.join(actions) or 'nothing'})", line
        )
    action = actions[0]
    is_call = action not in STEP_WORDS and action not in scope.cases
    if not is_call and (extra := [key for key in step if key != action]):
        raise scope.fail(
            f"`{extra[0]}` goes with a tool call, not with `{action}`", step.lines[extra[0]]
        )
    return action


def _compile(step: Json, scope: Scope, line: int, saved: set[str]) -> StepTemplate:
    action = _action(step, scope, line)
    value: Any = step[action]
    if action == "say":
        return SayTemplate(scope.texts(value, "say", line, saved))
    if action == "ask":
        return _ask(value, scope, line)
    if action == "confirm":
        if not scope.consents:
            raise scope.fail("`confirm` needs `agrees_if` in `user`: nobody could consent", line)
        return ConfirmTemplate(scope.texts(value, "confirm", line, saved), step.lines["confirm"])
    if action == "then":
        return _sequel(value, scope, line)
    if action == "submit":
        return _submit(value, scope, saved, line)
    if action == "if":
        return _branch(step, scope, saved, line)
    if action == "for_each":
        return _for_each(value, scope, saved, line)
    if action in scope.cases:
        scope.check(value, Steps, action, line)
        return CaseTemplate(action, compile_steps(value, scope, set(saved)))
    return _call(step, action, scope, saved, line)


def _sequel(value: Json, scope: Scope, line: int) -> FollowUpStep:
    if (number := cast("int", value)) >= len(scope.later):
        known = f"0 to {len(scope.later) - 1}" if scope.later else "none: the user has no `then`"
        raise scope.fail(f"`then` takes the number of a follow-up ({known}), not {value!r}", line)
    return FollowUpStep(number, scope.later[number])


def _ask(value: Json, scope: Scope, line: int) -> AskTemplate:
    topics = listed_of(value)
    if len(set(topics)) != len(topics):
        raise scope.fail("`ask` names a topic twice", line)
    if unknown := [topic for topic in topics if topic not in scope.topics]:
        raise scope.fail(
            f"the user knows nothing of {unknown[0]!r}; {nearest(unknown[0], scope.topics)}", line
        )
    return AskTemplate(topics)


def _submit(value: Json, scope: Scope, saved: set[str], line: int) -> SubmitStep:
    if not scope.fields:
        raise scope.fail(
            "`submit` needs `answer:` in the family, which says what its fields are", line
        )
    for name in value:
        if name not in scope.fields:
            raise scope.fail(
                f"`answer` has no field {name!r}; {nearest(name, scope.fields)}", value.lines[name]
            )
    fields = {key: scope.value(item, f"submit {key}", line, saved) for key, item in value.items()}
    return SubmitStep(fields, line)


def _for_each(value: Json, scope: Scope, saved: set[str], line: int) -> LoopTemplate:
    names = [key for key in value if key != "do"]
    if len(names) != 1:
        raise scope.fail("write `for_each: {name: $list, do: [steps]}`", line)
    over = scope.value(value[names[0]], "for_each", line, saved)
    if not NAME.fullmatch(names[0]):
        raise scope.fail(f"the name {names[0]!r} must match {NAME.pattern}", line)
    if names[0] in scope.slots:
        raise scope.fail(f"`for_each` would hide the slot {names[0]!r}: choose another name", line)
    inner = {*saved, names[0]}
    steps = compile_steps(value["do"], scope, inner)
    if lone := [step.do for step in every_step(steps) if step.do in _LONE]:
        raise scope.fail(f"`{lone[0]}` comes once, not in a loop", value.lines["do"])
    return LoopTemplate(names[0], over, steps, line)


def _branch(step: Map, scope: Scope, saved: set[str], line: int) -> BranchTemplate:
    """A conditional step. Names that both branches save are known after it."""
    if extra := [key for key in step if key not in {"if", "do", "else"}]:
        raise scope.fail(f"`if` has `do` and `else` beside it, not `{extra[0]}`", line)
    if step.get("do") is None:
        raise scope.fail('write `if: "$saved == {slot}"` and `do: [steps]` below it', line)
    conditions = compile_conditions(step["if"], scope, step.lines["if"], saved)
    branches: list[list[StepTemplate]] = []
    names: list[set[str]] = []
    for key in ("do", "else"):
        inner = set(saved)
        if step.get(key) is not None:
            branches.append(compile_steps(step[key], scope, inner))
        names.append(inner)
    saved |= names[0] & names[1]
    return BranchTemplate(conditions, branches[0], branches[1] if branches[1:] else (), line)


def _call(
    step: Map, name: str, scope: Scope, saved: set[str], line: int
) -> CallStep | InstructStep:
    if name not in scope.tools:
        words = STEP_WORDS - {"save", "fails", "do", "else"} | scope.cases | set(scope.tools)
        raise scope.fail(
            f"{name!r} is neither a tool nor a step word; {nearest(name, words)}", line
        )
    arguments: Json = step[name] if step[name] is not None else Map()
    if not isinstance(arguments, Map):
        raise scope.fail(f"`{name}` takes a mapping of arguments", line)
    parameters = cast("Mapping[str, Json]", scope.tools[name].get("properties", {}))
    for argument in arguments:
        if argument not in parameters:
            where = arguments.lines.get(argument, line)
            raise scope.fail(
                f"{name} has no argument {argument!r}; {nearest(argument, parameters)}", where
            )
    given = {key: argument for key, argument in arguments.items() if argument is not None}
    compiled = {
        key: _argument(name, key, value, scope, saved, line) for key, value in given.items()
    }
    fails = step.get("fails")
    if fails is None and (
        left := [item for item in scope.tools[name].get("required", ()) if item not in given]
    ):
        raise scope.fail(f"{name} cannot do without its argument {left[0]!r}", line)
    made = CallStep(name, compiled, _saves(step, scope, saved), fails, step.lines[name])
    return _instruction(made, step, scope) if FOR_USER in scope.tools[name] else made


def _instruction(call: CallStep, step: Map, scope: Scope) -> InstructStep:
    """A call that the user is to make."""
    if extra := [key for key in step if key != call.tool]:
        message = f"`{extra[0]}` goes with a tool of the agent; {call.tool} is the user's"
        raise scope.fail(message, step.lines[extra[0]])
    return InstructStep(call.tool, call.arguments, call.line)


def _argument(tool: str, name: str, value: Json, scope: Scope, saved: set[str], line: int) -> Json:
    """An argument; in the SQL of a built-in tool ``:name`` is a literal."""
    if tool in BUILTIN and name == "sql" and isinstance(value, str):
        return scope.sql(value, tool, line, saved)
    return scope.value(value, f"{tool} {name}", line, saved)


def _saves(step: Map, scope: Scope, saved: set[str]) -> dict[str, Save]:
    save = scope.part(step, "save")
    saves: dict[str, Save] = {}
    for target, path in save.items():
        where = save.lines[target]
        if target in scope.slots:
            raise scope.fail(f"`save` would hide the slot {target!r}: choose another name", where)
        saves[target] = _save(path, scope, saved, where)
        saved.add(target)
    return saves


def _save(raw: Json, scope: Scope, saved: set[str], line: int) -> Save:
    """A JSONPath, or a value computed from JSONPaths, saved names and slots."""
    if not isinstance(raw, Map):
        return _path(cast("str", raw), scope, saved, line)
    words = list(raw)
    if len(words) != 1 or words[0] not in COMPUTED:
        odd = next((word for word in words if word not in COMPUTED), "")
        known = nearest(odd, COMPUTED) if odd else f"known are {', '.join(sorted(COMPUTED))}"
        raise scope.fail(f"save: a computed value is `{{word: operands}}`; {known}", line)
    word = words[0]
    operands = listed_of(raw[word])
    least, most = COMPUTED[word][0]
    if len(operands) < least or (most is not None and len(operands) > most):
        due = str(least) if least == most else f"{least} or more"
        raise scope.fail(f"save: `{word}` takes {due} operands, not {len(operands)}", line)
    return {
        "$compute": word,
        "of": [
            _path(operand, scope, saved, line)
            if isinstance(operand, str) and is_path(operand)
            else scope.value(operand, f"save {word}", line, saved)
            for operand in operands
        ],
    }


def _path(path: str, scope: Scope, saved: set[str], line: int) -> CompiledPath:
    """A JSONPath: text, or ``{"$path": [parts]}`` where slots and saved names stand in it, which
    are put in as JSON.
    """
    parts: list[Json] = []
    position = 0
    for found in _NAMES.finditer(path):
        slot, dollar = found["slot"], found["saved"]
        if found["quote"]:
            message = (
                f"save: write {found.group(0)[1:]} without quotes: the value brings its own"
                " where it is text"
            )
            raise scope.fail(message, line)
        if slot is None and dollar is None:
            continue
        name = slot or dollar
        if slot is not None and slot not in {*scope.slots, *saved}:
            raise scope.fail(f"save: unknown slot {name!r}; {nearest(name, scope.slots)}", line)
        if dollar is not None and dollar not in saved:
            message = (
                f"save: no earlier step has saved {name!r}; write `$.{name}` for a field of the"
                " result, `{slot}` for a slot"
            )
            raise scope.fail(message, line)
        parts += [path[position : found.start()], {"$" if name in saved else "$slot": name}]
        position = found.end()
    compiled: CompiledPath = {"$path": [*parts, path[position:]]} if parts else path
    try:
        tried = joined_path(compiled, dict.fromkeys(scope.slots, "x"), "$slot")
        tried = joined_path(tried, dict.fromkeys(saved, "x"), "$")
        assert isinstance(tried, str)
        singular(tried)
    except jsonpath.JSONPathError as error:
        raise scope.fail(f"{path!r} is not a JSONPath: {error.message}", line) from None
    return compiled
