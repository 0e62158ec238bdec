"""Users in the notation: what is told and agreed to, in the family and in the task that is made of
it.
"""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.tasks.yaml.step_templates import realise
from synth.core.types.checks import Gate
from synth.core.types.steps import AskStep
from synth.errors import TaskError

GOOD = """\
families:
- id: prescribe
  ground: {key: patient_id, sql: "SELECT patient_id, name, dob FROM patients"}
  vary: {drug: {choice: [ramipril, digoxin]}}
  cases: {allow: patient_id > 1, refuse: patient_id <= 1}
  user:
    says: ["Start {name} on {drug}, 5 mg daily."]
    signed_in: "Signed in: {name}, patient {patient_id}."
    persona: [a hurried ward clerk, a doctor on the phone]
    knows:
      dob: "Born {dob}."
      start_date: {says: [Today., "From today on."], asked: ["When does it start?"], words: [start, from when]}
    agrees_if:
      mentions: ["{drug}", "5 mg", "{dob}"]
      says: [Yes., Do it.]
      declines: {refuse: ["No, leave {name} alone."]}
  gold:
  - find: {name: "{name}", dob: null}
    save: {pid: "$.patients[?@.name == {name}].id", all: $.patients}
  - ask: [dob, start_date]
  - confirm: ["{drug} 5mg for {name}, born {dob}?", "{name}, {dob}: {drug}, 5 mg, chart {pid}?"]
  - allow:
    - for_each: {one: $all, do: [{record: {pid: $one.id, note: "{drug} for {one.chart.name}"}}]}
  - refuse: [{say: As you wish.}]
  gates: [state, {no_write_before: [ask, confirm]}]
"""


class TestGood:
    def test_a_user_who_answers(self, parsed: Any):
        body = parsed(GOOD).families[0].body
        slots = {"patient_id": 2, "name": "Ben O'Hara", "dob": "1985-12-31", "drug": "digoxin"}
        role = body.user.role("Start!", slots, "allow", draw=3)
        assert role is not None
        assert role.opening == "Start!"
        assert role.persona in {"a hurried ward clerk", "a doctor on the phone"}
        dob, start = role.knows["dob"], role.knows["start_date"]
        assert (dob.says, dob.asked, dob.words) == (
            "Born 1985-12-31.",
            "Could you tell me the dob?",
            [],
        )
        assert start.says in {"Today.", "From today on."}
        assert (start.asked, start.words) == ("When does it start?", ["start", "from when"])
        assert role.consent is not None
        assert role.consent.mentions == ["digoxin", "5 mg", "1985-12-31"]
        assert role.consent.declines is None
        assert body.gates[:-1] == [Gate("state"), Gate("no_write_before", ["ask", "confirm"])]
        assert body.gates[-1].name == "reply"

    def test_a_case_in_which_the_user_declines(self, parsed: Any):
        body = parsed(GOOD).families[0].body
        slots = {"patient_id": 1, "name": "Ada", "dob": "1990-01-02", "drug": "digoxin"}
        role = body.user.role("Start!", slots, "refuse", draw=3)
        assert role.consent.declines == "No, leave Ada alone."

    def test_a_user_who_always_declines_in_other_words(self, parsed: Any):
        text = GOOD.replace('{refuse: ["No, leave {name} alone."]}', "[No., Never.]")
        body = parsed(text).families[0].body
        said = {
            body.user.role("", {"name": "Ada", "dob": "x", "drug": "y"}, case, at).consent.declines
            for at in range(20)
            for case in ("allow", "refuse")
        }
        assert said == {"No.", "Never."}

    def test_each_list_is_drawn_on_its_own(self, parsed: Any):
        """Twenty tasks have every combination of three drawn texts; were they tied, there would be
        two.
        """
        body = parsed(GOOD).families[0].body
        roles = [
            body.user.role("", {"name": "Ada", "dob": "x", "drug": "y"}, "allow", at)
            for at in range(60)
        ]
        assert (
            len(
                {(each.persona, each.knows["start_date"].says, each.consent.says) for each in roles}
            )
            == 8
        )

    def test_the_steps_of_a_task(self, parsed: Any):
        body = parsed(GOOD).families[0].body
        slots = {"patient_id": 2, "name": "Ben O'Hara", "dob": "1985-12-31", "drug": "digoxin"}
        asked = {
            name: topic.asked for name, topic in body.user.role("", slots, "allow", 1).knows.items()
        }
        gold = realise(body.gold, slots, "allow", 5, asked)
        assert [step.do for step in gold] == ["call", "ask", "confirm", "for_each"]
        assert gold[0].arguments == {"name": "Ben O'Hara"}, "null leaves an optional argument out"
        assert gold[0].save["pid"] == '$.patients[?@.name == "Ben O\'Hara"].id'
        assert gold[1] == AskStep(
            ["dob", "start_date"], "When does it start? Could you tell me the dob?"
        )
        call = gold[3].steps[0]
        assert call.arguments["pid"] == {"$": "one", "path": ["id"]}
        assert call.arguments["note"] == {
            "$text": ["digoxin for ", {"$": "one", "path": ["chart", "name"]}]
        }

    def test_each_text_of_a_confirmation_is_drawn_some_time(self, parsed: Any):
        body = parsed(GOOD).families[0].body
        slots = {"patient_id": 2, "name": "Ada", "dob": "x", "drug": "digoxin"}
        asked = {"dob": "?", "start_date": "?"}
        texts = [realise(body.gold, slots, "allow", draw, asked)[2].text for draw in range(20)]
        assert "digoxin 5mg for Ada, born x?" in texts
        assert {"$text": ["Ada, x: digoxin, 5 mg, chart ", {"$": "pid"}, "?"]} in texts

    def test_topics_in_usual_words_are_asked_in_one_question(self, parsed: Any):
        text = GOOD.replace(', asked: ["When does it start?"]', "")
        body = parsed(text).families[0].body
        role = body.user.role("", {"name": "Ada", "dob": "x", "drug": "y"}, "allow", 1)
        gold = realise(
            body.gold,
            {"name": "A", "dob": "", "drug": ""},
            None,
            1,
            {k: t.asked for k, t in role.knows.items()},
        )
        assert gold[1].text == "Could you tell me the dob and the start date?"

    def test_without_knows_and_agrees_if_nobody_answers(self, parsed: Any):
        text = (
            "families: [{id: a, ground: {key: name, sql: SELECT name FROM patients}, user:"
            " {says: Hi, signed_in: x}, "
        )
        body = parsed(text + "gold: [{say: x}]}]").families[0].body
        assert body.user.role("Hi", {"name": "Ada"}, None, 1) is None
        assert body.user.signed_in == "x"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            '"Signed in: {name}',
            '"Signed in: {nmae}',
            8,
            "signed_in: unknown slot 'nmae'; did you mean 'name'?",
        ),
        (
            'signed_in: "Signed',
            'signed_in: ["Signed {name}"] #',
            8,
            "`user signed_in` must be text, not ['Signed {name}']",
        ),
        ("[a hurried", "[5, a hurried", 9, "`user persona` must be text, not 5"),
        (
            'dob: "Born {dob}."',
            'dob: "Born {bod}."',
            11,
            "knows dob: unknown slot 'bod'; known are dob, drug, name, patient_id",
        ),
        ('dob: "Born {dob}."', "d-o-b: x", 11, "the name 'd-o-b' must match ^[A-Za-z_]\\w*$,"),
        (
            "{says: [Today.",
            "{syas: [Today.",
            12,
            "knows start_date has no key 'syas'; did you mean 'says'?",
        ),
        ('says: [Today., "From today on."], ', "", 12, "user knows start_date needs `says`"),
        (
            '      mentions: ["{drug}", "5 mg", "{dob}"]\n',
            "",
            14,
            "user agrees_if needs `mentions`",
        ),
        ('mentions: ["{drug}"', 'mentions: ["{durg}"', 14, "mentions: unknown slot 'durg'"),
        (
            "declines: {refuse:",
            "declines: {refues:",
            16,
            "declines: unknown case 'refues'; did you mean 'refuse'?",
        ),
        (
            'confirm: ["{drug} 5mg',
            'confirm: ["{drug} 6mg',
            21,
            "`confirm` does not mention '5 mg', without which",
        ),
        (
            '{name}, born {dob}?"',
            '{name}?"',
            21,
            "`confirm` does not mention '{dob}', without which",
        ),
        (
            "no_write_before: [ask,",
            "no_write_before: [aks,",
            25,
            "`gates no_write_before` must be ask or confirm, not 'aks'; did you mean",
        ),
        (
            "no_write_before: [ask, confirm]",
            "no_write_before: ask",
            25,
            "`gates no_write_before` must be a list, not 'ask'",
        ),
        (
            "  - ask: [dob, start_date]\n",
            "",
            24,
            "no_write_before names 'ask', and gold has no `ask` step",
        ),
    ],
)
def test_each_mistake_is_one_message_at_its_line(
    mistaken: Any, old: str, new: str, line: int, words: str
):
    mistaken(GOOD, old, new, line, words)


HEAD = "families:\n- id: a\n  ground: {key: name, sql: SELECT name FROM patients}\n"


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        (
            "  user: {says: Hi, agrees_if: {mentions: a, declines: {x: no}}}\n  gold: [{say: b}]",
            "declines: unknown case 'x'; known are none",
        )
    ],
)
def test_what_needs_a_user_who_answers(parsed: Any, rest: str, words: str):
    with pytest.raises(TaskError) as caught:
        parsed(HEAD + rest)
    assert words in caught.value.message


def test_knowledge_that_gold_never_asks_for_is_a_distractor(parsed: Any):
    assert parsed(HEAD + "  user: {says: Hi, knows: {dob: x}}\n  gold: [{say: b}]").families


def test_a_confirmation_with_saved_values_is_left_to_the_proof(parsed: Any):
    """What a result holds is not known while the file is read."""
    text = (
        "  user: {says: Hi, agrees_if: {mentions: '{name}'}}\n  gold: [{find: {}, save: {who:"
        " $.a}}, {confirm: '{who}?'}]"
    )
    assert parsed(HEAD + text).families
