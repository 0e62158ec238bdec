"""Tasks chosen by the pass rates of an earlier run."""

from __future__ import annotations

from collections import Counter

import pytest

import synth
from synth.core.config.compose import compose
from synth.errors import OperatorError
from synth.ext.variety.pass_rates import LEAST_ROWS, PassRates
from synth.plan import Plan
from synth.prepare import prepare
from synth.task import Task


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run with mistakes in half of its rollouts."""
    directory = tmp_path_factory.mktemp("runs") / "earlier"
    mistakes = ["model.mistakes=[stray_write,premature_answer]", "model.mistake_rate=0.5"]
    words = ["env=shop", "tasks.count=60", "tasks.samples=4", "runtime=inline", *mistakes]
    synth.run([*words, f"output.dir={directory}"])
    return str(directory)


def plan(earlier: str, *more: str) -> Plan:
    words = ["env=shop", "tasks.count=30", "seed=5", f"tasks.from_run={earlier}", *more]
    return prepare(compose(words)[0].config).plan


def test_only_tasks_of_the_range_are_planned(earlier: str):
    chosen = plan(earlier, "tasks.pass_rate=[0.3, 0.6]")
    rows = [*synth.Dataset.open(earlier).rows(["family", "case", "outcome"])]
    for index in range(chosen.tasks):
        task = chosen.task(index)
        own = [row for row in rows if row["family"] == task.family]
        of_case = [row for row in own if row["case"] == task.case]
        counted = of_case if len(of_case) >= LEAST_ROWS else own
        rate = sum(row["outcome"] == "success" for row in counted) / len(counted)
        assert 0.3 <= rate <= 0.6, (task.family, task.case)
    assert chosen.tasks == 30
    assert len({row["family"] for row in rows}) > len({chosen.task(i).family for i in range(30)})


def test_the_same_run_gives_the_same_plan(earlier: str):
    """So a resume goes on; and another range is another plan."""
    assert plan(earlier).digest() == plan(earlier).digest()
    assert plan(earlier).digest() != plan(earlier, "tasks.pass_rate=[0, 1]").digest()


def test_a_composed_task_passes_if_all_of_its_requests_do(earlier: str):
    chosen = plan(earlier, "tasks.pass_rate=[0.1, 0.4]", "tasks.compose={2: 1}")
    rates = PassRates.read(earlier, 0.1, 0.4)
    for index in range(chosen.tasks):
        task = chosen.task(index)
        one, other = (rates.rate(part) for part in task.parts)
        assert one is not None
        assert other is not None
        assert rates.rate(task) == pytest.approx(one * other)
        assert 0.1 <= one * other <= 0.4


def test_a_case_with_few_rollouts_has_the_rate_of_its_family():
    played = Counter[tuple[str, str | None]]()
    played.update({("a", "rare"): 3, ("a", "usual"): 9, ("a", None): 12})
    passed = Counter[tuple[str, str | None]]()
    passed.update({("a", "usual"): 9, ("a", None): 9})
    rates = PassRates(passed, played, 0.5, 0.9)
    task = Task("1", "a", "shop", "Hello.", [])
    usual, rare, unknown = (
        rates.rate(Task("1", family, "shop", "Hello.", [], case=case))
        for family, case in (("a", "usual"), ("a", "rare"), ("b", None))
    )
    assert (usual, rare, unknown) == (1.0, 0.75, None)
    assert rates.hold(task)
    assert not rates.hold(Task("1", "b", "shop", "Hello.", []))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tasks.from_run=nowhere",), r"tasks.from_run: .*nowhere does not exist"),
        (("env=library",), "has no scored rollout of these families"),
        (("tasks.pass_rate=[0.0001, 0.0002]",), "no task has an expected pass rate of 0.0001 to"),
    ],
)
def test_what_cannot_be_planned_says_why(earlier: str, words: tuple[str, ...], message: str):
    with pytest.raises(OperatorError, match=message):
        plan(earlier, *words)


@pytest.mark.parametrize("value", ["0.5", "[0.5]", "[0.8, 0.2]", "[0, 2]", "[a, b]", "[true, 1]"])
def test_a_range_has_two_rates(value: str):
    with pytest.raises(OperatorError, match=r"tasks.pass_rate: must be a range of rates"):
        compose(["tasks.from_run=out", f"tasks.pass_rate={value}"])
