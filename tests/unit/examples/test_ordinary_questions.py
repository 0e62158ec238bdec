"""Questions that an agent asks of its own accord: the worlds' users understand them, and tell what
only they can know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

import pytest

from envs.types import Limits
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from synth.core.tasks.families import FamilyTasks
from synth.core.users.scripted.user import ScriptedUser
from synth.core.validation.prove import prove
from synth.episode import Episode

QUESTIONS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "ehr_db": {
        "which_patient": (
            "There are two patients named {name}. Could you please provide the date of birth?",
            "Which {name} do you mean? One is 45 years old, the other 70.",
            (
                "I need a bit more information to identify the right patient."
                " Do you have a DOB or MRN?"
            ),
        ),
        "wrong_birth_date": (
            (
                "I couldn't find a patient named {name} with that date of birth ({given}). Could you"
                " double-check it?"
            ),
            "We do have a {name}, but the DOB doesn't match. Can you please re-check?",
            "There's no {name} born {given} in our system. Is there possibly a typo?",
        ),
        "reaction_details": (
            "To record the allergy I need: 1) the reaction 2) the severity (mild/moderate/severe).",
            "Could you describe what happened?",
            "Was it mild, moderate or severe?",
        ),
        "dose_left_open": (
            "What strength, and how many times a day?",
            "How would you like it dosed?",
            "I can't choose the dose for you - what should I order?",
        ),
        "start_anticoagulant": ("Could you tell me the dosing?", "What dose of {drug}?"),
        "stop_anticoagulant": (
            "What's the reason for discontinuation?",
            "Why should {drug} be stopped?",
        ),
        "after_hospital": (
            "Happy to help. What does the discharge letter say?",
            "What changes does the letter list?",
            "Which medications have changed?",
        ),
        "recall_whole_practice": ("By when should they be seen?", "What due date should I use?"),
        "followup_already_open": (
            "There's already an open one. Should I leave it as is?",
            "Shall I mark the old one as done and book a new one within {days} days?",
        ),
    },
    "shop": {
        "misread_number": (
            (
                "I'm sorry, I can't find order {given} under your account. Could you double-check the"
                " order number?"
            ),
            "That order isn't yours. Please check the number and try again.",
        ),
        "cancel_which_order": (
            "I see two open orders, LP-1 and LP-2. Which one would you like to cancel?",
            "Is it because you changed your mind, ordered twice, or something else?",
        ),
        "moved_house": ("Sure! What's the new address?", "Where should we send it?"),
        "swap_for_another_colour": (
            "It comes in teal and rust. Do you have a preference?",
            "Is there a maximum price difference you'd accept?",
        ),
        "which_one_goes_back": (
            "You bought the {product} twice. Which one is it?",
            "Is it from order LP-1 or LP-2?",
        ),
        "return_of_a_device": ("Is it unopened?", "Did you use it?", "What condition is it in?"),
        "some_are_broken": (
            "How many would you like to return?",
            "Which quantity should I put on the return?",
        ),
        "size_sold_out_in_that_colour": (
            "Size {wanted} is sold out in {colour}. Would you be open to a different colour?",
            "Would {new_colour} work for you?",
        ),
        "goodwill_for_a_namesake": (
            "Which {name} is it, and what was the issue?",
            "What is the goodwill for: late parcel, damaged item, wrong item or lost parcel?",
        ),
    },
}


@pytest.fixture(scope="module", params=QUESTIONS)
def pool(request: pytest.FixtureRequest) -> Iterator[FamilyTasks]:
    """The tasks of a world."""
    world = load_world(find_world(request.param))
    with world.template() as template:
        yield FamilyTasks(world, template)


@pytest.mark.slow
def test_an_ordinary_question_is_understood(pool: FamilyTasks) -> None:
    silent: list[str] = []
    for family, asked in QUESTIONS[pool.world.name].items():
        some = [pool.task(family, at, 3) for at in range(min(pool.capacity(family), 40))]
        for task in {task.case: task for task in some}.values():
            assert task.user is not None
            for question in asked:
                text = question.format(**task.slots)
                turn = asyncio.run(ScriptedUser().start(task.user, 1).reply(text))
                if not turn.told:
                    silent.append(f"{family}/{task.case}: {text} -> {turn.text!r}")
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("pool", ["shop"], indirect=True)
def test_who_wants_no_other_colour_does_not_agree_to_one(pool: FamilyTasks) -> None:
    """A proposal made without asking is answered as the question would be."""
    answers: dict[str | None, bool] = {}
    for at in range(4):
        task = pool.task("size_sold_out_in_that_colour", at, 0)
        with Episode(task, pool.world, pool.template) as episode:
            slots = task.slots
            said = (
                f"We have {slots['wanted']} in {slots['new_colour']}. Shall I exchange your"
                f" {slots['product']} for that?"
            )
            turn = asyncio.run(episode.say(said))
            assert turn.consents is not turn.declines
            answers[task.case] = turn.consents
    assert answers == {"other": True, "none_else": False}


@pytest.mark.parametrize("pool", ["shop"], indirect=True)
def test_a_refusal_that_tells_all_the_same_is_none(pool: FamilyTasks) -> None:
    """Whose order it is not hears nothing of it, also where the right answer is handed in."""
    some = [pool.task("someone_elses_order", at, 0) for at in range(8)]
    asked = next(each for each in some if each.case == "stranger")
    stranger = asyncio.run(prove(asked, pool.world, pool.template))
    for told, reward in (
        (f"Not yours, but it is due on {stranger.slots['secret']}.", 0.0),
        (f"{stranger.slots['number']} is not yours.", 1.0),
    ):
        with Episode(stranger, pool.world, pool.template, Limits()) as episode:
            asyncio.run(episode.call("submit", {"decision": "refused"}))
            asyncio.run(episode.say(told))
            assert episode.score().reward == reward
