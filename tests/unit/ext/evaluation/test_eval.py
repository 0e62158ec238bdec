"""`synth eval`: a run of chosen universes with its report, the report again, a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.evaluation.cli.eval import main

pytestmark = pytest.mark.slow


@pytest.fixture
def evaluated(tmp_path: Path, capsys) -> Path:
    out = tmp_path / "expert"
    more = ["--universes", "3-4", "--tasks", "4", "--samples", "2", "runtime=inline"]
    chosen = ["--families", "stock_count", "--out", str(out)]
    assert main(["shop", *chosen, *more]) == 0
    assert "8 of 8 rollouts of 4 tasks passed, in universes 3, 4." in capsys.readouterr().out
    return out


def test_a_world_is_played_in_the_universes_named_and_reported(evaluated: Path, capsys):
    document = json.loads((evaluated / "eval.json").read_text())
    assert document["universes"] == [3, 4]
    assert document["pass"]["all_of"] == {"1": 1.0, "2": 1.0}
    assert (evaluated / "eval.md").is_file()
    assert (evaluated / "model_card.md").is_file()
    assert main([str(evaluated), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    with pytest.raises(OperatorError, match="nothing is played"):
        main([str(evaluated), "--model", "other"])
    out = evaluated.parent / "lift"
    assert main(["--compare", str(evaluated), str(evaluated), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "no clear difference" in said
    assert f"written: {out}/compare.json, {out}/compare.md\n" in said
    assert "| all | 8 | 100.0% | 100.0% | +0.0 |" in (out / "compare.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shop", "--universes", "4-x"], "--universes is of the form 100-103 or 7,8"),
        (["shop", "--universes", "4-3"], "--universes 4-3 is empty"),
        (["shop", "--renamings", "six"], "--renamings is of the form"),
        (["shop", "--universes", "0-99999999999"], "at most 1000 universes"),
        (["shop", "--compare", "a", "b"], "--compare takes two runs and no world"),
        (
            ["shop", "--base-url", "http://127.0.0.1:1/v1"],
            "name an endpoint, and --model scripted asks none",
        ),
        (["no_such_world"], "no_such_world"),
    ],
)
def test_bad_input_is_one_message(arguments: list[str], message: str):
    with pytest.raises(OperatorError, match=message):
        main(arguments)
