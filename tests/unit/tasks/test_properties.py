"""What holds for every text, value and draw of the notation."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synth.core.tasks.domains import parse_domain
from synth.core.tasks.grounding import combination, permuted
from synth.core.tasks.yaml.saves import extract
from synth.core.tasks.yaml.scope import Scope
from synth.core.tasks.yaml.source_map import Map, Seq
from synth.core.tasks.yaml.step_templates import realise
from synth.core.tasks.yaml.steps import compile_steps
from synth.core.tasks.yaml.template import compile_value, fill, names_in, text_of
from synth.errors import TaskError
from tests.unit.tasks.conftest import TOOLS

many = settings(deadline=None)

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
)
FINITE = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)


def doubled(text: str) -> str:
    """A text as an author writes it who means no notation by it."""
    return text.replace("{", "{{").replace("}", "}}")


@many
@given(st.text(alphabet="ab{}$ .é\n") | st.text())
def test_any_text_can_be_written(text: str):
    """Braces are doubled, and so is a dollar at the beginning or before a name that is known."""
    written = re.sub(r"(?<!^)(?<!\$)(\$+)(?=[ab](?!\w))", r"$\1", doubled(text))
    written = f"${written}" if written.startswith("$") else written
    assert compile_value(written, frozenset({"a"}), frozenset({"b"})) == text


@many
@given(NAMES, VALUES)
def test_a_value_that_is_one_name_comes_through_as_it_is(name: str, value: Any):
    for raw, key in ((f"{{{name}}}", "$slot"), (f"${name}", "$")):
        compiled = compile_value(
            raw, {name} if key == "$slot" else set(), {name} if key == "$" else set()
        )
        assert names_in(compiled, key) == {name}
        assert fill(json.loads(json.dumps(compiled)), key, {name: value}) is value


@many
@given(st.text(), st.text(), VALUES)
def test_a_slots_value_is_never_read_again(before: str, after: str, value: Any):
    """Whatever it holds, a second filling changes nothing. A saved value's name in a text is refused."""
    assume("$b" not in before and "$b" not in after)
    compiled = compile_value(f"x{doubled(before)}{{slot}}{doubled(after)}", {"slot"}, {"b"})
    once = fill(compiled, "$slot", {"slot": value})
    assert once == f"x{before}{text_of(value)}{after}"
    assert fill(once, "$", {"b": 1}) == once


@many
@given(st.lists(NAMES, min_size=1, max_size=4), VALUES)
def test_a_path_of_fields_finds_what_stands_there(path: list[str], value: Any):
    nested = value
    for each in reversed(path):
        nested = {each: nested}
    compiled = compile_value(f"$item.{'.'.join(path)}", set(), {"item"})
    assert fill(compiled, "$", {"item": nested}) == value
    assert fill(
        compile_value(f"a {{item.{'.'.join(path)}}}", set(), {"item"}), "$", {"item": nested}
    ) == (f"a {text_of(value)}")
    with pytest.raises(TaskError, match="has no field"):
        fill(
            compile_value(f"$item.{'.'.join(path)}.{'z' * 9}", set(), {"item"}),
            "$",
            {"item": nested},
        )


@many
@given(FINITE, st.lists(FINITE, max_size=4))
def test_a_slot_in_a_path_finds_the_rows_that_are_equal_to_it(value: Any, others: list[Any]):
    """Quotes, brackets, backslashes: the value goes in as JSON, never as part of the path."""
    scope = Scope("tasks.yaml", "f", TOOLS, frozenset({"who"}))
    step = Map(find=None, save=Map(ids="$.rows[?@.name == {who}].id"))
    step.lines, step["save"].lines = dict.fromkeys(step, 1), {"ids": 1}
    steps = Seq([step])
    steps.lines = [1]
    made = realise(compile_steps(steps, scope, set()), {"who": value}, None, 0)
    rows = [{"id": at, "name": each} for at, each in enumerate([*others, value])]
    same = [
        row["id"]
        for row in rows
        if row["name"] == value and isinstance(row["name"], bool) is isinstance(value, bool)
    ]
    assert extract(made[0].save["ids"], {"rows": rows}) == same


@many
@given(st.integers(1, 300), st.text(max_size=5))
def test_every_index_has_its_own_place(size: int, key: str):
    assert {permuted(at, size, key) for at in range(size)} == set(range(size))


@many
@given(st.dictionaries(NAMES, st.integers(1, 5), max_size=4))
def test_combinations_are_all_different(sizes: dict[str, int]):
    domains = {
        name: parse_domain({"int": [1, size]}, lambda _: [], 0) for name, size in sizes.items()
    }
    total = 1
    for size in sizes.values():
        total *= size
    found = {tuple(combination(at, domains).values()) for at in range(total)}
    assert len(found) == total
