"""``synth check`` proves the shipped world, and fails when a gold call or a verifier is broken."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from envs.folder import load_world
from envs.types import Limits
from synth.admission.check import FamilyReport, check_world
from synth.types import Verdict
from synth.verifiers import VERIFIERS
from synth.verifiers.base import Evidence, Verifier
from tests.e2e.command import synth

EHR = Path(__file__).parents[2] / "examples" / "ehr_db"


def check(families: list[str]) -> dict[str, FamilyReport]:
    """The proofs in this process, so that a verifier can be broken."""
    world = load_world(EHR)
    with world.template() as template:
        reports = asyncio.run(check_world(world, template, families, 2, Limits(), lambda _: None))
    return {each.family: each for each in reports}


def test_each_family_of_the_shipped_world_proves_itself(tmp_path: Path):
    done = synth("check", "ehr_db", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert report["ok"]
    assert len(report["families"]) >= 8
    for family in report["families"]:
        assert family["tasks_proved"] >= 4
        assert {"silence", "dump reads"} <= set(family["lazy_agents_caught"])
        assert sum(family["mutants_killed"].values()) > 10
        assert family["mutants_surviving"] == []


def test_a_broken_gold_call_fails_its_family_and_no_other(tmp_path: Path):
    shutil.copytree(EHR, tmp_path / "world", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "world" / "tasks.yaml"
    text = file.read_text("utf-8")
    right = '- record_vitals: {patient_id: $pid, heart_rate: "{bpm}"}'
    assert right in text
    file.write_text(text.replace(right, "- record_vitals: {patient_id: $pid, heart_rate: 70}"), "utf-8")
    done = synth("check", "world", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    broken = [each for each in report["families"] if not each["ok"]]
    assert [each["family"] for each in broken] == ["record_heart_rate"]
    assert "heart_rate=70, which nobody told the agent" in broken[0]["problems"][0]


class _Generous(Verifier):
    """A verifier that lets everything pass."""

    def __init__(self, name: str) -> None:
        self.name = name

    def verify(self, evidence: Evidence, option: object) -> Verdict:
        return Verdict(self.name, 1.0, "fine")


@pytest.mark.parametrize(("gate", "family"), [("state", "record_heart_rate"), ("answer", "last_blood_pressure")])
def test_a_verifier_that_lets_everything_pass_is_found(monkeypatch: pytest.MonkeyPatch, gate: str, family: str):
    assert check([family])[family].ok
    monkeypatch.setitem(VERIFIERS, gate, _Generous(gate))  # type: ignore[arg-type]
    report = check([family])[family]
    assert not report.ok
    assert report.surviving
    assert any("lazy agent" in each for each in report.problems)
