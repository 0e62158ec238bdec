"""The scripted expert plays gold from the messages alone: talk with a user, fields of saved
objects, catching up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from synth.core.models.scripted.expert import ExpertConversation
from synth.core.types.steps import AskStep, CallStep, ConfirmStep, LoopStep, ReplyStep, SubmitStep
from synth.errors import TaskError
from synth.model import Completion
from synth.task import Message, Task

FOUND = {"items": [{"id": 3, "price": {"amount": 9.5}}, {"id": 4, "price": {"amount": 20}}]}


def call(tool: str, save: dict[str, str] | None = None, **arguments: Any) -> Any:
    return CallStep(tool, arguments, save or {})


ALL = call("find", {"items": "$.items"})
GOLD = [
    ReplyStep("One moment."),
    call("find", {"id": "$.items[0].id", "first": "$.items[0]"}, name="Ada"),
    ReplyStep({"$text": ["It costs ", {"$": "first", "path": ["price", "amount"]}, "."]}),
    ReplyStep("There is more than one."),
    AskStep(["colour"], "Which colour is it?"),
    ConfirmStep({"$text": ["The red one, number ", {"$": "id"}, "?"]}),
    call("order", item={"$": "first", "path": ["id"]}, count=1),
    SubmitStep({"ordered": {"$": "id"}}),
    ReplyStep("Ordered."),
]


def task(gold: Sequence[Any]) -> Task:
    return Task(id="t", family="f", env="e", prompt="Order it.", gold=gold)


def replies(*answers: Any) -> list[tuple[str, str]]:
    """Text is the user's, everything else a tool's result."""
    return [
        ("user", each) if isinstance(each, str) else ("tool", json.dumps(each)) for each in answers
    ]


def play(gold: Sequence[Any], *answers: Any) -> tuple[list[Completion], list[Message]]:
    """The completions up to the end, each answered in turn, and the messages."""
    conversation = ExpertConversation(task(gold))
    messages: list[Message] = [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Order it."},
    ]
    said: list[Completion] = []
    for role, content in [*replies(*answers), ("", "")]:
        said.append(conversation.next_turn(messages))
        messages += [
            {"role": "assistant", "content": said[-1].content},
            {"role": role, "content": content},
        ]
    return said, messages[:-2]


ANSWERS = (FOUND, "Red.", "Yes, please.", {"order": 1}, {"status": "received"})


def test_it_asks_and_confirms_and_goes_on_with_what_the_user_says():
    said, _ = play(GOLD, *ANSWERS)
    assert [each.content for each in said] == [
        "One moment.",
        "It costs 9.5.\n\nThere is more than one.\n\nWhich colour is it?",
        "The red one, number 3?",
        "",
        "",
        "Ordered.",
    ]
    assert [
        [(each.name, json.loads(each.arguments)) for each in turn.tool_calls] for turn in said
    ] == [
        [("find", {"name": "Ada"})],
        [],
        [],
        [("order", {"item": 3, "count": 1})],
        [("submit", {"ordered": 3})],
        [],
    ]
    assert [each.finish_reason for each in said] == [
        "tool_calls",
        "stop",
        "stop",
        "tool_calls",
        "tool_calls",
        "stop",
    ]


def test_a_conversation_of_its_own_catches_up_from_the_messages_at_any_point():
    said, messages = play(GOLD, *ANSWERS)
    later = [
        ExpertConversation(task(GOLD)).next_turn(messages[: 2 + 2 * at]) for at in range(len(said))
    ]
    assert later == said


def test_a_user_who_speaks_after_the_end_gets_the_closing_word():
    said, _ = play([ReplyStep("All is well.")], "Anything else?", "And now?")
    assert [each.content for each in said] == ["All is well.", "Done.", "Done."]


def test_a_loop_reads_fields_of_its_items():
    loop = LoopStep("one", {"$": "items"}, [call("drop", id={"$": "one", "path": ["id"]})])
    said, _ = play([ALL, loop], FOUND, {}, {})
    assert [each.tool_calls[0].arguments for each in said[1:3]] == ['{"id":3}', '{"id":4}']
    assert said[3].content == "Done: drop, 4."


@pytest.mark.parametrize(
    ("gold", "answers", "message"),
    [
        (
            [call("find", {"id": "$.items[0].id"})],
            [{"items": []}],
            "gold cannot save 'id' from find",
        ),
        ([call("find", {"id": "$.x"})], [{}], "gold cannot save 'id' from find"),
        ([call("drop", id={"$": "id"})], [{}], "gold uses 'id', which no step before has saved"),
        ([ALL, AskStep([], {"$text": ["No ", {"$": "id"}, "?"]})], [FOUND], "gold uses 'id'"),
        (
            [ALL, call("drop", id={"$": "items", "path": ["id"]})],
            [FOUND],
            "items has no field 'id'",
        ),
        (
            [call("find", {"n": "$.n"}), LoopStep("one", {"$": "n"}, [])],
            [{"n": 3}],
            "for_each one needs a list, not 3",
        ),
    ],
)
def test_gold_that_cannot_go_on_says_why(gold: list[Any], answers: list[Any], message: str):
    with pytest.raises(TaskError) as caught:
        play(gold, *answers)
    assert message in str(caught.value)
