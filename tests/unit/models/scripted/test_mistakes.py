"""The expert that errs, on a real database: each kind of mistake, what the log says of it, and what
it costs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from envs.types import Limits
from envs.world.loader import load_world
from envs.world.template_cache import Templates
from synth.config import from_dict
from synth.core.agent.rollout_result import AgentLimits
from synth.core.config.fingerprints import fingerprint, fingerprinted
from synth.core.foundation.perturbations import MISTAKE_KINDS
from synth.core.models.scripted.expert import ExpertConversation, ScriptedModel
from synth.core.models.scripted.fallible import FallibleConversation, FallibleModel
from synth.core.models.scripted.mistakes import (
    Gold,
    Slip,
    draw_slip,
    implied_failure,
    surely_differ,
)
from synth.core.models.scripted.styles import ScriptedOptions, make
from synth.core.tasks.families import FamilyTasks
from synth.core.types.checks import AlternativeEnd, EndRules, Gate
from synth.core.types.steps import ConfirmStep
from synth.core.validation.prove import prove
from synth.errors import ConfigProblems
from synth.model import Model, Sampling
from synth.rollout import RolloutContext, play
from synth.task import Job, Task
from tests.unit import small_world

Json = Any

TASKS = """\
now: "2026-03-02T09:00:00"
compare: {items.note: free_text}
families:
- id: plan
  ground: {key: item_id, sql: "SELECT item_id, name FROM items WHERE item_id > 1"}
  user:
    says: ["Plan {name} for me."]
    knows: {day: "On 2026-04-07."}
    agrees_if: {mentions: ["{name}", "2026-04-07"], says: ["Yes, do."]}
  answer: {planned: {type: string, description: Its name.}, colours: {type: array, items: string, description: All.}}
  gold:
  - find_items: {name: "{name}"}
    save: {found: "$.items[0].name", colours: "$.items[*].colour"}
  - ask: day
  - confirm: "{name} on 2026-04-07?"
  - plan_item: {name: $found, due: "2026-04-07", colour: green, note: as asked}
    save: {day: "$.due"}
  - submit: {planned: $found, colours: $colours}
  - say: "{name} is planned for {day}."
  gates: [state, answer, {no_write_before: [ask, confirm]}]
- id: plan_two
  ground: {key: item_id, sql: "SELECT item_id, name FROM items WHERE item_id > 1"}
  user: {says: ["Plan {name} and the lamp."]}
  gold:
  - find_items: {name: "{name}"}
    save: {found: "$.items[0].name", id: "$.items[0].item_id"}
  - plan_item: {name: $found, due: "2026-04-0{id}", colour: green}
  - plan_item: {name: 'Lamp "XL"', due: "2026-04-08", colour: green}
    save: {day: "$.due"}
  - find_items: {name: "{name}"}
    save: {again: "$.items[0].due"}
  - say: "Planned for {again} and {day}."
"""


class Bench:
    """The small world with its tasks, and rollouts of them."""

    def __init__(self, folder: Path) -> None:
        self.world = load_world(
            small_world.make(folder, tasks=(small_world.FILES["tasks.yaml"], TASKS))
        )
        self.templates = Templates(self.world)
        with self.templates.use() as template:
            source = FamilyTasks(self.world, template, None)
            self.tasks = {
                each.id: asyncio.run(prove(source.task(each.id, 0, 0), self.world, template))
                for each in source.families
            }

    def play(
        self, task: Task, model: Model, seed: int = 0, style: Any = "structured"
    ) -> dict[str, Json]:
        stage = RolloutContext(
            self.world, self.templates, model, Limits(), AgentLimits(error_style=style)
        )
        return asyncio.run(play(Job(0, "j", task, 0, seed), stage))

    def err(self, family: str, slip: Slip, style: Any = "structured") -> dict[str, Json]:
        row = self.play(self.tasks[family], Fixed(slip), style=style)
        assert implied_failure(row) == (row["reward"] < 1.0)
        return row


class Fixed(ScriptedModel):
    """The expert that makes this mistake."""

    def __init__(self, slip: Slip) -> None:
        super().__init__()
        self.slip = slip

    def start(self, task: Task, tools: Any, seed: int) -> ExpertConversation:
        return FallibleConversation(task, self.slip)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("world") / "small")
    with made.templates:
        yield made


def log(row: dict[str, Json]) -> list[dict[str, Json]]:
    return [each["mistake"] for each in row["provider_fields"] if "mistake" in each]


def calls(row: dict[str, Json]) -> list[tuple[str, Json]]:
    functions = [
        each["function"] for message in row["messages"] for each in message.get("tool_calls", [])
    ]
    return [(each["name"], each["arguments"]) for each in functions]


def said(row: dict[str, Json]) -> list[str]:
    return [
        each["content"]
        for each in row["messages"]
        if each["role"] == "assistant" and "tool_calls" not in each
    ]


FIND, PLAN = (
    ("find_items", {"name": "Chair"}),
    {"name": "Chair", "due": "2026-04-02", "colour": "green"},
)


def slip(kind: str, at: int, tool: str = "", field: str = "", **arguments: Any) -> Slip:
    return Slip(kind, at, tool, arguments or None, field)


class TestWrongArgument:
    @pytest.mark.parametrize("style", ["plain", "structured", "advice"])
    def test_an_error_is_noticed_and_the_right_call_follows(self, bench: Bench, style: str):
        row = bench.err(
            "plan_two",
            slip("wrong_argument", 1, "plan_item", "name", **PLAN | {"name": "Chiar"}),
            style,
        )
        assert row["reward"] == 1.0
        assert calls(row)[1:3] == [("plan_item", PLAN | {"name": "Chiar"}), ("plan_item", PLAN)]
        assert row["error_categories"] == ["not_found"]
        made, mended = log(row)
        assert made == {
            "kind": "wrong_argument",
            "step": 1,
            "turn": 1,
            "recovered": False,
            "missing": True,
            "extra": ["call_1"],
            "detail": "plan_item name='Chiar' instead of 'Chair'",
        }
        assert (mended["turn"], mended["recovered"], mended["missing"]) == (2, True, False)

    def test_a_search_that_finds_nothing_is_noticed(self, bench: Bench):
        row = bench.err("plan", slip("wrong_argument", 0, "find_items", "name", name="Chiar"))
        assert row["reward"] == 1.0
        assert calls(row)[:2] == [("find_items", {"name": "Chiar"}), FIND]
        assert log(row)[-1]["recovered"]

    def test_a_wrong_write_that_goes_through_fails(self, bench: Bench):
        row = bench.err(
            "plan_two",
            slip("wrong_argument", 1, "plan_item", "due", **PLAN | {"due": "2026-04-09"}),
        )
        assert row["reward"] == 0.0
        assert [each["recovered"] for each in log(row)] == [False]

    def test_a_wrong_look_up_leads_on_to_the_wrong_row(self, bench: Bench):
        row = bench.err("plan_two", slip("wrong_argument", 0, "find_items", "name", name="Desk"))
        assert row["reward"] == 0.0
        assert ("plan_item", PLAN | {"name": "Desk", "due": "2026-04-03"}) in calls(row)
        assert log(row)[-1]["missing"]

    def test_it_gives_up_where_a_wrong_write_might_do_by_chance(self, bench: Bench):
        row = bench.err("plan", slip("wrong_argument", 0, "find_items", "name", name="Desk"))
        assert row["reward"] == 0.0
        assert [name for name, _ in calls(row)] == ["find_items"]
        assert said(row)[-1].startswith("I am sorry")

    def test_a_user_who_does_not_agree_to_what_the_wrong_look_up_says_stops_it(self, bench: Bench):
        task = bench.tasks["plan"]
        gold = [
            ConfirmStep({"$text": [{"$": "found"}, " on 2026-04-07?"]})
            if isinstance(step, ConfirmStep)
            else step
            for step in task.gold
        ]
        wrong = slip("wrong_argument", 0, "find_items", "name", name="Desk")
        row = bench.play(replace(task, gold=gold), Fixed(wrong))
        assert row["reward"] == 0.0
        assert implied_failure(row)
        assert not row["call_changes"]
        assert said(row)[-1].startswith("I am sorry")

    def test_a_wrong_look_up_that_comes_to_the_same_costs_nothing(self, bench: Bench):
        row = bench.err("plan_two", slip("wrong_argument", 0, "find_items", "name", name="hair"))
        assert row["reward"] == 1.0
        assert log(row)[-1]["recovered"]
        assert log(row)[-1]["detail"] == "nothing came of it"

    def test_what_may_be_right_by_another_end_is_always_set_right(self, bench: Bench):
        task = replace(
            bench.tasks["plan_two"], gates=[Gate("state"), Gate("required_calls", ["find_items"])]
        )
        row = bench.play(task, Fixed(slip("wrong_argument", 0, "find_items", "name", name="Desk")))
        assert row["reward"] == 1.0
        assert log(row)[-1]["recovered"]


class TestForgottenStep:
    def test_a_step_that_stays_forgotten_fails(self, bench: Bench):
        row = bench.err("plan_two", slip("forgotten_step", 1, "plan_item"))
        assert row["reward"] == 0.0
        assert [name for name, _ in calls(row)] == ["find_items", "plan_item", "find_items"]
        assert log(row)[0]["detail"] == "plan_item left out"

    def test_it_is_remembered_after_the_next_call_and_what_stood_on_it_is_done_again(
        self, bench: Bench
    ):
        row = bench.err("plan_two", replace(slip("forgotten_step", 2, "plan_item"), mends=True))
        assert row["reward"] == 1.0
        assert [name for name, _ in calls(row)] == [
            "find_items",
            "plan_item",
            "find_items",
            "plan_item",
            "find_items",
        ]
        assert [each["recovered"] for each in log(row)] == [False, True]

    def test_it_is_remembered_after_the_answer(self, bench: Bench):
        row = bench.err("plan", replace(slip("forgotten_step", 1, "plan_item"), mends=True))
        assert row["reward"] == 1.0
        assert [name for name, _ in calls(row)] == ["find_items", "submit", "plan_item"]
        assert said(row)[-1] == "Chair is planned for 2026-04-07."

    def test_it_is_too_late_once_the_next_write_went_through(self, bench: Bench):
        row = bench.err("plan_two", replace(slip("forgotten_step", 1, "plan_item"), mends=True))
        assert row["reward"] == 0.0
        assert not log(row)[-1]["recovered"]

    def test_what_it_would_have_brought_is_missed_in_the_end(self, bench: Bench):
        row = bench.err("plan", slip("forgotten_step", 1, "plan_item"))
        assert row["reward"] == 0.0
        assert said(row)[-1].startswith("I am sorry")


class TestStrayWrite:
    def test_one_write_more_fails(self, bench: Bench):
        row = bench.err(
            "plan_two", slip("stray_write", 2, "plan_item", "name", **PLAN | {"name": "Desk"})
        )
        assert row["reward"] == 0.0
        assert log(row)[-1]["extra"] == ["call_3"]
        assert "Desk" not in json.dumps(row["messages"][:8])

    def test_a_repetition_that_changes_no_row_costs_nothing(self, bench: Bench):
        row = bench.err("plan_two", slip("stray_write", 2, "plan_item", **PLAN))
        assert row["reward"] == 1.0
        assert not log(row)[-1]["recovered"]
        assert [each["id"] for each in row["call_changes"]] == ["call_1", "call_2"]

    def test_a_stray_write_that_the_tool_refuses_is_told_so(self, bench: Bench):
        row = bench.err(
            "plan_two", slip("stray_write", 2, "plan_item", "name", **PLAN | {"name": "Chiar"})
        )
        assert row["reward"] == 1.0
        assert log(row)[-1]["detail"] == "the tool refused it"


class TestInventedFact:
    def test_another_value_in_the_answer_fails(self, bench: Bench):
        row = bench.err(
            "plan", slip("invented_fact", 2, "submit", "planned", planned="Chiar", colours=["red"])
        )
        assert row["reward"] == 0.0
        assert row["submitted"] == {"planned": "Chiar", "colours": ["red"]}

    def test_a_wrong_fact_is_corrected_by_the_user_and_confirmed_rightly(self, bench: Bench):
        row = bench.err("plan", slip("invented_fact", 0))
        assert row["reward"] == 1.0  # the user objected, and nothing was done by the wrong fact
        assert said(row)[1:3] == ["Chair on 2026-04-08?", "My mistake.\n\nChair on 2026-04-07?"]
        assert [each["recovered"] for each in log(row)] == [False, True]
        assert [each["turn"] for each in log(row)] == [2, 3]


class TestPrematureAnswer:
    @pytest.mark.parametrize("at", [0, 1])
    def test_closing_before_the_work_fails(self, bench: Bench, at: int):
        row = bench.err("plan", slip("premature_answer", at, "plan_item"))
        assert row["reward"] == 0.0
        assert not row["call_changes"]
        assert (row["submitted"] is not None) == (at == 1)
        assert not log(row)[-1]["recovered"]


class TestDrawing:
    def test_every_kind_is_drawn_for_a_task_that_allows_it_and_its_price_is_what_the_log_says(
        self, bench: Bench
    ):
        drawn: dict[str, set[float]] = {}
        for task in bench.tasks.values():
            for seed in range(60):
                row = bench.play(task, FallibleModel(MISTAKE_KINDS, 1.0), seed)
                assert implied_failure(row) == (row["reward"] < 1.0)
                drawn.setdefault(log(row)[-1]["kind"], set()).add(row["reward"])
        assert {kind: min(rewards) for kind, rewards in drawn.items()} == dict.fromkeys(
            MISTAKE_KINDS, 0.0
        )

    def test_a_seed_gives_one_mistake_and_the_rate_is_a_share_of_seeds(self, bench: Bench):
        task = bench.tasks["plan"]
        drawn = [draw_slip(task, [], seed, MISTAKE_KINDS, 0.25) for seed in range(2000)]
        assert drawn == [
            draw_slip(task, [], seed, tuple(reversed(MISTAKE_KINDS)), 0.25) for seed in range(2000)
        ]
        assert 0.2 < sum(each is not None for each in drawn) / 2000 < 0.3

    def test_a_kind_that_the_task_does_not_allow_is_not_made(self, bench: Bench):
        kinds = ("invented_fact",)
        assert draw_slip(bench.tasks["plan_two"], [], 0, kinds, 1.0) is None
        assert draw_slip(replace(bench.tasks["plan"], end=None), [], 0, kinds, 1.0) is None

    def test_an_argument_that_only_words_a_note_is_left_alone(self, bench: Bench):
        fields = {
            (each.tool, each.field)
            for seed in range(300)
            if (each := draw_slip(bench.tasks["plan"], [], seed, ("wrong_argument",), 1.0))
            is not None
        }
        assert fields == {("find_items", "name"), ("plan_item", "due"), ("plan_item", "colour")}

    def test_no_schema_of_a_tool_catches_the_wrong_argument(self, bench: Bench):
        tools = [each.to_openai() for each in bench.world.tools]
        colours = {
            slipped.arguments["colour"]
            for seed in range(200)
            if (slipped := draw_slip(bench.tasks["plan"], tools, seed, ("wrong_argument",), 1.0))
            is not None
            and slipped.field == "colour"
            and slipped.arguments is not None
        }
        assert colours == {"red", "blue"}

    def test_where_many_ends_are_right_no_write_gets_another_argument(self, bench: Bench):
        task = replace(bench.tasks["plan"], rules=EndRules(alternatives=[AlternativeEnd()]))
        for kind in ("wrong_argument", "stray_write"):
            slips = [draw_slip(task, [], seed, (kind,), 1.0) for seed in range(100)]
            assert {
                each.field for each in slips if each is not None and each.tool == "plan_item"
            } <= {""}

    def test_a_conversation_of_its_own_catches_up_with_the_mistake(self, bench: Bench):
        task, wrong = bench.tasks["plan"], slip("invented_fact", 0)
        messages = bench.err("plan", wrong)["messages"]
        turns = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
        once = FallibleConversation(task, wrong)
        assert [FallibleConversation(task, wrong).next_turn(messages[:at]) for at in turns] == [
            once.next_turn(messages[:at]) for at in turns
        ]


class TestGold:
    def test_what_lands_in_an_exact_column_is_told_from_what_does_not(self, bench: Bench):
        gold = Gold(bench.tasks["plan"])
        assert gold.lands("due", "2026-04-07")
        assert gold.lands("colour", "green")
        assert not gold.lands("note", "as asked")
        assert not gold.lands("due", "2026-04-09")
        assert (gold.writes, gold.submits) == ([1], [2])

    @pytest.mark.parametrize(
        ("left", "right", "rule", "sure"),
        [
            (5, 5.0, "exact", False),
            (5, 6, "exact", True),
            (5, 5.4, {"abs": 0.25}, False),
            (5, 5.6, {"abs": 0.25}, True),
            ("Ada ", "ada", "exact", False),
            ("Ada", "Adah", "text", True),
            ([1, 2], [2, 1.0], "exact", False),
            ([1, 2], [1], "set", True),
            ("5", 5, "exact", False),
        ],
    )
    def test_values_that_differ_however_kindly_they_are_compared(
        self, left: Json, right: Json, rule: Json, sure: bool
    ):
        assert surely_differ(left, right, rule) is sure


class TestConfig:
    ENV: ClassVar[Json] = {"env": {"name": "shop"}}

    def test_kinds_make_another_model_and_another_fingerprint(self):
        plain = from_dict(self.ENV)
        erring = from_dict(self.ENV | {"model": {"mistakes": ["stray_write"], "mistake_rate": 0.5}})
        assert fingerprint(fingerprinted(plain)) != fingerprint(fingerprinted(erring))
        options = ScriptedOptions(mistakes=erring.model.mistakes or (), mistake_rate=0.5)
        assert isinstance(make(options, Sampling(), None), FallibleModel)
        assert not isinstance(make(ScriptedOptions(), Sampling(), None), FallibleModel)
        rate_alone = ScriptedOptions(mistake_rate=0.4)
        assert isinstance(make(rate_alone, Sampling(), None), FallibleModel)
        never = ScriptedOptions(mistakes=["stray_write"], mistake_rate=0.0)
        assert not isinstance(make(never, Sampling(), None), FallibleModel)

    def test_a_sweep_may_begin_with_no_mistakes(self):
        assert from_dict(self.ENV | {"model": {"mistake_rate": 0.0}}).model.mistake_rate == 0

    @pytest.mark.parametrize(
        ("model", "words"),
        [
            ({"mistakes": ["stray_writes"]}, "did you mean"),
            ({"mistakes": ["stray_write", "stray_write"]}, "'stray_write' is listed twice"),
            (
                {"kind": "openai", "name": "m", "mistakes": ["stray_write"]},
                "only the scripted expert makes mistakes",
            ),
            (
                {"mistakes": ["stray_write"], "mistake_rate": 1.5},
                "model.mistake_rate: must be at most 1",
            ),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, model: Json, words: str):
        with pytest.raises(ConfigProblems) as caught:
            from_dict(self.ENV | {"model": model})
        assert words in str(caught.value)
