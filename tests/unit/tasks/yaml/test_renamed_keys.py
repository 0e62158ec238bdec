"""Families in the old notation: their keys are understood, and reported with file and line."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from synth.errors import RenamedKeyWarning, TaskError
from synth.tasks.yaml.source_map import Map, Seq, load_yaml

OLD = """\
families:
- id: pulse
  gold: [{accept: {twins: 2}}]
- id: allowed
  twins: {allow: a, refuse: b}
  accept: {any_of: []}
  gold: [{accept: {twins: 2}}]
- id: denied
  twins: {allow: a, refuse: b}
"""


def parse(file: Path, text: str) -> list[Map]:
    file.write_text(text)
    families = load_yaml(file)["families"]
    assert isinstance(families, Seq)
    return [family for family in families if isinstance(family, Map)]


def test_the_keys_of_families_are_renamed_and_those_of_steps_are_not(tmp_path: Path):
    with pytest.warns(RenamedKeyWarning) as issued:
        pulse, allowed, denied = parse(tmp_path / "tasks.yaml", OLD)
    assert list(pulse) == ["id", "gold"]
    assert pulse["gold"] == allowed["gold"] == [{"accept": {"twins": 2}}]
    assert list(allowed) == ["id", "cases", "alternatives", "gold"]
    assert allowed.lines == {"id": 4, "cases": 5, "alternatives": 6, "gold": 7}
    assert denied.lines["cases"] == 9
    assert [(str(warning.message), warning.filename, warning.lineno) for warning in issued] == [
        ("`twins` is now `cases`", str(tmp_path / "tasks.yaml"), 5),
        ("`accept` is now `alternatives`", str(tmp_path / "tasks.yaml"), 6),
    ]


def test_a_file_is_reported_once(tmp_path: Path):
    with pytest.warns(RenamedKeyWarning):
        parse(tmp_path / "tasks.yaml", OLD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse(tmp_path / "tasks.yaml", OLD)


@pytest.mark.filterwarnings("ignore::synth.errors.RenamedKeyWarning")
def test_the_old_key_beside_the_new_one_is_refused(tmp_path: Path):
    text = OLD + "  cases: {allow: a, refuse: b}\n"
    with pytest.raises(TaskError, match=r"`twins` is now `cases`: use one of them") as refused:
        parse(tmp_path / "tasks.yaml", text)
    assert refused.value.line == 9


def test_a_file_in_the_present_notation_is_not_reported(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse(
            tmp_path / "tasks.yaml",
            OLD.replace("  twins:", "  cases:").replace("  accept:", "  alternatives:"),
        )
