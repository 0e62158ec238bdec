"""The plan: shares, places and jobs as functions of an index, on a real world."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from envs.world.loader import load_world
from synth.core.tasks.families import FamilyTasks
from synth.core.tasks.grounding import turns
from synth.errors import OperatorError, TaskError
from synth.plan import Plan, job, shares

WORLD = {
    "schema.sql": "CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
    "seed.sql": (
        "INSERT INTO patients VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy'), (4, 'Di'), (5,"
        " 'Ed'), (6, 'Flo');"
    ),
    "executors.py": '''
from envs.tools.tool import tool


@tool(read_only=True)
def find(db, name: str) -> dict:
    """Find a patient.

    Args:
        name: The whole name.
    """
    return {"name": name}
''',
    "tasks.yaml": """
families:
- id: small
  ground: {key: patient_id, sql: "SELECT patient_id, name FROM patients WHERE patient_id = 1"}
  user: {says: "Is {name} here?"}
  gold: [{say: "Yes."}]
- id: twins
  ground: {key: patient_id, sql: "SELECT patient_id, name FROM patients"}
  cases: {allow: patient_id > 2, refuse: patient_id <= 2}
  user: {says: ["May {name}?", "And {name}?"]}
  gold: [{allow: [{say: "Yes."}]}, {refuse: [{say: "No."}]}]
- id: wide
  ground: {key: patient_id, sql: "SELECT patient_id, name FROM patients"}
  vary: {bpm: {int: [50, 59]}, mood: {choice: [good, bad]}}
  user: {says: "{bpm} for {name}, who feels {mood}."}
  gold: [{say: "Noted."}]
""",
}
SIZES = {"small": 1, "twins": 6, "wide": 120}


def make_world(folder: Path) -> Path:
    folder.mkdir()
    for name, text in WORLD.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FamilyTasks]:
    world = load_world(make_world(tmp_path_factory.mktemp("plan") / "clinic"))
    template = world.template()
    yield FamilyTasks(world, template)
    template.close()


class TestShares:
    @pytest.mark.parametrize("count", range(12))
    def test_they_sum_to_the_count_and_keep_to_the_capacities(self, count: int):
        capacities = {"a": 1, "b": 4, "c": 6}
        out = shares(count, capacities)
        assert sum(out.values()) == count
        assert all(0 <= out[name] <= capacities[name] for name in capacities)

    @pytest.mark.parametrize("count", range(1, 40))
    def test_they_are_equal_as_far_as_the_families_can(self, count: int):
        """Two families that could both give more never differ by more than one, the earlier one
        first.
        """
        capacities = {"a": 2, "b": 20, "c": 5, "d": 13}
        out = shares(count, capacities)
        open_ended = [share for name, share in out.items() if share < capacities[name]]
        assert not open_ended or max(open_ended) - min(open_ended) <= 1
        assert open_ended == sorted(open_ended, reverse=True)
        assert not open_ended or max(out.values()) <= max(open_ended) + 1

    def test_one_more_task_takes_nothing_from_anybody(self):
        capacities = {"a": 1, "b": 10, "c": 10}
        for count in range(20):
            fewer, more = shares(count, capacities), shares(count + 1, capacities)
            assert all(fewer[name] <= more[name] for name in capacities)


class TestPlan:
    def test_more_than_there_is_says_how_much_there_is(self, source: FamilyTasks):
        with pytest.raises(OperatorError) as caught:
            Plan.make([source], 128, 1, 7)
        assert str(caught.value) == (
            "tasks.count: 128 is more than the families can supply, which is 127 (small 1, twins"
            " 6, wide 120); tasks.count=127 takes all"
        )

    @pytest.mark.parametrize("count", [1, 2, 3, 5, 17, 100, 127])
    def test_place_is_a_bijection_onto_families_and_their_places(
        self, source: FamilyTasks, count: int
    ):
        plan = Plan.make([source], count, 1, 7)
        places = [turns(plan.share, at) for at in range(count)]
        assert sorted(places) == sorted(
            (name, at) for name, share in plan.share.items() for at in range(share)
        )
        with pytest.raises(IndexError):
            turns(plan.share, count)
        with pytest.raises(IndexError):
            plan.task(count)

    def test_the_tasks_are_distinct_up_to_the_last(self, source: FamilyTasks):
        plan = Plan.make([source], 127, 1, 7)
        tasks = [plan.task(at) for at in range(127)]
        assert len({task.id for task in tasks}) == 127
        assert len({(task.family, task.case, str(task.slots)) for task in tasks}) == 127
        assert {name: sum(task.family == name for task in tasks) for name in SIZES} == SIZES

    def test_a_smaller_plan_is_the_beginning_of_a_larger_one(self, source: FamilyTasks):
        whole = [task.id for task in map(Plan.make([source], 60, 1, 7).task, range(60))]
        for count in (1, 4, 5, 13, 59):
            plan = Plan.make([source], count, 1, 7)
            assert [plan.task(at).id for at in range(count)] == whole[:count]

    def test_the_plan_of_one_universe_is_what_it_always_was(self, source: FamilyTasks):
        """Datasets of equal configs are equal from one version to the next: these ids are
        pinned.
        """
        plan = Plan.make([source], 13, 2, 7)
        assert [plan.task(at).id for at in (0, 1, 2, 6, 12)] == [
            "small-384348645492779b",
            "twins-2e04efad2e97f3ac",
            "wide-7e416e98bbb6c5c4",
            "wide-bb0ec3f7d75d5950",
            "wide-ab709fddadb8718b",
        ]
        assert job(5, plan.task(2), 2, 7).id == "cc16aa7683bc1135f7a9"
        assert {plan.task(at).split for at in range(13)} == {"train"}

    def test_the_same_seed_gives_the_same_plan_and_another_another(self, source: FamilyTasks):
        def ids(seed: int) -> list[str]:
            return [task.id for task in map(Plan.make([source], 40, 1, seed).task, range(40))]

        assert ids(7) == ids(7)
        assert ids(7) != ids(8)
        assert len(set(ids(7)) & set(ids(8))) < 40

    def test_families_take_turns_and_cases_alternate(self, source: FamilyTasks):
        tasks = list(map(Plan.make([source], 13, 1, 7).task, range(13)))
        assert [task.family for task in tasks[:5]] == ["small", "twins", "wide", "twins", "wide"]
        cases = [task.case for task in tasks if task.family == "twins"]
        assert cases == ["allow", "refuse", "allow", "refuse", "allow", "allow"]

    def test_a_task_depends_on_its_content_only(self, source: FamilyTasks):
        """Its id, seed, clock and wording are the same whichever run asked for it."""
        by_id = {task.id: task for task in (source.task("wide", at, 7) for at in range(120))}
        again = {task.id: task for task in (source.task("wide", at, 8) for at in range(120))}
        assert by_id == again
        assert [task.id for task in islice(by_id.values(), 5)] != [
            task.id for task in islice(again.values(), 5)
        ]

    def test_an_unknown_family_offers_the_nearest(self, source: FamilyTasks):
        with pytest.raises(TaskError, match=r"unknown family 'wied'; did you mean 'wide'\?"):
            FamilyTasks(source.world, source.template, ["wied"])


class TestJobs:
    def test_samples_share_the_task_and_differ_in_seed_and_id(self, source: FamilyTasks):
        plan = Plan.make([source], 10, 4, 7)
        assert plan.jobs == 40
        jobs = [job(at, plan.task(at // 4), 4, 7) for at in range(40)]
        assert [each.index for each in jobs] == list(range(40))
        assert [each.sample for each in jobs[:5]] == [0, 1, 2, 3, 0]
        assert len({each.id for each in jobs}) == len({each.seed for each in jobs}) == 40
        assert {each.task.id for each in jobs[:4]} == {plan.task(0).id}
        assert all(0 <= each.seed < 2**63 for each in jobs)

    def test_the_id_holds_the_runs_seed(self, source: FamilyTasks):
        task = source.task("wide", 0, 7)
        assert job(0, task, 1, 7).id == job(5, task, 1, 7).id
        assert job(0, task, 1, 7).id != job(0, task, 1, 8).id


@pytest.mark.parametrize(
    ("allow", "refuse"),
    [
        ("patient_id > 3", "patient_id <= 2"),
        ("patient_id > 3", "patient_id <= 4"),
        ("patient_id > 2", "patient_id % 2 = 1 AND patient_id < 5"),
    ],
    ids=["gap", "overlap", "both, so that the numbers alone would agree"],
)
def test_cases_must_part_the_rows(tmp_path: Path, allow: str, refuse: str):
    folder = make_world(tmp_path / "clinic")
    text = WORLD["tasks.yaml"].replace("allow: patient_id > 2", f"allow: {allow}")
    (folder / "tasks.yaml").write_text(
        text.replace("refuse: patient_id <= 2", f"refuse: {refuse}"), "utf-8"
    )
    world = load_world(folder)
    template = world.template()
    with pytest.raises(TaskError, match="must cover each row exactly once"):
        FamilyTasks(world, template)
    template.close()


def test_a_plan_names_families_with_less_than_an_equal_share(source: FamilyTasks):
    assert Plan.make([source], 3, 1, 7).shortfalls == {}
    assert Plan.make([source], 9, 1, 7).shortfalls == {"small": (1, 3)}
    plan = Plan.make([source], 60, 1, 7)
    assert plan.shortfalls == {"small": (1, 20), "twins": (6, 20)}
