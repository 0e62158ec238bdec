"""Varied words: values stay letter by letter, the work stays the same, and no text is frequent."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from envs.sandboxes.base import Template
from envs.world.loader import World, load_world
from synth.core.language.wording import tokens
from synth.core.tasks.families import FamilyTasks
from synth.core.types.steps import CallStep
from synth.core.users.scripted.user import ScriptedUser
from synth.core.validation.prove import prove
from synth.ext.variety.config import SelectionConfig
from synth.ext.variety.selection import TaskSelection
from synth.ext.variety.wording.grammar import Grammar, Greetings, Voice, grammar
from synth.ext.variety.wording.reword import VariedWording, _misspelt, reworded
from synth.plan import Plan
from synth.task import Task
from synth.user import Consent, FollowUp, Topic, UserRole

EXAMPLES = Path(__file__).parents[4] / "examples"
WORLDS = ("ehr_db", "library", "shop", "shop_sql")
NEGATIONS = {"not", "no", "never", "none", "nothing", "without", "nor", "neither"}
AMOUNTS = {"one", "two", "three", "four", "five", "six", "ten", "once", "twice", "half", "double"}


@pytest.fixture(scope="module", params=WORLDS)
def pool(request: pytest.FixtureRequest) -> Iterator[FamilyTasks]:
    world = load_world(EXAMPLES / request.param)
    with world.template("sqlite", 0) as template:
        yield FamilyTasks(world, template)


def tasks(pool: FamilyTasks, count: int = 120) -> list[Task]:
    count = min(count, sum(pool.capacity(family.id) for family in pool.families))
    plan = Plan.make([pool], count, 1, 3)
    return [plan.task(index) for index in range(count)]


def task(prompt: str, number: int = 0, **fields: object) -> Task:
    return replace(Task(f"t-{number}", "f", "w", prompt, ()), **fields)  # type: ignore[arg-type]


def spoken(role: UserRole) -> list[str]:
    return [role.opening, *(wish.says for wish in role.then)]


def values(text: str) -> Counter[tuple[str, str]]:
    """Numbers, dates and addresses, and the words that deny something."""
    found = tokens(text)
    denied = [token for token in found if token.text in NEGATIONS or token.text.endswith("n't")]
    kept = [token for token in found if token.kind != "word"] + denied
    return Counter((token.kind, token.text) for token in kept)


def test_numbers_dates_addresses_and_negations_stay_as_often_as_they_were(pool: FamilyTasks):
    for plain in tasks(pool):
        varied = reworded(plain)
        for before, after in zip(spoken(plain.role), spoken(varied.role), strict=True):
            assert values(after) == values(before), (before, after)


def test_slots_stay_letter_by_letter(pool: FamilyTasks):
    for plain in tasks(pool):
        after = reworded(plain).prompt
        for value in plain.slots.values():
            if isinstance(value, str) and value:
                whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
                assert len(whole.findall(after)) == len(whole.findall(plain.prompt)), (value, after)


def test_only_the_users_words_change(pool: FamilyTasks):
    for plain in tasks(pool):
        varied = reworded(plain)
        same = replace(varied, prompt=plain.prompt, user=plain.user, extras=plain.extras)
        assert same == plain
        if plain.user is not None and varied.user is not None:
            assert varied.user.knows == plain.user.knows
            pairs = zip(plain.user.every_consent, varied.user.every_consent, strict=True)
            assert all(replace(new, says=old.says) == old for old, new in pairs)


def test_no_text_is_a_large_share_of_the_tasks(pool: FamilyTasks):
    def texts(found: list[Task]) -> Counter[str]:
        return Counter(_without_slots(one) for one in found)

    plain = tasks(pool)
    before, after = texts(plain), texts([reworded(one) for one in plain])
    assert len(after) >= 0.75 * len(plain)
    assert len(after) > len(before)


def _without_slots(one: Task) -> str:
    slots = sorted({str(value) for value in one.slots.values()}, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, filter(None, slots))), "_", one.prompt)


def test_the_same_task_has_the_same_words_in_every_process():
    """The text is written here, so that a seed which depends on the process would fail."""
    first = reworded(task("Please lend Emma to Ben.", 1))
    assert first == reworded(task("Please lend Emma to Ben.", 1))
    assert len({reworded(task("Please lend Emma to Ben.", n)).prompt for n in range(60)}) > 30


@pytest.mark.parametrize(
    "text",
    [
        "Please do not cancel it.",
        "Please don't send it.",
        "Please never do that.",
        "Please the latest one.",
        "Could you not send it?",
        "Please have it sent.",
    ],
)
def test_a_request_that_may_be_no_infinitive_keeps_its_form(text: str):
    forms = ("can you", "could you", "would you", "like you to", "need you to", "please please")
    for number in range(100):
        after = reworded(task(text, number)).prompt.lower()
        assert not [form for form in forms if form in after and form not in text.lower()], after


def test_a_request_takes_other_forms():
    found = {reworded(task("Please lend Emma to Ben.", number)).prompt for number in range(200)}
    for form in ("Could you lend Emma to Ben?", "Can you lend", "I'd like you to lend"):
        assert any(form in text for text in found), form


def test_clauses_behind_a_request_do_not_become_a_question():
    text = "Please cancel order LP-1, I ordered it by mistake."
    found = [reworded(task(text, number)).prompt for number in range(200)]
    assert not [prompt for prompt in found if "mistake?" in prompt or "mistake, please" in prompt]


def test_quoted_text_and_words_of_gold_are_never_misspelt():
    text = 'Send them "please and thank you, the question" with the title Hello and Thanks.'
    gold = (CallStep("send", {"title": "Hello and Thanks"}),)
    for number in range(200):
        after = reworded(task(text, number, gold=gold)).prompt
        assert '"please and thank you, the question"' in after
        assert "Hello and Thanks" in after


def test_a_hint_and_a_list_stay_as_they_are():
    hint = "How many are there?\n\nHint: the question is about the stock"
    assert all(
        reworded(task(hint, number)).prompt.endswith("\n\nHint: the question is about the stock")
        for number in range(50)
    )
    listed = "Please order:\n- the first\n- and the second"
    assert all(reworded(task(listed, number)).prompt == listed for number in range(50))


@pytest.mark.parametrize("text", ["", " ", "?", "\n", "x", "Hi", "\ue000 please", "please " * 3000])
def test_odd_texts_do_no_harm(text: str):
    for number in range(20):
        after = reworded(task(text, number)).prompt
        assert after == text or after.strip()


def test_who_greets_or_thanks_does_so_once():
    for number in range(200):
        after = reworded(task("Good morning, could you lend Emma to Ben? Thanks, Ada", number))
        assert re.match(r"g\w+ m", after.prompt.lower())
        assert after.prompt.endswith(", Ada")


def test_the_scripted_user_plays_its_part_in_other_words():
    """It tells what it knows, and its yes is a yes."""

    async def turns(role: UserRole) -> tuple[object, ...]:
        user = ScriptedUser().start(role, 1)
        told = await user.reply("What is your email?")
        agreed = await user.reply("Shall I lend Emma to Ben?")
        return told.told, told.text, agreed.consents

    role = UserRole(
        "Please lend a book.",
        knows={"email": Topic("It is a@b.org.")},
        consent=Consent(["Emma", "Ben"], act=["lend"]),
    )
    plain = asyncio.run(turns(role))
    assert plain == (("email",), "It is a@b.org.", True)
    for number in range(40):
        varied = reworded(task("Please lend a book.", number, user=role))
        assert varied.user is not None
        assert asyncio.run(turns(varied.user)) == plain


def test_follow_upes_are_neither_greeted_nor_closed():
    role = UserRole("Please lend Emma.", then=[FollowUp("done", "And Walden for Ada.")])
    wishes = {
        reworded(task("Please lend Emma.", number, user=role)).role.then[0].says.lower()
        for number in range(200)
    }
    assert all(re.fullmatch(r"\w{3,4} walden for ada\.?", wish) for wish in wishes), wishes


def test_nothing_is_added_that_holds_a_value_of_the_task():
    for number in range(300):
        after = reworded(task("Please lend it to Ben.", number, slots={"place": "home"})).prompt
        assert "home" not in after.lower()


def test_a_composed_task_says_the_same_in_its_parts_and_its_user(pool: FamilyTasks):
    if pool.world.name != "shop":
        pytest.skip("one world is enough")
    composed = TaskSelection(SelectionConfig(compose={2: 1.0}))
    plan = Plan.make([pool], 12, 1, 0, [composed, VariedWording()])
    for index in range(plan.tasks):
        whole = plan.task(index)
        assert whole.prompt == whole.role.opening == whole.parts[0].prompt
        fresh = [wish.says for wish in whole.role.then if wish.fresh]
        assert fresh == [part.prompt for part in whole.parts[1:]]


def test_a_plan_of_varied_words_is_another_plan(pool: FamilyTasks):
    plain, varied = (Plan.make([pool], 10, 1, 0, own) for own in ((), (VariedWording(),)))
    assert plain.digest() != varied.digest()
    assert [plain.task(n).id for n in range(10)] == [varied.task(n).id for n in range(10)]
    assert varied.task(3) == reworded(plain.task(3))
    for task in map(plain.task, range(plain.tasks)):
        assert VariedWording().opening(task, first=False) == reworded(task).prompt


def test_varied_tasks_prove_themselves():
    world: World = load_world(EXAMPLES / "library")
    with world.template("sqlite", 0) as template:
        asyncio.run(_proved(world, template))


async def _proved(world: World, template: Template) -> None:
    plan = Plan.make([FamilyTasks(world, template)], 9, 1, 0, transforms=[VariedWording()])
    for index in range(plan.tasks):
        assert (await prove(plan.task(index), world, template)).end is not None


def phrases(words: Grammar) -> list[str]:
    out = [*words.agreements]
    for voice in words.voices:
        out += [*voice.contexts, *voice.questions, *voice.closings, *_greetings(voice.greetings)]
        out += [form.replace("{act}", "lend") for form in voice.requests]
    return out


def _greetings(greetings: Greetings) -> list[str]:
    return [*greetings.always, *greetings.morning, *greetings.afternoon]


def test_the_grammar_states_no_amount_and_denies_nothing():
    for phrase in phrases(grammar()):
        words = set(re.findall(r"[\w']+", phrase.lower()))
        assert not words & (NEGATIONS | AMOUNTS), phrase
        assert not [word for word in words if word.endswith("n't") or any(map(str.isdigit, word))]


def test_a_slip_of_typing_leaves_the_word_readable():
    text = "please never cancel these seven orders without asking"
    for number in range(300):
        pairs = list(zip(text.split(), _misspelt(text, 0.5, Random(number)).split(), strict=True))
        assert sum(old != new for old, new in pairs) <= 1
        for old, new in pairs:
            assert (old[0], old[-1]) == (new[0], new[-1])
            assert abs(len(old) - len(new)) <= 1 >= len(set(new) - set(old))


@pytest.mark.parametrize("voice", grammar().voices, ids=lambda voice: voice.name)
def test_frames_and_requests_of_a_voice_hold_what_is_asked(voice: Voice):
    assert all(frame.count("{request}") == 1 for frame in voice.frames)
    assert all(form.count("{act}") == 1 for form in voice.requests)
    known = {"{request}", "{greeting}", "{context}", "{closing}"}
    assert set(re.findall(r"\{\w+\}", " ".join(voice.frames))) <= known


def test_greetings_fit_the_hour():
    found = {hour: set[str]() for hour in ("09", "15")}
    for hour, texts in found.items():
        for number in range(200):
            now = f"2026-01-01T{hour}:00:00"
            texts.add(reworded(task("Lend Emma to Ben.", number, now=now)).prompt.lower())
    assert any("good morning" in text for text in found["09"])
    assert not any("good morning" in text for text in found["15"])
    assert not any("good afternoon" in text for text in found["09"])
