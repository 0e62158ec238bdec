"""``synth list``: every kind, its names, their sources and descriptions, without importing them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import synth
from synth.__main__ import main
from synth.core.foundation.shipped import find_world, version
from synth.errors import OperatorError


def distribution(folder: Path, name: str, group: str, entry: str, release: str = "1.2") -> None:
    info = folder / f"{name.replace('-', '_')}-{release}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")


def test_every_kind_is_listed(capsys: pytest.CaptureFixture[str]):
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["extensions"]
    found = {(row["kind"], row["name"]) for row in rows}
    for pair in (
        ("world", "shop"),
        ("model", "openai"),
        ("runtime", "ray"),
        ("engine", "sqlite"),
        ("middleware", "retry"),
    ):
        assert pair in found
    assert all(row["source"] == f"synth {version()}" for row in rows)
    assert [row for row in rows if not row["description"]] == []


def test_a_kind_by_its_name(capsys: pytest.CaptureFixture[str]):
    assert main(["list", "runtimes"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "runtimes:"
    assert "ray" in out
    assert "shop" not in out


def test_an_unknown_kind_gets_the_nearest(capsys: pytest.CaptureFixture[str]):
    assert main(["list", "modles"]) == 2
    assert "unknown kind 'modles'; did you mean models?" in capsys.readouterr().err


def test_an_entry_point_shows_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    distribution(tmp_path, "my-models", "synth.models", "mine = my_models:Mine")
    (tmp_path / "my_models.py").write_text('raise ImportError\nclass Mine:\n    """Mine."""\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["list", "models"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if " mine " in line)
    assert line.split() == ["mine", "my-models", "1.2", "Mine."]


def test_a_name_that_two_distributions_claim_is_an_error_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ("one-models", "two-models"):
        distribution(tmp_path, name, "synth.models", "mine = my_models:Mine")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["list", "models"]) == 1
    error = capsys.readouterr().err
    assert "one-models 1.2" in error
    assert "two-models 1.2" in error


def test_a_world_of_another_distribution_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    distribution(tmp_path, "my-worlds", "synth.worlds", "bank = my_worlds.bank")
    folder = tmp_path / "my_worlds" / "bank"
    folder.mkdir(parents=True)
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    (folder / "schema.sql").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_world("bank") == folder.resolve()
    with pytest.raises(OperatorError, match="unknown world 'bnak'"):
        find_world("bnak")


def test_the_version_is_read_from_the_one_place():
    assert synth.__version__ == version()
    code = "import synth, sys; synth.__version__; print('synth.api' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
