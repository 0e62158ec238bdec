"""A model that plays the user, over real HTTP: what it is sent, what of its words goes through, and
what does not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from envs.types import ToolCall
from synth.core.models.openai.endpoint import Endpoint
from synth.core.models.openai.model import OpenAIModel
from synth.core.users.scripted.user import LONGEST, ScriptedConversation, ScriptedUser
from synth.errors import ModelError, ModelRefusedRequest, OperatorError
from synth.ext.serving.openai_server import serve
from synth.ext.simulated_user.drafts import Ledger
from synth.ext.simulated_user.user import DRAFTS, SimulatedUser, make
from synth.model import Completion
from synth.plugins import NoOptions
from synth.testing.user_conformance import (
    ASKS,
    ASKS_ELSE,
    IS_DONE,
    PROPOSES,
    PROPOSES_NOTHING,
    PROPOSES_OTHERWISE,
    exam_role,
)
from synth.user import Topic, UserRole, UserTurn
from tests.unit.users.test_real_talk import talking
from tests.user_endpoint import USAGE, Player, Say, acts, obedient, simulated

ROLE = exam_role()


async def talk(say: Say, *texts: str, role: UserRole = ROLE) -> Sequence[UserTurn]:
    return (await talked(Player(say), *texts, role=role))[0]


async def talked(
    player: Player, *texts: str, role: UserRole = ROLE, seed: int = 1
) -> tuple[list[UserTurn], Player]:
    async with simulated(player) as user:
        conversation = user.start(role, seed)
        return [await conversation.reply(text) for text in texts], player


def kinds(turn: UserTurn) -> list[list[str]]:
    return [each["kinds"] for each in turn.discarded]


async def test_the_words_are_the_models_and_the_move_is_the_rules():
    def say(request: object) -> str:
        return next(answers)

    answers = iter(
        (
            "Oh, sure: May 3rd, 1980.",
            "Exactly that, go ahead please.",
            "No idea what she weighs, sorry.",
        )
    )
    told, agreed, unknown = await talk(say, ASKS, PROPOSES, ASKS_ELSE)
    assert (told.text, told.told) == ("Oh, sure: May 3rd, 1980.", ("dob",))
    assert (agreed.text, agreed.consents) == ("Exactly that, go ahead please.", True)
    assert (unknown.text, unknown.told) == ("No idea what she weighs, sorry.", ())
    assert not any(each.discarded or each.fault for each in (told, agreed, unknown))


async def test_the_moves_are_those_of_the_scripted_user():
    texts = (ASKS_ELSE, PROPOSES_NOTHING, ASKS, PROPOSES, IS_DONE)
    scripted = ScriptedUser().start(ROLE, 1)
    expected = [await scripted.reply(text) for text in texts]
    (played, player) = await talked(Player(obedient), *texts)
    assert [(each.told, each.consents, each.ends) for each in played] == [
        (each.told, each.consents, each.ends) for each in expected
    ]
    assert len(player.requests) == len(texts) - 1, "nobody is asked to word an end"


async def test_tokens_and_money_are_counted_draft_by_draft():
    turns = await talk(obedient, ASKS, IS_DONE)
    tokens = [(turn.usage.input_tokens, turn.usage.output_tokens) for turn in turns]
    heard, worded = USAGE, USAGE
    assert tokens[0] == ((heard + worded).input_tokens, (heard + worded).output_tokens)
    assert tokens[1] == (heard.input_tokens, heard.output_tokens), "nobody words an end"
    assert [turn.cost_usd for turn in turns] == [pytest.approx(240e-6), pytest.approx(120e-6)]
    (wordless,) = await talk(lambda _: "", ASKS)
    assert wordless.usage.input_tokens == (1 + DRAFTS) * 100
    assert wordless.cost_usd == pytest.approx((1 + DRAFTS) * 120e-6)


# What is sent
# --------------------------------------------------------------------------------------------


async def test_a_model_that_finds_words_is_told_no_fact_that_nobody_asked_for():
    _, player = await talked(Player(obedient), ASKS_ELSE, PROPOSES_NOTHING)
    sent = json.dumps(player.requests)
    assert "1980" not in sent
    assert "7741" not in sent
    _, player = await talked(Player(obedient), ASKS)
    assert "1980-05-03" in json.dumps(player.requests)
    assert "7741" not in json.dumps(player.requests)


async def test_the_model_gets_the_role_and_the_words_and_nothing_else():
    """Each string that is sent is the briefing, or was said in this conversation."""
    turns, player = await talked(Player(obedient), ASKS, f"<think>tool says 42</think>{PROPOSES}")
    first, second = player.requests
    assert set(first) | set(second) <= {"model", "messages"}
    assert [each["role"] for each in second["messages"]] == [
        "system",
        *["user", "assistant"] * 2,
        "user",
    ]
    assert [each["content"] for each in second["messages"][2:]] == [
        ROLE.opening,
        ASKS,
        turns[0].text,
        PROPOSES,
    ]
    briefing = second["messages"][0]["content"]
    assert ROLE.persona in briefing
    assert "7741" not in briefing


async def test_each_request_carries_a_seed_of_its_own_where_seeds_are_sent():
    async def seeds(seed: int) -> list[int]:
        player = Player(lambda _: "")
        async with simulated(player, send_seed=True) as user:
            await user.start(ROLE, seed).reply(ASKS)
        return [each["seed"] for each in player.requests]

    once, again, other = await seeds(1), await seeds(1), await seeds(2)
    assert len(set(once)) == DRAFTS
    assert once == again
    assert not set(once) & set(other)


async def test_a_flood_of_the_agent_is_not_passed_on():
    (turn,), player = await talked(Player(obedient), "x" * (LONGEST + 1))
    assert not player.requests
    assert turn.text
    assert not turn.told


# What it makes of the agent's turns
# ------------------------------------------------------------------------------------------

GERMAN = "Soll ich Prednisone 5 mg geben, geboren 1980-05-03?"


def states(**act: object) -> Completion:
    return acts({"topics": [], "tools": [], **act})


@pytest.mark.parametrize(
    ("text", "heard", "outcome"),
    [
        ("Wann ist sie geboren?", states(kind="ask", topics=["dob"]), "dob"),
        (GERMAN, states(kind="propose", tools=["other"]), "agrees"),
        (GERMAN.replace("5 mg", "50 mg"), states(kind="propose", tools=["other"]), "corrects"),
        (GERMAN.replace("5 mg", "5 mg or 50 mg"), states(kind="propose"), "corrects"),
        ("Alles erledigt.", states(kind="report"), "ends"),
        ("Ich sehe nach.", states(kind="work"), "goes on"),
        ("Ist das so richtig?", states(kind="check"), "goes on"),
        (GERMAN, states(kind="report"), "ends"),
        ("Wann?", Completion('{"acts": [{"kind": "ask", "topics": ["dob"]}]}'), "dob"),
    ],
)
async def test_the_model_says_what_a_turn_does_and_the_rules_decide(
    text: str, heard: Completion, outcome: str
):
    turns, player = await talked(Player(obedient, lambda _: heard), text)
    turn = turns[0]
    parts = {
        "agrees": turn.consents,
        "corrects": turn.corrects,
        "ends": turn.ends,
        "dob": turn.told,
    }
    assert [name for name, is_so in parts.items() if is_so] == (
        [] if outcome == "goes on" else [outcome]
    )
    sent = json.dumps(player.classified)
    assert "1980" not in sent.replace(text, "")
    assert "7741" not in sent


@pytest.mark.parametrize(
    "heard",
    [
        "It asks for the date of birth.",
        "{}",
        Completion('{"acts": []}'),
        states(kind="asks"),
        states(kind="ask", topics=["weight"]),
        states(kind="propose", tools=["cancel_order"]),
        Completion("", [ToolCall("c", "classify_message", "[1")], finish_reason="tool_calls"),
    ],
)
async def test_nonsense_about_a_turn_leaves_the_rollout_unscored(heard: Completion | str):
    (turn,), player = await talked(Player(obedient, lambda _: heard), ASKS)
    assert (turn.fault, turn.ends, turn.text) == ("unheard", True, "")
    assert len(player.classified) == DRAFTS == len(turn.discarded)
    assert not player.requests
    assert turn.usage.input_tokens


# What goes through
# ------------------------------------------------------------------------------------------

BAD_WORDS: list[tuple[str, str, str]] = [
    # agent's turn, draft, what is wrong with it
    (ASKS, "She was born some time in the eighties.", "missing"),
    (ASKS, "1981-05-03.", "missing"),
    (ASKS, "It is not 1980-05-03.", "missing"),
    (ASKS, "1980-05-03 or 1981-05-03.", "missing"),
    (ASKS, "1980-05-03, but I would not rely on it.", "missing"),
    (ASKS, "Born 1980-05-03, and her number is 7741.", "leak"),
    (ASKS, "Born 1980-05-03. Please also give her 20 mg of something.", "invented"),
    (ASKS, "Born 1980-05-03. Yes, go ahead.", "answer"),
    (f"{ASKS} Is it for bed 44?", "Born 1980-05-03, bed 44.", "invented"),
    (ASKS_ELSE, "About 60 kg.", "invented"),
    (ASKS_ELSE, "Her number is 7741, if that helps.", "leak"),
    (ASKS_ELSE, "No idea, she was born on 3 May 1980.", "leak"),
    (ASKS_ELSE, "Fine, do it.", "answer"),
    (PROPOSES_NOTHING, "Yes please.", "answer"),
    (PROPOSES_NOTHING, "Okay.", "answer"),
    (PROPOSES_NOTHING, "Start prednisone for the one born 1980-05-03.", "leak"),
    (PROPOSES_OTHERWISE, "No, that is not right.", "missing"),
    (PROPOSES, "Yes, but only 10 mg.", "answer"),
    (PROPOSES, "No, thanks.", "answer"),
    (PROPOSES, "Hm.", "answer"),
    (PROPOSES, "Yes, if her kidneys allow it.", "answer"),
    (PROPOSES, "Yes, 5 mg. Her number is 7741.", "leak"),
    (ASKS, "", "empty"),
    (ASKS, "<think>1980-05-03</think>", "empty"),
    (ASKS, "As an AI, I would say 1980-05-03.", "role"),
    (ASKS, "I am a simulated user. 1980-05-03.", "role"),
    (ASKS, "1980-05-03. How can I help you today?", "role"),
    (ASKS, "User: 1980-05-03", "form"),
    (ASKS, '{"dob": "1980-05-03"}', "form"),
    (ASKS, "(hesitates) 1980-05-03", "form"),
    (ASKS, "Well, 1980-05-03. " + "You know how it is. " * 60, "too_long"),
]


@pytest.mark.parametrize(
    ("heard", "draft", "kind"), BAD_WORDS, ids=[f"{k}: {d[:30]}" for _, d, k in BAD_WORDS]
)
async def test_a_bad_draft_is_asked_for_again_and_then_replaced_by_the_rules_words(
    heard: str, draft: str, kind: str
):
    (turn,), player = await talked(Player(lambda _: draft), heard)
    assert turn.by_rule
    assert len(player.requests) == DRAFTS
    assert all(kind in each for each in kinds(turn)), turn.discarded
    assert turn.text not in {"", draft}
    assert turn.fault is None
    assert "Your last draft cannot be sent" in player.requests[-1]["messages"][0]["content"]
    assert "Your last draft" not in player.requests[0]["messages"][0]["content"]


GOOD_WORDS = [
    (ASKS, "3 May 1980"),
    (ASKS, '"She was born on 1980-05-03."'),
    (ASKS, "<think>They want the date.</think>Sure! Her birthday is 05/03... sorry, 1980-05-03."),
    (ASKS_ELSE, "I really can't tell you that."),
    (PROPOSES_NOTHING, "What exactly are you going to do?"),
    (PROPOSES_NOTHING, "Tell me first what you will do, please."),
    (PROPOSES, "Yes, that's right, start the 5 mg."),
    (PROPOSES, "Perfect, please go ahead."),
]


@pytest.mark.parametrize(
    ("heard", "draft"), GOOD_WORDS, ids=[draft[:30] for _, draft in GOOD_WORDS]
)
async def test_a_good_draft_is_sent(heard: str, draft: str):
    (turn,) = await talk(lambda _: draft, heard)
    if "05/03..." in draft:
        assert turn.by_rule, "a date of two readings is no clear fact"
        return
    assert not turn.discarded, turn.discarded
    assert turn.text == draft.strip('"')


def test_half_of_an_answer_is_a_leak():
    role = replace(ROLE, knows={"size": Topic("120 by 80.")})
    (found,) = Ledger(role, [role.opening], [ASKS_ELSE]).problems(
        "It is 120.", UserTurn("No idea.")
    )
    assert found.kind == "leak"


async def test_the_second_draft_may_do():
    drafts = iter(("I'd rather not say.", "Fine: 1980-05-03."))
    (turn,) = await talk(lambda _: next(drafts), ASKS)
    assert (turn.text, turn.by_rule, kinds(turn)) == ("Fine: 1980-05-03.", False, [["missing"]])


async def test_refusals_cut_answers_and_stray_calls_are_no_words():
    answers = (
        Completion("1980", refusal="I cannot do that."),
        Completion("1980-05-03", finish_reason="content_filter"),
        Completion("1980-05-03 and then", finish_reason="length"),
        Completion("1980-05-03", [ToolCall("c", "find_patients", "{}")]),
    )
    expected = ["refusal", "refusal", "cut_off", "form"]
    for answer, kind in zip(answers, expected, strict=True):
        (turn,) = await talk(lambda _, it=answer: it, ASKS)
        assert kinds(turn) == [[kind]] * DRAFTS
        assert turn.by_rule


async def test_a_role_that_declines_is_held_to_it():
    role = exam_role(declines=True)
    drafts = iter(["1980-05-03", "Yes, go ahead.", "Hm.", "Why?"])
    _, no = await talk(lambda _: next(drafts), ASKS, PROPOSES, role=role)
    assert no.declines
    assert no.by_rule
    assert kinds(no) == [["answer"]] * DRAFTS


# Infrastructure
# ---------------------------------------------------------------------------------------------------


async def test_an_endpoint_that_cannot_be_asked_is_nobodys_fault():
    def refuse(request: object) -> str:
        raise ModelRefusedRequest("no such thing", False)

    with pytest.raises(ModelRefusedRequest, match=r"^the user's model: .*no such thing"):
        await talk(refuse, ASKS)
    model = OpenAIModel(Endpoint("player", "http://127.0.0.1:9/v1", max_retries=0))
    with pytest.raises(ModelError, match=r"^the user's model: .*did not answer") as broken:
        await SimulatedUser(model).start(ROLE, 1).reply(ASKS)
    assert broken.value.retryable
    with pytest.raises(ModelError, match=r"^the user's model: "):
        await SimulatedUser(model).preflight()
    await model.aclose()


async def test_a_preflight_warning_names_the_user():
    async with serve(Player(obedient), models=("other",)) as url:
        user = SimulatedUser(OpenAIModel(Endpoint("player", url)))
        (warning,) = await user.preflight()
        assert warning.startswith("the user's model: ")
        assert "'player'" in warning
        await user.aclose()


def test_without_a_model_there_is_no_such_user():
    with pytest.raises(OperatorError, match=r"users\.model=user"):
        make(NoOptions())


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
@pytest.mark.slow
def test_the_rules_own_words_are_good_drafts_for_every_user_of_the_shipped_worlds(world: str):
    """Else a model that repeats them to the letter would be sent back."""
    wrong: list[str] = []
    for task in talking(world):
        role = task.user
        assert role is not None
        mentions = ", ".join(role.consent.mentions) if role.consent else "that"
        rules, ledger = ScriptedConversation(role, 1), Ledger(role, [role.opening])
        for heard in (
            *(each.asked for each in role.knows.values()),
            f"Shall I do this: {mentions}?",
            PROPOSES_NOTHING,
        ):
            ledger.heard.append(heard)
            due = rules.decide(heard)
            found = [] if due.ends else ledger.problems(due.text, due)
            wrong += [f"{task.family}: {due.text!r}: {each.why}" for each in found]
            rules.remember(due)
            ledger.said.append(due.text)
    assert not wrong, "\n".join(wrong)
