"""Tasks as TRL's environment: what its trainer does with one, done by hand."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from synth.core.models.scripted.expert import ExpertConversation
from synth.errors import OperatorError
from synth.ext.rl.trl import TrlEnvironment, TrlTasks
from synth.task import Message
from tests.unit.small_world import make


@pytest.fixture(scope="module")
def tasks() -> Iterator[TrlTasks]:
    with TrlTasks("library", count=8) as tasks:
        yield tasks


def play(tasks: TrlTasks, environment: TrlEnvironment, number: int) -> list[Message]:
    """Play gold through the methods; returns the completion."""
    environment.reset(**tasks.rows()[number])
    prompt = [dict(message) for message in tasks.rows()[number]["prompt"]]
    expert, messages = ExpertConversation(tasks.tasks[number]), list(prompt)
    while True:
        turn = expert.next_turn(messages)
        messages.append({"role": "assistant", "content": turn.content})
        if not turn.tool_calls:
            return messages[len(prompt) :]
        messages[-1]["tool_calls"] = [call.name for call in turn.tool_calls]
        for call in turn.tool_calls:
            arguments = json.loads(call.arguments)
            content = getattr(environment, call.name)(**arguments)
            messages.append({"role": "tool", "name": call.name, "content": content})


def test_gold_earns_the_reward_and_silence_does_not(tasks: TrlTasks):
    environments = [tasks.environment() for _ in range(8)]
    done = [play(tasks, environment, n) for n, environment in enumerate(environments)]
    assert tasks.reward(completions=done, environments=environments, prompts=[]) == [1.0] * 8
    assert tasks.reward(completions=done, environments=environments) == [1.0] * 8, "asked again"
    environments[0].reset(task=0)
    silent = [{"role": "assistant", "content": "Done."}]
    assert tasks.reward([silent], environments[:1]) == [0.0]


def test_the_samples_of_a_group_share_the_task_and_no_sandbox(tasks: TrlTasks):
    one, other = tasks.environment(), tasks.environment()
    one.reset(task=2)
    done = play(tasks, other, 2)
    said = [{"role": "assistant", "content": "Done."}]
    assert tasks.reward([said, done], [one, other]) == [0.0, 1.0]


def test_methods_are_the_tools_with_their_schemas(tasks: TrlTasks):
    environment: Any = tasks.environment()
    names = [
        name
        for name, _ in inspect.getmembers(type(environment), predicate=inspect.isfunction)
        if not name.startswith("_")
    ]
    offered = {"reset"}
    for number in range(8):
        with tasks.open(number) as episode:
            offered |= {tool["function"]["name"] for tool in episode.tools}
    assert sorted(names) == sorted(offered)
    lend = environment.lend
    assert str(inspect.signature(lend)) == "(member_id: int, book_id: int) -> str"
    assert "book_id:" in lend.__doc__


def test_a_method_takes_the_arguments_of_every_family(tasks: TrlTasks):
    families = [task.family for task in tasks.tasks]
    assert set(families) == {"lend_book", "renew_all", "lend_unread"}, "the last hands in nothing"
    environment: Any = tasks.environment()
    taken = inspect.signature(environment.submit).parameters
    assert {name: (it.annotation, it.default) for name, it in taken.items()} == {
        "outcome": (Literal["lent", "unavailable"] | None, None),
        "renewed": (list | None, None),
    }
    lines = [line.strip() for line in environment.submit.__doc__.splitlines()]
    assert lines[0].endswith("(Only in tasks of lend_book, renew_all.)")
    assert lines[3:] == [
        "outcome: What came of it. (Only in tasks of lend_book.)",
        "renewed: The loans that you renewed. (Only in tasks of renew_all.)",
    ]
    assert "Only in tasks" not in environment.lend.__doc__
    environment.reset(task=families.index("renew_all"))
    assert "invalid_arguments" in environment.submit(outcome="lent")
    assert "received" in environment.submit(renewed=[])
    environment.reset(task=families.index("lend_unread"))
    assert "unknown_tool" in environment.submit(outcome="lent")
    environment.rollout.finish("")


LAST = '  - say: "It costs {price}."\n'
NAMED = """\
- id: {family}
  ground: {{key: item_id, sql: "SELECT item_id, name FROM items"}}
  user: {{says: ["Is there {{name}}?"]}}
  answer:
    price: {{type: string, description: No price.}}
    found: {{enum: [{choice}], description: The find.}}
  gold:
  - find_items: {{name: "{{name}}"}}
  - submit: {{price: none, found: {choice}}}
  - say: "Yes."
"""


def test_what_differs_between_families_has_all_choices_and_types(tmp_path: Path):
    named = NAMED.format(family="named", choice="sure")
    other = NAMED.format(family="other", choice="maybe")
    make(tmp_path, tasks=(LAST, LAST + named + other))
    with TrlTasks(tmp_path, ["price", "named", "other"], count=6) as tasks:
        environment: Any = tasks.environment()
    signature = inspect.signature(environment.submit)
    assert signature.parameters["price"].annotation == float | str
    assert signature.parameters["found"].annotation == Literal["sure", "maybe"] | None


def test_wrong_arguments_are_answered_like_any_others(tasks: TrlTasks):
    environment: Any = tasks.environment()
    with pytest.raises(OperatorError, match="reset"):
        environment.find_book(title="Walden")
    environment.reset(task=0)
    assert "invalid_arguments" in environment.find_book(titel="Walden")
    with pytest.raises(OperatorError, match="task is a number from 0 to 7"):
        environment.reset(task=8)
    environment.rollout.finish("")


def test_families_with_a_user_are_refused_by_name():
    with pytest.raises(OperatorError, match="prescribe_ambiguous_name: TRL has no turn"):
        TrlTasks("ehr_db", ["prescribe_ambiguous_name"], count=1)
