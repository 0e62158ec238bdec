"""The steps of gold: compiled with every mistake at its line, realised per task, played as
calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import jsonpath
import pytest

from synth.core.tasks.yaml.models import Steps
from synth.core.tasks.yaml.saves import extract
from synth.core.tasks.yaml.scope import Scope, nearest
from synth.core.tasks.yaml.source_map import load_yaml
from synth.core.tasks.yaml.step_templates import in_case, realise
from synth.core.tasks.yaml.steps import compile_steps
from synth.core.types.steps import CallStep, ReplyStep
from synth.errors import TaskError
from tests.unit.tasks.conftest import TOOLS

SCOPE = Scope(
    file="tasks.yaml",
    family="f",
    slots=frozenset({"name", "bpm", "names"}),
    tools=TOOLS,
    cases=frozenset({"allow", "refuse"}),
    fields=frozenset({"value", "decision"}),
    topics=frozenset({"dob", "email"}),
    consents=True,
)


@pytest.fixture
def compiled(tmp_path: Path):
    """Compile steps written as YAML; the list begins at line 1."""

    def run(text: str) -> list[Any]:
        file = tmp_path / "steps.yaml"
        file.write_text(text, "utf-8")
        raw = load_yaml(file)
        SCOPE.check(raw, Steps, "gold", 1)
        return compile_steps(raw, SCOPE, set())

    return run


def test_a_whole_solution(compiled: Any):
    """Saved names pass from step to step, also out of a loop's list into its steps."""
    steps = compiled(
        """\
- find: {name: "{name}"}
  save: {pid: "$.patients[0].id", all: "$.patients[*].id"}
- for_each: {each: $all, do: [{record: {pid: $each, bpm: "{bpm}"}}]}
- list_all:
- allow: [{submit: {value: $pid, decision: ok}}]
- refuse:
  - record: {pid: $pid}
    fails: conflict
- say: ["Done, {name}.", "Noted {bpm}."]
"""
    )
    assert [step.do for step in steps] == ["call", "for_each", "call", "case", "case", "say"]
    assert steps[0] == CallStep(
        "find", {"name": {"$slot": "name"}}, {"pid": "$.patients[0].id", "all": "$.patients[*].id"}
    )
    assert steps[1].over == {"$": "all"}
    assert steps[1].steps[0].arguments == {"pid": {"$": "each"}, "bpm": {"$slot": "bpm"}}
    assert steps[2].arguments == {}
    assert steps[4].steps[0].fails == "conflict"

    allowed = realise(steps, {"name": "Ada", "bpm": 60}, "allow", draw=0)
    assert [step.do for step in allowed] == ["call", "for_each", "call", "submit", "say"]
    assert allowed[0].arguments == {"name": "Ada"}
    assert allowed[1].steps[0].arguments == {"pid": {"$": "each"}, "bpm": 60}
    assert allowed[3].fields == {"value": {"$": "pid"}, "decision": "ok"}
    assert allowed[4] == ReplyStep("Done, Ada.")
    assert realise(steps, {"name": "Ada", "bpm": 60}, "refuse", draw=5)[-1].text == "Noted 60."
    assert [step.do for step in in_case(steps, None)] == ["call", "for_each", "call", "say"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("say: hi", 1, "gold must be a list, not {'say': 'hi'}"),
        ("[]", 1, "gold must have 1 or more entries"),
        ("- say: a\n- {find: {}, say: b}", 2, "a step does one thing, not 2 (find, say)"),
        ("- save: {a: $.a}", 1, "a step does one thing, not 0 (nothing)"),
        ("- Find: {}", 1, "did you mean 'find'?"),
        (
            "- zzzzzz: {}",
            1,
            "known are allow, ask, confirm, find, for_each, if, list_all, record, refuse, say, submit",
        ),
        ("- list_all: {name: x}", 1, "list_all has no argument 'name'; known are none"),
        ("- find: {name: 'a { b'}", 1, "a single '{'"),
        ("- find: {name: {name}}", 1, '{name} without quotes is a mapping: write "{name}"'),
        (
            "- find: {}\n  save: {pid: '$.a | $.b'}",
            2,
            "'$.a | $.b' is not a JSONPath: it is a compound path",
        ),
        ("- find: {}\n  fails: [a]", 2, "`fails` must be text, not ['a']"),
        ("- say: [a, 5]", 1, "`say` must be text, not 5"),
        ("- ask: [dob, dob]", 1, "`ask` names a topic twice"),
        ("- ask: {dob: x}", 1, "`ask` must be text or a list, not {'dob': 'x'}"),
        ("- ask:", 1, "`ask` must be text, not None"),
        ("- confirm: '{nmae}?'", 1, "`nmae` is neither a slot nor saved"),
        ("- ask: dob\n  save: {a: $.a}", 2, "`save` goes with a tool call, not with `ask`"),
        (
            "- for_each: {x: '{names}', do: [{allow: [{submit: {value: 1}}]}]}",
            1,
            "`submit` comes once, not in a loop",
        ),
        (
            "- find:\n  save: {a: '$.x[?@.y == {nmae}]'}",
            2,
            "save: unknown slot 'nmae'; did you mean 'name'?",
        ),
        (
            "- find:\n  save:\n    a: \"$.x[?@.y == '{name}']\"",
            3,
            "save: write {name} without quotes",
        ),
        (
            "- allow: [{find: {}, save: {pid: $.a}}]\n- record: {pid: $pid}",
            2,
            "`pid` is neither a slot nor saved",
        ),
    ],
)
def test_each_mistake_is_one_message_at_its_line(compiled: Any, text: str, line: int, words: str):
    with pytest.raises(TaskError) as caught:
        compiled(text)
    error = caught.value
    assert error.message.startswith(words) or words in error.message
    assert (error.line, error.file, error.family) == (line, "tasks.yaml", "f")
    assert "\n" not in str(error)


def test_a_submit_needs_an_answer(tmp_path: Path):
    file = tmp_path / "steps.yaml"
    file.write_text("- submit: {value: 1}", "utf-8")
    scope = Scope("tasks.yaml", "f")
    with pytest.raises(TaskError, match="`submit` needs `answer:` in the family"):
        compile_steps(load_yaml(file), scope, set())


class TestExtract:
    RESULT: ClassVar = {"patients": [{"id": 1}, {"id": 2}], "none": None}

    def test_a_singular_path_gives_the_value_and_any_other_the_list(self):
        assert extract("$.patients[1].id", self.RESULT) == 2
        assert extract("$.patients[*].id", self.RESULT) == [1, 2]
        assert extract("$.patients[?@.id > 5].id", self.RESULT) == []
        assert extract("$..id", self.RESULT) == [1, 2]

    def test_null_is_a_value_and_absence_is_none(self):
        assert extract("$.none", self.RESULT) is None
        with pytest.raises(LookupError, match=r"\$\.patients\[9\] finds nothing"):
            extract("$.patients[9]", self.RESULT)

    def test_a_result_that_is_no_structure_holds_nothing(self):
        with pytest.raises(LookupError):
            extract("$.a", "text")
        assert extract("$[*]", 5) == []

    @pytest.mark.parametrize(
        "path", ["$.a[", "[5E6p.", f"$[{'9' * 5_000}]", "$[0]" * 20_000, "$" + ".a" * 100_000]
    )
    def test_what_is_no_path_is_refused(self, path: str):
        with pytest.raises(jsonpath.JSONPathError):
            extract(path, {})

    def test_a_path_that_is_too_deep_finds_nothing(self):
        with pytest.raises(LookupError, match="too deep"):
            extract("$" + ".a" * 4_000, {"a": 1})


def test_nearest_offers_one_word_or_lists_them_all():
    assert nearest("recrod", {"find", "record"}) == "did you mean 'record'?"
    assert nearest("zzz", {"find", "record"}) == "known are find, record"
    assert nearest("zzz", set()) == "known are none"
