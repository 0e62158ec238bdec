"""tasks.yaml: what a family may say, and one message with line and nearest word for each
mistake.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from synth.core.tasks.queries import Queries
from synth.core.tasks.yaml.family import read_tasks
from synth.core.types.checks import Gate
from synth.errors import TaskError
from tests.unit.tasks.conftest import TOOLS

GOOD = """\
now: "2026-03-02T09:00:00"
compare: {visits.made_at: ignore, visits: append_only}
families:
- id: pulse
  about: Write a heart rate down.
  ground: {key: patient_id, sql: "SELECT patient_id, name FROM patients;"}
  vary: {bpm: {int: [55, 110]}}
  user: {says: ["{bpm} for {name}", "{name}: {bpm}"]}
  gold:
  - find: {name: "{name}"}
    save: {pid: "$.id"}
  - record: {pid: $pid, bpm: "{bpm}"}
  - say: Done.
- id: allowed
  ground:
    key: patient_id
    sql: SELECT patient_id, name FROM patients
  cases: {allow: patient_id > 5, refuse: patient_id <= 5}
  user: {says: "May {name}?"}
  compare: {visits.note: free_text, "*.cost": {abs: 0.01}}
  answer:
    decision: {type: string, enum: [allowed, refused], description: What it is.}
    days: {type: array, items: integer, description: Which days., compare: set}
    dose: {type: number, description: How much., compare: {abs: 0.5}}
  oracle: {days: "SELECT day FROM days WHERE patient_id = :patient_id"}
  gold:
  - allow: [{submit: {decision: allowed, days: [1, 2]}}]
  - refuse: [{submit: {decision: refused, dose: 2.5}}]
  gates: [state, {answer: {days: $oracle.days}}, {required_calls: [find]}]
"""


class TestGood:
    def test_what_a_file_says(self, parsed: Any):
        read = parsed(GOOD)
        pulse, allowed = read.families
        assert read.rules.now == "2026-03-02T09:00:00"
        assert (pulse.id, pulse.line, pulse.ground_line, pulse.key) == ("pulse", 4, 6, "patient_id")
        assert pulse.sql == "SELECT patient_id, name FROM patients", (
            "without the semicolon: it becomes a subquery"
        )
        assert len(pulse.vary["bpm"]) == 56
        assert len(pulse.body.user.says) == 2
        assert [gate.name for gate in pulse.body.gates] == ["state", "reply"]
        assert (pulse.body.answer, pulse.cases) == (None, {})
        assert allowed.ground_line == 17
        assert allowed.cases == {"allow": "patient_id > 5", "refuse": "patient_id <= 5"}
        assert allowed.body.gates[:-1] == [
            Gate("state"),
            Gate("answer", {"days": "days"}),
            Gate("required_calls", ["find"]),
        ]

    def test_a_familys_rules_add_to_the_worlds(self, parsed: Any):
        pulse, allowed = parsed(GOOD).families
        assert pulse.body.compare == {"visits.made_at": "ignore", "visits": "append_only"}
        assert allowed.body.compare == pulse.body.compare | {
            "visits.note": "free_text",
            "*.cost": {"abs": 0.01},
        }

    def test_the_answer_becomes_the_submit_tools_schema(self, parsed: Any):
        """Required is what every case of gold hands in."""
        answer = parsed(GOOD).families[1].body.answer
        assert answer is not None
        assert answer["required"] == ["decision"]
        assert answer["additionalProperties"] is False
        assert answer["properties"]["days"] == {
            "type": "array",
            "items": {"type": "integer"},
            "description": "Which days.",
        }
        assert parsed(GOOD).families[1].body.compare_answer == {
            "decision": "exact",
            "days": "set",
            "dose": {"abs": 0.5},
        }

    def test_gates_default_to_state_and_answer_where_gold_submits(self, parsed: Any):
        start = GOOD.index("  gates: [state")
        gates = parsed(GOOD[:start]).families[1].body.gates
        assert [gate.name for gate in gates] == ["state", "answer", "reply"]

    def test_yaml_is_read_without_its_surprises(self, parsed: Any):
        """A date stays text, yes is no boolean, 12:30 no number."""
        text = GOOD.replace("{int: [55, 110]}", "{choice: [2026-01-02, yes, 12:30, 010, 1e3, ~]}")
        domain = parsed(text).families[0].vary["bpm"]
        assert [domain[at] for at in range(len(domain))] == [
            "2026-01-02",
            "yes",
            "12:30",
            10,
            1000.0,
            None,
        ]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "visits.made_at: ignore",
            "visits.made_at: ingore",
            2,
            "`compare visits.made_at` must be exact or ignore or free_text, not",
        ),
        (
            "visits: append_only",
            "visits: ignore",
            2,
            "`visits` names a table; the rule for a table is append_only",
        ),
        (
            '"*.cost": {abs: 0.01}',
            '"*.cost": {abs: -1}',
            20,
            "`compare *.cost abs` must be at least 0.0, not -1",
        ),
        ("- id: pulse", "- id: [pulse]", 4, "`id` must be text, not ['pulse']"),
        (
            'says: ["{bpm} for {name}", "{name}: {bpm}"]',
            "says: []",
            8,
            "`user says` must have 1 or more entries",
        ),
        ("{int: [55, 110]}", "{sql: SELECT nmae FROM patients}", 7, "vary bpm: the query fails: "),
        (
            "{int: [55, 110]}",
            "{sql: SELECT day FROM days}",
            7,
            "vary bpm: the query gives no value",
        ),
        (
            "  - record: {pid: $pid,",
            "  - record: {pid: null,",
            12,
            "record cannot do without its argument 'pid'",
        ),
        ("cases: {allow:", "cases: {find:", 18, "a case cannot be named 'find': the word is taken"),
        (
            "description: What it is.",
            "descripton: x",
            22,
            "answer decision has no key 'descripton'; did you mean",
        ),
        (
            "description: How much., compare: {abs: 0.5}",
            "description: x, compare: set",
            24,
            "`set` goes with an array",
        ),
        (
            "description: How much., compare: {abs: 0.5}",
            "description: x, compare: text",
            24,
            "`text` goes with strings",
        ),
        (
            "gates: [state, {answer",
            "gates: [[state], {answer",
            29,
            "`gates` must be text or a mapping, not ['state']",
        ),
        (
            "{required_calls: [find]}]",
            "{required_calls: [find], answer: 1}]",
            29,
            "`gates answer` must be a mapping, not 1",
        ),
        (
            "{answer: {days: $oracle.days}}",
            "{answer: {dyas: $oracle.days}}",
            29,
            "did you mean 'days'?",
        ),
        (
            "{answer: {days: $oracle.days}}",
            "{answer: {days: $oracle.dyas}}",
            29,
            "write $oracle.NAME; did you mean 'days'?",
        ),
        (
            "{required_calls: [find]}",
            "{required_calls: find}",
            29,
            "`gates required_calls` must be a list, not 'find'",
        ),
        (
            "gates: [state, {answer: {days: $oracle.days}}, {required_calls: [find]}]",
            "gates: state",
            29,
            "must be a list",
        ),
        (
            "  - say: Done.\n",
            "  - say: Done.\n  gates: [answer]\n",
            14,
            "the gate `answer` needs a `submit` in gold",
        ),
        ("  about: Write", "   about: Write", 5, "not valid YAML"),
        (
            "visits.made_at: ignore",
            "visit.made_at: ignore",
            2,
            "unknown table 'visit'; did you mean 'visits'?",
        ),
        (
            "visits.made_at: ignore",
            "visits.mad_at: ignore",
            2,
            "unknown column 'mad_at'; did you mean 'made_at'?",
        ),
        (
            "visits.made_at: ignore",
            "visits.made_at: {abs: 1}",
            2,
            "a tolerance on a column of text",
        ),
        (
            '"*.cost": {abs: 0.01}',
            '"*.cots": {abs: 0.01}',
            20,
            "unknown column 'cots'; did you mean 'cost'?",
        ),
        ("{abs: 0.5}", "{abs: 1e999}", 24, "a number must be finite"),
        ("- id: pulse", f"- id: {'x' * 65}", 4, "must match"),
        (
            "vary: {bpm:",
            "vary: {b pm: {int: [1, 3]}, bpm:",
            7,
            "the name 'b pm' must match ^[A-Za-z_]\\w*$,",
        ),
        (
            "{int: [55, 110]}",
            '{choice: [{"$": pid}]}',
            7,
            "a key in a choice must not begin with $",
        ),
        ("{int: [55, 110]}", "{float: [1, 2, 1e-17]}", 7, "the step is too small"),
        ("{int: [55, 110]}", "{int: [1, true]}", 7, "`vary bpm int` must be a whole number"),
        ("{int: [55, 110]}", "{int: [5]}", 7, "`vary bpm int` must have 2 or more entries"),
        ("{int: [55, 110]}", "{fake: name, conut: 3}", 7, "vary bpm has no key 'conut'; did"),
        ("{int: [55, 110]}", "{int: [1, 2], choice: [1]}", 7, "vary bpm has no key 'choice'"),
        ("{int: [55, 110]}", "{choice: [!!binary aGk=]}", 7, "the tag !!binary has no place here"),
        ("{int: [55, 110]}", "{choice: [123456789012345678901]}", 7, "does not fit into 64 bits"),
        ("{int: [55, 110]}", '{choice: ["\\ud800"]}', 7, "Unicode character"),
        (
            'save: {pid: "$.id"}',
            'save: {p id: "$.id", pid: "$.id"}',
            11,
            "the name 'p id' must match",
        ),
        (
            "  - record: {pid: $pid",
            "  - for_each: {name: [a], do: [{find: {name: $name}}]}\n  - record: {pid: $pid",
            12,
            "`for_each` would hide the slot 'name'",
        ),
        ("    days: {type: array", '    "da ys": {type: array', 23, "the name 'da ys' must match"),
        (
            "gates: [state, {answer",
            "gates: [{state: strict}, {answer",
            29,
            "the gate `state` takes no options",
        ),
        (
            "{days: $oracle.days}",
            "{days: {sett: $oracle.days}}",
            29,
            "unknown compare 'sett'; did you mean 'set'?",
        ),
        (
            "{days: $oracle.days}",
            "{days: {exact: $oracle.days}}",
            29,
            "`exact` here, `compare: set` in the answer",
        ),
    ],
)
def test_each_mistake_is_one_message_at_its_line(
    mistaken: Any, old: str, new: str, line: int, words: str
):
    mistaken(GOOD, old, new, line, words)


def test_a_key_that_several_rows_share_tells_nothing_apart(parsed: Any):
    shared = GOOD.replace(
        "SELECT patient_id, name FROM patients;", "SELECT patient_id, 1 AS one FROM patients", 1
    )
    with pytest.raises(
        TaskError, match=r"tasks.yaml:6: .*must tell the rows apart, and one = 1 stands in several"
    ) as told:
        parsed(shared.replace("key: patient_id", "key: one", 1))
    assert str(told.value).endswith("; patient_id would")


@pytest.mark.parametrize("key", ["ground", "user", "gold"])
def test_what_a_family_cannot_do_without(parsed: Any, key: str):
    text = (
        "families:\n- id: pulse\n  ground: {key: name, sql: SELECT name FROM patients}\n  user:"
        " {says: Hi}\n  gold: [{say: x}]\n"
    )
    lines = [each for each in text.splitlines() if not each.startswith(f"  {key}:")]
    with pytest.raises(TaskError, match=f"tasks.yaml:2: family pulse: a family needs `{key}`"):
        parsed("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "tasks.yaml must be a mapping"),
        ("- a", "tasks.yaml must be a mapping"),
        ("families: []", "needs `families`, a list with at least one family"),
        ("families: {id: x}", "`families` must be a list"),
        ("families: [pulse]", "a family must be a mapping"),
        ("? [a]\n: b", "a key must be text"),
        (
            "families: !!python/object:os.system {}",
            "the tag !!python/object:os.system has no place here",
        ),
        ("families: !odd x", "the tag !odd has no place here"),
        ("now: !!int noon", "tasks.yaml:1: 'noon' must be of type int"),
        ("now: !!bool noon", "tasks.yaml:1: 'noon' must be of type bool"),
        ("now: !!timestamp 2026-01-01", "tasks.yaml:1: the tag !!timestamp has no place here"),
        ("families: &a [*a]", "an alias that holds itself"),
    ],
)
def test_what_is_no_task_file_at_all(parsed: Any, text: str, words: str):
    with pytest.raises(TaskError) as caught:
        parsed(text)
    assert words in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path, queries: Queries):
    with pytest.raises(TaskError, match="file not found"):
        read_tasks(tmp_path / "tasks.yaml", 0, TOOLS, queries)
    (tmp_path / "tasks.yaml").write_bytes(b"families: \xff")
    with pytest.raises(TaskError, match="not UTF-8 at byte 10"):
        read_tasks(tmp_path / "tasks.yaml", 0, TOOLS, queries)


def test_cases_without_a_step_of_their_own(parsed: Any):
    text = GOOD.replace(
        "- allow: [{submit", "- submit: {decision: allowed}\n  - say: [x] #"
    ).replace("- refuse: [", "- say: x #")
    with pytest.raises(
        TaskError, match=r"tasks.yaml:18: family allowed: gold has no step of its own for any case"
    ):
        parsed(text)


def test_the_rule_of_an_answer_gate_is_the_rule_of_the_field(parsed: Any):
    text = (
        GOOD.replace("Which days., compare: set", "Which days.")
        .replace("{days: $oracle", "{days: {set: $oracle")
        .replace("$oracle.days}}", "$oracle.days}}}")
    )
    family = parsed(text).families[1]
    assert family.body.compare_answer["days"] == "set"
    assert Gate("answer", {"days": "days"}) in family.body.gates


@pytest.mark.parametrize("word", ["submit", "say", "for_each"])
def test_a_tool_with_the_name_of_a_step_could_never_be_called(
    tmp_path: Path, queries: Queries, word: str
):
    file = tmp_path / "tasks.yaml"
    file.write_text(GOOD, "utf-8")
    with pytest.raises(TaskError, match=f"a tool cannot be named '{word}'"):
        read_tasks(file, 0, {**TOOLS, word: {}}, queries)


def test_a_character_that_yaml_forbids_is_no_traceback(parsed: Any):
    with pytest.raises(TaskError, match="not valid YAML: unacceptable character"):
        parsed("families:\0")
