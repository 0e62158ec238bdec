"""Gates that another package brings: named in ``gates`` by import path, with typed options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from synth.errors import TaskError
from synth.rewards import Evidence, Verifier
from synth.verdict import Verdict
from tests.unit import small_world

BRIEF = f"{__name__}:Brief"


@dataclass(frozen=True)
class BriefOptions:
    """The most words that the last reply may have."""

    words: int = 20


class Brief(Verifier):
    """Passes if the last reply is short."""

    name = "brief"
    options = BriefOptions

    def verify(self, evidence: Evidence, options: BriefOptions) -> Verdict:
        count = len(evidence.said.split())
        return Verdict(self.name, float(count <= options.words), f"{count} words")


class Number(Verifier):
    name = "number"

    def verify(self, evidence: Evidence, options: object) -> Verdict:
        return cast("Verdict", 1.0)


class NotAGate:
    pass


def world(folder: Path, gates: str) -> Path:
    return small_world.make(folder, tasks=("  - say: Done.", f"  - say: Done.\n  gates: {gates}"))


@pytest.mark.parametrize(("words", "problem"), [(3, ""), (0, "full reward: brief: 1 words")])
def test_a_gate_by_import_path_judges_with_its_options(tmp_path: Path, words: int, problem: str):
    folder = world(tmp_path, f'[state, {{"{BRIEF}": {{words: {words}}}}}]')
    report = check_world(folder, Options(("plan",), per_case=1, honest=()), lambda _: None)
    (found,) = report.families
    assert bool(found.problems) is bool(problem)
    assert problem in "".join(found.problems)


def test_a_gate_returns_a_verdict(tmp_path: Path):
    folder = world(tmp_path, f'[state, "{__name__}:Number"]')
    report = check_world(folder, Options(("plan",), per_case=1, honest=()), lambda _: None)
    assert "verify returned 1.0, not a Verdict" in "".join(report.families[0].problems)


@pytest.mark.parametrize(
    ("gates", "line", "words"),
    [
        (
            f'[state, {{"{BRIEF}":\n    {{wrods: 3}}}}]',
            13,
            "brief.wrods: unknown key; did you mean",
        ),
        (f'[state, {{"{BRIEF}": {{words: many}}}}]', 12, "brief.words: "),
        (f'[state, {{"{BRIEF}": [3]}}]', 12, "brief: the options must be a mapping, not [3]"),
        ("[state, brief]", 12, "unknown reward 'brief'"),
        ('[state, "no_such_package:Gate"]', 12, "cannot import 'no_such_package'"),
        (f'[state, "{__name__}:Missing"]', 12, "has no attribute 'Missing'"),
        (f'[state, "{__name__}:NotAGate"]', 12, "is not a gate"),
    ],
)
def test_a_mistake_names_file_line_and_key(tmp_path: Path, gates: str, line: int, words: str):
    folder = world(tmp_path, gates)
    with pytest.raises(TaskError) as caught:
        check_world(folder, Options(("plan",), per_case=1, honest=()), lambda _: None)
    assert str(caught.value).startswith(f"{folder / 'tasks.yaml'}:{line}: family plan: gates: ")
    assert words in str(caught.value)
