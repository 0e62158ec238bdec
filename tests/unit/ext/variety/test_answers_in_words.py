"""Runs without the tool ``submit``: the reply is judged in the place of the typed answer."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import synth
from synth.core.foundation.shipped import find_world
from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from tests.e2e.command import synth as command


@pytest.mark.parametrize("more", [[], ["tasks.compose={2: 0.5}"]])
def test_a_run_in_words_has_no_submit_and_is_judged_by_its_replies(tmp_path: Path, more: list[str]):
    run = synth.run(
        *("env=library", "tasks.count=16", "tasks.transforms=[answers_in_words]", *more),
        *(f"output.dir={tmp_path / 'out'}", "runtime=inline"),
        progress=False,
    )
    rows = list(run.dataset.rows())
    assert [row["reward"] for row in rows] == [1.0] * 16
    for row in rows:
        assert "submit" not in str(row["tools"]) + str(row["messages"][1:])
        assert {one["verifier"] for one in row["verdicts"]} & {"answer", "reply"} == {"reply"}
    assert not synth.replay(run.directory).differences
    assert synth.grade(run.directory).same


def test_one_reply_to_everything_earns_nothing_without_submit():
    options = Options(per_case=1, transforms=("answers_in_words",))
    assert check_world(find_world("library"), options, lambda _: None).ok


def test_the_recipe_for_imitation_is_one_word(tmp_path: Path):
    changes = ("experiment=sft", "env=shop", "tasks.count=12", f"output.dir={tmp_path / 'out'}")
    run = synth.run(*changes, "runtime=inline", progress=False)
    rows = list(run.dataset.rows())
    assert [row["reward"] for row in rows] == [1.0] * 12
    assert {row["split"] for row in rows} == {"train", "test"}
    assert any("+" in row["family"] for row in rows)
    assert not any("submit" in str(row["tools"]) for row in rows)


def test_prompts_for_an_environment_keep_its_tools(tmp_path: Path):
    run = synth.run(
        "env=library", "tasks.count=2", f"output.dir={tmp_path / 'out'}", progress=False
    )
    for target, kept in (("verl", True), ("trl-sft", False)):
        synth.export(run.directory, target, tmp_path / f"{target}.parquet")
        assert ("submit" in str(pq.read_table(tmp_path / f"{target}.parquet").to_pylist())) is kept


def test_a_check_takes_only_transforms_that_change_each_task(tmp_path: Path):
    done = command("check", "library", "--transform", "renamings", cwd=tmp_path, code=2)
    assert "choose from answers_in_words, varied_wording" in done.stderr.replace("'", "")
