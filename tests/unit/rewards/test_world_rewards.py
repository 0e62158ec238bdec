"""A world's own rewards.py: gates and scores in five lines, their errors, and the reward."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import synth
from envs.errors import WorldError
from envs.world.loader import load_world
from synth.core.validation.check import Options
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.episode import Score
from synth.errors import TaskError
from synth.rewards import world_rewards
from tests.unit import small_world

FIVE_LINES = """\
from synth.rewards import gate, reward
@gate
def lists_nothing(evidence): return "all_items" not in {call.name for call in evidence.calls}, "lists"
@reward(weight=0.2, families=["plan"])
def brief(evidence): return min(1.0, 1 / max(1, len(evidence.said.split())))
"""
HEAD = "from synth.rewards import gate, reward\n\n"


def with_rewards(folder: Path, text: str) -> Path:
    world = small_world.make(folder)
    (world / "rewards.py").write_text(text, "utf-8")
    return world


def played(world: Path, said: str = "Done.", *, lists: bool = False) -> Score:
    """The score of an agent that does the work of the family `plan`."""

    async def play() -> Score:
        with synth.open(world, family="plan") as episode:
            if lists:
                await episode.call("all_items")
            task = episode.task
            found = await episode.call("find_items", {"name": task.slots["name"]})
            name = found.result.output["items"][0]["name"]
            plan = {"name": name, "due": task.slots["day"], "colour": "green"}
            await episode.call("plan_item", plan)
            await episode.say(said)
            return await episode.scored()

    return asyncio.run(play())


class TestReward:
    def test_the_verdicts_follow_those_of_the_task(self, tmp_path: Path):
        score = played(with_rewards(tmp_path, FIVE_LINES))
        assert [(item.verifier, item.score, item.gate, item.weight) for item in score.verdicts] == [
            ("state", 1.0, True, 1.0),
            ("reply", 1.0, True, 1.0),
            ("lists_nothing", 1.0, True, 1.0),
            ("brief", 1.0, False, 0.2),
        ]
        assert (score.reward, score.solved) == (1.0, True)

    def test_a_score_shades_the_reward_and_not_the_outcome(self, tmp_path: Path):
        score = played(with_rewards(tmp_path, FIVE_LINES), "All of it is done.")
        assert score.reward == pytest.approx((1 + 0.2 * 0.2) / 1.2)
        assert score.solved

    def test_a_gate_costs_the_reward_and_says_why(self, tmp_path: Path):
        score = played(with_rewards(tmp_path, FIVE_LINES), lists=True)
        assert (score.reward, score.solved) == (0.0, False)
        assert score.verdicts[2].reason == "lists"

    def test_a_world_without_the_file_has_none(self, tmp_path: Path):
        assert world_rewards(load_world(small_world.make(tmp_path))) == ()

    def test_the_file_is_part_of_the_digest(self, tmp_path: Path):
        folder = with_rewards(tmp_path, FIVE_LINES)
        before = load_world(folder).digest
        (folder / "rewards.py").write_text(FIVE_LINES.replace("0.2", "0.3"), "utf-8")
        assert load_world(folder).digest != before


class TestEvidence:
    def test_it_shows_calls_changes_words_and_the_end_state(self, tmp_path: Path):
        folder = with_rewards(
            tmp_path,
            HEAD
            + """\
@gate
def sees(evidence):
    find, plan = evidence.calls
    assert find.arguments["name"] and find.result.output["items"] and not find.changes
    (change,) = evidence.changes
    assert plan.changes and change.after["colour"] == "green"
    assert evidence.submitted is None and not any(turn.fault for turn in evidence.turns)
    (row,) = evidence.query("SELECT count(*) AS n FROM items WHERE colour = 'green'")
    (same,) = evidence.query("SELECT 1 AS n FROM items WHERE name = :name", evidence.task.slots)
    return row == same == {"n": 1}, evidence.said
""",
        )
        (_, _, verdict) = played(folder, "Planned.").verdicts
        assert (verdict.score, verdict.reason) == (1.0, "Planned.")

    def test_it_cannot_be_changed(self, tmp_path: Path):
        folder = with_rewards(
            tmp_path, HEAD + "@gate\ndef cheats(evidence):\n    evidence.said = 'x'\n"
        )
        with pytest.raises(TaskError, match=r"rewards\.py:5: @gate cheats raises FrozenInstance"):
            played(folder)


ERRORS = [
    ("@gate\ndef g(evidence):\n    return None", "rewards.py:3: @gate g returns None; a gate"),
    ("@gate\ndef g(evidence):\n    return 1", "@gate g returns 1; a gate returns True or False"),
    ("@gate\ndef g(evidence):\n    return 'no'", "@gate g returns 'no'; a gate"),
    ("@gate\ndef g(evidence):\n    return True, 5", "@gate g returns (True, 5); a gate"),
    ("@gate\ndef g(evidence):\n    return True, 'a', 'b'", "(True, 'a', 'b'); a gate"),
    ("@reward\ndef r(evidence):\n    return 1.5", "@reward r returns 1.5; a reward returns"),
    ("@reward\ndef r(evidence):\n    return -0.1", "@reward r returns -0.1; a reward"),
    ("@reward\ndef r(evidence):\n    return float('nan')", "@reward r returns nan; a reward"),
    ("@reward\ndef r(evidence):\n    return True", "@reward r returns True; a reward"),
    ("@reward\ndef r(evidence):\n    return '1'", "@reward r returns '1'; a reward"),
    ("@reward\ndef r(evidence):\n\n    return 1 / 0", "rewards.py:6: @reward r raises ZeroDiv"),
    ("@gate\ndef g(evidence):\n    raise SystemExit(3)", "@gate g raises SystemExit: 3"),
    ("@gate\ndef g(evidence):\n    return evidence.query('SELECT nothing')", "g raises TaskError"),
]


@pytest.mark.parametrize(("text", "words"), ERRORS)
def test_an_error_of_the_author_leaves_the_rollout_unscored(tmp_path: Path, text: str, words: str):
    world = load_world(with_rewards(tmp_path, HEAD + text + "\n"))
    (item,) = world_rewards(world)

    with synth.open(small_world.make(tmp_path / "plain"), family="plan") as episode:
        verdict = item.verify(episode.evidence())
    assert verdict.score is None
    assert words in verdict.reason
    assert Score([verdict], None).solved is False


MISTAKES = [
    ("@gate\nasync def g(evidence): ...", 3, "@gate g is `async def`"),
    ("@gate\ndef g(evidence):\n    yield 1", 3, "@gate g has a `yield`"),
    ("@gate\ndef g(): ...", 3, "@gate g must take one argument, the evidence"),
    ("@reward\ndef r(evidence, more): ...", 3, "@reward r must take one argument"),
    ("@gate('plan')\ndef g(evidence): ...", 3, "@gate marks a function, not 'plan'"),
    ("@reward(weight=0)\ndef r(evidence): ...", 3, "@reward: weight must be a number above 0"),
    ("@reward(weight='2')\ndef r(evidence): ...", 3, "@reward: weight must be a number above 0"),
    ("@gate(families='plan')\ndef g(evidence): ...", 3, "@gate: families must be a list"),
    ("@gate\ndef state(evidence): ...", 3, "@gate state: this is the name of a built-in gate"),
    ("@gate\n@reward\ndef g(evidence): ...", 3, "g is marked twice"),
    ("@gate\ndef g(evidence): ...\n@gate\ndef g(evidence): ...", 6, "two functions are named 'g'"),
    ("@gate(families=['plam'])\ndef g(evidence): ...", 3, "unknown family 'plam'; did you mean"),
    ("@gaet\ndef g(evidence): ...", 3, "NameError: name 'gaet' is not defined"),
    ("@gate(weigth=1)\ndef g(evidence): ...", 3, "unexpected keyword argument 'weigth'"),
    ("@gate\ndef g(evidence: ...", 4, "SyntaxError: "),
]


@pytest.mark.parametrize(("text", "line", "words"), MISTAKES)
def test_a_mistake_is_refused_with_file_and_line(tmp_path: Path, text: str, line: int, words: str):
    folder = with_rewards(tmp_path, HEAD + text + "\n")
    with pytest.raises(WorldError) as caught, synth.open(folder, family="plan"):
        pass
    assert str(caught.value).startswith(f"{folder / 'rewards.py'}:{line}: ")
    assert words in caught.value.message


def checked(folder: Path) -> Iterator[FamilyReport]:
    yield from check_world(folder, Options(per_case=1, honest=()), lambda _: None).families


class TestCheck:
    def test_gold_passes_the_gates_and_its_scores_are_reported(self, tmp_path: Path):
        text = FIVE_LINES.replace('"all_items"', '"no_such"').replace("1 / max", "0.5 / max")
        plan, price = checked(with_rewards(tmp_path, text))
        assert (plan.ok, price.ok) == (True, True)
        assert (plan.gold_scores, price.gold_scores) == ({"brief": 0.5}, {})

    def test_gold_that_fails_a_gate_fails_the_family(self, tmp_path: Path):
        plan, price = checked(with_rewards(tmp_path, FIVE_LINES))
        assert (plan.problems, price.ok) == ([], False), "gold of `price` lists all items"
        assert "gold does not earn the full reward: lists_nothing: lists" in price.problems[0]

    def test_a_gate_that_raises_on_gold_fails_the_family(self, tmp_path: Path):
        text = HEAD + "@reward(families=['price'])\ndef r(evidence):\n    return 1 / 0\n"
        plan, price = checked(folder := with_rewards(tmp_path, text))
        assert (plan.ok, price.ok) == (True, False)
        assert price.problems[0].startswith(f"{folder}/rewards.py:5: @reward r raises ZeroDivision")

    def test_a_gate_that_raises_on_an_attack_fails_the_family(self, tmp_path: Path):
        text = HEAD + "@gate\ndef g(evidence):\n    return bool(evidence.calls[0])\n"
        for report in checked(with_rewards(tmp_path, text)):
            assert "an attack breaks the world: rewards.py:5: @gate g raises" in report.problems[0]

    @pytest.mark.parametrize(("mark", "kills"), [("gate", True), ("reward", False)])
    def test_attacks_meet_the_gates_and_are_not_killed_by_a_score(
        self, tmp_path: Path, mark: str, kills: bool
    ):
        """Writing twice leaves the same end; a gate of the world may forbid it all the same."""
        once = "sum(call.name == 'plan_item' for call in evidence.calls) < 2"
        body = f"def once(evidence):\n    return {'bool' if kills else 'float'}({once})\n"
        folder = with_rewards(tmp_path / "own", f"{HEAD}@{mark}\n{body}")
        before = next(checked(small_world.make(tmp_path / "plain"))).equivalent["repeat write"]
        plan = next(checked(folder))
        assert before > 0
        assert not plan.problems
        found = plan.killed["repeat write"], plan.equivalent["repeat write"]
        assert found == ((before, 0) if kills else (0, before))
