"""``synth run`` before anything runs: its help, and Hydra's options."""

import json

import pytest
import yaml

from synth.__main__ import main
from synth.config import KEYS
from synth.core.cli.run import HELP

pytestmark = pytest.mark.slow


def test_help_names_what_can_be_chosen(capsys):
    assert main(["run", "--help"]) == 0
    out = capsys.readouterr().out
    for name in ("ehr_db", "shop_sql", "openai", "replay", "postgres", "best_of_4", "simulated"):
        assert name in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_keys_that_help_names_exist():
    most_used = HELP.partition("keys that most runs set")[2].partition("\n\n")[0]
    named = {word.partition("=")[0] for word in most_used.split() if "=" in word}
    assert len(named) >= 10
    assert named - set(KEYS) == {"env", "model", "runtime"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--cfg", "seed=3"], "\nseed: 3\n"),
        (["-c", "job", "seed=3"], "\nseed: 3\n"),
        (["seed=3", "--info"], "search path:"),
        (["-i", "all"], "search path:"),
    ],
)
def test_options_of_hydra_may_stand_alone(words, shown, capsys):
    assert main(["run", *words]) == 0
    assert shown in f"\n{capsys.readouterr().out}"


def test_cfg_prints_the_config_as_yaml_or_json(capsys):
    assert main(["run", "--cfg", "job", "seed=3"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert shown["seed"] == 3
    assert main(["run", "seed=3", "--cfg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == shown


def test_package_shows_one_section(capsys):
    assert main(["run", "--cfg", "job", "--package", "tasks", "tasks.count=5"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["count"] == 5
    assert main(["run", "--cfg", "job", "-p", "task"]) == 2
    assert "did you mean tasks?" in capsys.readouterr().err


def test_cfg_of_a_sweep_is_a_list_in_json(capsys):
    assert main(["run", "-m", "--cfg", "job", "--json", "seed=1,2"]) == 0
    assert [job["seed"] for job in json.loads(capsys.readouterr().out)] == [1, 2]


def test_info_names_the_files_that_are_composed(capsys, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text("name: m\nkind: openai\n")
    assert main(["run", "--info", "--config-dir", str(tmp_path), "model=mine"]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path) in out
    assert "model/mine -> model" in out
    assert "model: anthropic, mine, openai, replay, responses, scripted" in out


def test_a_primary_config_of_ones_own(capsys, tmp_path):
    (tmp_path / "nightly.yaml").write_text("defaults: [run, _self_]\nseed: 11\ntasks: {count: 9}\n")
    words = ["--config-dir", str(tmp_path), "--config-name", "nightly"]
    assert main(["run", "--cfg", "job", *words, "env=shop"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)
    assert (shown["seed"], shown["tasks"]["count"], shown["env"]["name"]) == (11, 9, "shop")
    assert main(["run", "--cfg", "job", "--config-name", "nihgtly"]) == 2
    assert "nihgtly" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--tasks.count", "3"], ["--tasks.count=3"], ["-tasks.count=3"]])
def test_a_key_with_dashes_is_answered_with_the_override(words, capsys):
    assert main(["run", *words]) == 2
    assert "a config key has no dashes: tasks.count=VALUE" in capsys.readouterr().err
