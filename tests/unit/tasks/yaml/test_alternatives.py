"""Other right ends, undone writes and the gates that talk has: parsed, and tried on the
database.
"""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.tasks.yaml.gates import realise_gates
from synth.core.types.checks import Gate
from synth.errors import TaskError

GOOD = """\
transient: forbid
families:
- id: visit
  ground: {key: visit_id, sql: "SELECT visit_id, patient_id, cost FROM visits"}
  vary: {budget: {int: [5, 50]}}
  user: {says: "Another visit for {patient_id}."}
  gold:
  - record: {pid: "{patient_id}"}
  - say: Done.
  alternatives:
    any_of:
    - bind:
        newest: SELECT MAX(visit_id) FROM visits WHERE patient_id = :patient_id;
        its_note: "SELECT note FROM visits WHERE visit_id = :newest"
      must:
      - SELECT cost <= :cost + :budget FROM visits WHERE visit_id = :newest
      - "SELECT :its_note = ':odd'"
      may_change:
        visits: {where: "visits.patient_id = :patient_id", columns: [note, cost], ops: [insert, update], at_most: 2}
        days: patient_id = :patient_id
    - must: SELECT 1
      may_change: {patients: "patient_id = :patient_id"}
- id: undone
  ground: {key: name, sql: SELECT name FROM patients}
  transient: allow
  user: {says: "{name}"}
  gold: [{say: x}]
  gates: [state, {says: {all: "{name}", none: [sorry, "{name} {name}"]}}]
"""


def test_what_the_verifier_is_given(parsed: Any):
    visit, undone = parsed(GOOD).families
    assert [end.to_json() for end in visit.body.alternatives] == [
        {
            "bind": {
                "newest": "SELECT MAX(visit_id) FROM visits WHERE patient_id = :patient_id",
                "its_note": "SELECT note FROM visits WHERE visit_id = :newest",
            },
            "must": [
                "SELECT cost <= :cost + :budget FROM visits WHERE visit_id = :newest",
                "SELECT :its_note = ':odd'",
            ],
            "may_change": {
                "visits": {
                    "where": "visits.patient_id = :patient_id",
                    "columns": ["note", "cost"],
                    "ops": ["insert", "update"],
                    "at_most": 2,
                },
                "days": {
                    "where": "patient_id = :patient_id",
                    "columns": None,
                    "ops": None,
                    "at_most": None,
                },
            },
        },
        {
            "bind": {},
            "must": ["SELECT 1"],
            "may_change": {
                "patients": {
                    "where": "patient_id = :patient_id",
                    "columns": None,
                    "ops": None,
                    "at_most": None,
                }
            },
        },
    ]
    assert (visit.body.transient, undone.body.transient) == ("forbid", "allow")
    assert "budget" in visit.body.uses, "a slot that only SQL binds is used"


def test_the_phrases_of_a_task(parsed: Any):
    gates = parsed(GOOD).families[1].body.gates
    realised = realise_gates(gates, {"name": "Ada"})
    assert realised[-1].name == "reply"
    assert realised[:-1] == (
        Gate("state"),
        Gate("says", {"all": ["Ada"], "none": ["sorry", "Ada Ada"]}),
    )


def test_a_gate_whose_name_contains_says_has_no_phrases():
    gate = Gate("extensions.reward:says_hello")
    assert realise_gates([gate], {"name": "Ada"}) == (gate,)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("any_of:", "anyof:", 11, "alternatives has no key 'anyof'; did you mean 'any_of'?"),
        (
            "        newest: SELECT",
            "        patient_id: SELECT",
            13,
            "the bind 'patient_id' would hide the slot",
        ),
        ("        newest: SELECT", "        new-est: SELECT", 13, "the name 'new-est' must match"),
        ("MAX(visit_id) FROM", "MAX(visitid) FROM", 13, "bind newest: the query fails: "),
        (
            "patient_id = :patient_id;",
            "patient_id = :patient;",
            13,
            "bind newest: :patient is neither a slot nor an",
        ),
        (
            "WHERE patient_id = :patient_id;",
            "WHERE visit_id = :newest;",
            13,
            ":newest is neither a slot nor an earlier",
        ),
        (
            "SELECT note FROM",
            "SELECT note, cost FROM",
            14,
            "bind its_note must select one column, not 2 (note, cost)",
        ),
        ("- SELECT cost <=", "- SELECT coast <=", 15, "must: the query fails: "),
        ("- SELECT cost <=", "- UPDATE visits SET cost =", 15, "must: the query fails: "),
        ("    - must: SELECT 1\n      may", "    - may", 21, "alternatives any_of needs `must`"),
        ("    - must: SELECT 1", "    - must: []", 21, "`alternatives any_of must` must have 1 or"),
        (
            '      may_change: {patients: "patient_id = :patient_id"}\n',
            "",
            21,
            "alternatives any_of needs `may_change`",
        ),
        (
            '{patients: "patient_id',
            '{patient: "patient_id',
            22,
            "unknown table 'patient'; did you mean 'patients'?",
        ),
        (
            '{patients: "patient_id =',
            '{patients: "patientid =',
            22,
            "may_change patients: the query fails: ",
        ),
        (
            '{patients: "patient_id =',
            '{patients: "name; DROP',
            22,
            "may_change patients: the query fails: ",
        ),
        (
            'visits: {where: "visits.',
            'visits: {wehre: "visits.',
            19,
            "may_change visits has no key 'wehre'; did you mean",
        ),
        (
            "columns: [note, cost]",
            "columns: [note, coast]",
            19,
            "unknown column 'coast'; did you mean 'cost'?",
        ),
        (
            "columns: [note, cost]",
            "columns: note",
            19,
            "`alternatives any_of may_change visits columns` must be a list, not 'note'",
        ),
        (
            "ops: [insert, update]",
            "ops: [inserts]",
            19,
            "`alternatives any_of may_change visits ops` must be insert or update or",
        ),
        (
            "at_most: 2",
            "at_most: 0",
            19,
            "`alternatives any_of may_change visits at_most` must be at least 1, not 0",
        ),
        ("{says: {all: ", "{says: {any: ", 28, "says has no key 'any'; known are all, none"),
        (
            '{all: "{name}"',
            '{all: "{nmae}"',
            28,
            "says all: unknown slot 'nmae'; did you mean 'name'?",
        ),
        (
            '{all: "{name}", none: [sorry, "{name} {name}"]}',
            "{}",
            28,
            "the gate `says` needs `all` or `none`",
        ),
    ],
)
def test_each_mistake_is_one_message_at_its_line(
    mistaken: Any, old: str, new: str, line: int, words: str
):
    mistaken(GOOD, old, new, line, words)


@pytest.mark.parametrize(
    "key", ["transient: forbid", "alternatives: {any_of: [{must: SELECT 1, may_change: {}}]}"]
)
def test_what_the_state_gate_judges_needs_the_state_gate(parsed: Any, key: str):
    text = (
        "families:\n- id: a\n  ground: {key: name, sql: SELECT name FROM patients}\n  user: {says:"
        " Hi}\n"
        f"  gold: [{{find: {{}}}}]\n  {key}\n  gates: [{{required_calls: [find]}}]\n"
    )
    with pytest.raises(
        TaskError, match=f"`{key.partition(':')[0]}` is judged by the gate `state`"
    ) as caught:
        parsed(text)
    assert caught.value.line == 6
