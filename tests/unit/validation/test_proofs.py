"""The proofs of a world: what each of them catches, and where it says that the mistake stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from synth.core.validation.attacks.mutants import PER_KIND, mutants, spread
from synth.core.validation.attacks.steps import ToolStep
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.evidence import Evidence, Verifier
from synth.plugins import REWARDS
from synth.verdict import Verdict
from tests.unit import small_world

pytestmark = pytest.mark.slow


def check(folder: Path) -> dict[str, FamilyReport]:
    report = check_world(folder, Options(per_case=2), lambda _: None)
    return {each.family: each for each in report.families}


def test_the_small_world_proves_itself(tmp_path: Path):
    """The lamp's name holds quotes: in a result they are escaped, and the agent knows the name all
    the same.
    """
    reports = check(small_world.make(tmp_path))
    assert {name: (each.problems, each.surviving) for name, each in reports.items()} == {
        "plan": ([], []),
        "price": ([], []),
    }
    assert reports["plan"].killed["change argument"] > 0


@pytest.mark.parametrize(
    ("changes", "family", "line", "words"),
    [
        (
            {"tasks": ("  - plan_item: {name: $name_, due", '  - plan_item: {name: "Sofa", due')},
            "plan",
            10,
            "the gold call plan_item fails",
        ),
        (
            {"tasks": ("colour: green}", "colour: green}\n    fails: not_found")},
            "plan",
            10,
            "should fail with not_found, but succeeds",
        ),
        ({"tasks": ("  - say: Done.", ("  - find_items: {name: Sofa}"))}, "plan", 8, ("name='Sofa', which nobody told")),
        ({"tasks": (("SELECT price FROM"), ("SELECT price + 1 FROM"))}, "price", 16, ("the oracle price says")),
        ({"tasks": (("SELECT price FROM"), ("SELECT prize FROM"))}, "price", 16, ("oracle price: the query fails")),
        ({"tasks": ((" WHERE item_id = :item_id"), "")}, "price", 16, ("gives 3 rows where one is due")),
        ({"tasks": (":item_id", ":itemid")}, "price", 16, ("binds the unknown slot :itemid; did you mean 'item_id'?")),
        ({"tasks": ('"$.items[0].name"', '"$.itms[0].name"')}, "plan", 8, ("gold cannot save 'name_'")),
        (
            {"tasks": (('  - find_items: {name: "{name}"}\n    save: {name_'), "  - for_each: {x: '{name}', do: [all_items: ]}\n  - find_items: {name: '{name}'}\n    save: {name_")},
            "plan",
            8,
            'for_each x needs a list, not "',
        ),
        (
            {"executors": (("nullif(:o, '')"), ("coalesce(nullif(:o, ''), (SELECT name FROM items LIMIT 1))"))},
            "plan",
            7,
            "gold comes out otherwise when rows without ORDER BY stand in another order",
        ),
        ({"executors": (('return {"name": name, "due": due}'), "return {1}")}, "plan", 10, ("gold breaks a tool")),
    ],
)  # fmt: skip
def test_each_broken_proof_names_file_line_and_family(
    tmp_path: Path, changes: Mapping[str, Any], family: str, line: int | None, words: str
):
    report = check(small_world.make(tmp_path, **changes))[family]
    assert not report.ok
    assert f"family {family}: " in report.problems[0]
    assert words in report.problems[0]
    if line is not None:
        assert report.problems[0].startswith(f"{tmp_path / 'tasks.yaml'}:{line}: ")


class Generous(Verifier):
    """A verifier that lets everything pass."""

    def parse_options(self, raw: object) -> object:
        return raw

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        return Verdict(self.name, 1.0, "whatever")


class GenerousState(Generous):
    name = "state"


class GenerousAnswer(Generous):
    name = "answer"


@pytest.mark.parametrize(("verifier", "family"), [("state", "plan"), ("answer", "price")])
def test_a_verifier_that_lets_everything_pass_lets_mutants_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verifier: str, family: str
):
    monkeypatch.setitem(REWARDS.builtin, verifier, f"{__name__}:Generous{verifier.title()}")  # type: ignore[arg-type]
    report = check(small_world.make(tmp_path))[family]
    assert report.surviving
    if verifier == "answer":  # the gate `reply` catches whoever acts without a word
        assert any("lazy agent" in each for each in report.problems)


WORDY = ("colour: green}", 'colour: green, note: "As asked."}')


def test_words_of_the_agents_own_are_allowed_where_any_text_will_do(tmp_path: Path):
    folder = small_world.make(tmp_path / "strict", tasks=WORDY)
    assert "note='As asked.', which nobody told the agent" in check(folder)["plan"].problems[0]
    folder = small_world.make(tmp_path / "free", tasks=WORDY)
    text = (folder / "tasks.yaml").read_text("utf-8")
    (folder / "tasks.yaml").write_text("compare: {items.note: free_text}\n" + text, "utf-8")
    assert check(folder)["plan"].ok


def test_a_mutant_is_a_mistake_that_the_tool_would_take():
    gold = [
        ToolStep(
            "plan_item", {"due": "2026-02-28", "colour": "green", "title": "Chair"}, writes=True
        )
    ]
    schemas = {
        "plan_item": {
            "properties": {"colour": {"type": "string", "enum": ["red", "green", "blue"]}}
        }
    }
    changed = [
        dict(each.moves[0].arguments)
        for each in mutants(gold, [], schemas)
        if each.kind == "change argument"
    ]
    assert [each["due"] for each in changed] == ["2026-03-01", *["2026-02-28"] * 3]
    assert [each["colour"] for each in changed] == ["green", "red", "blue", "green"]
    assert changed[3]["title"] == "Chair x"


def test_of_a_long_loop_the_mutants_are_taken_from_everywhere():
    gold = [ToolStep("add", {"n": at}, writes=True) for at in range(200)]
    every = list(mutants(gold, [], {}))
    chosen = spread(every)
    assert len([each for each in chosen if each.kind == "drop write"]) == PER_KIND
    assert spread(chosen) == chosen
    dropped = [
        199 * 200 // 2 - sum(int(act.arguments["n"]) for act in each.moves)
        for each in chosen[:PER_KIND]
    ]
    assert dropped[0] == 0
    assert dropped[-1] >= 190
