"""The figures of a calibration: what each check of the gate ``reply`` finds in whose rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.evaluation.calibration.labels import Label
from synth.evaluation.calibration.transcripts import LabelledRollout
from synth.report.rates import wilson
from synth.rewards import verifier_of
from synth.rewards.reply.finding import ReplyFinding

ANY = "any check"


@dataclass
class Figures:
    """Counts of one check on one model's rollouts.

    ``flagged`` are rollouts with a finding, ``refused`` the successful ones among them,
    ``right`` and ``wrong`` labelled findings; ``due`` are labels that the check has to find and
    ``found`` those that it finds.
    """

    flagged: set[str] = field(default_factory=set[str])
    refused: set[str] = field(default_factory=set[str])
    right: set[str] = field(default_factory=set[str])
    wrong: set[str] = field(default_factory=set[str])
    due: int = 0
    found: int = 0

    def add(self, rollout: LabelledRollout, label: str | None) -> None:
        """Count a finding. One in a successful rollout that no reader calls right is wrong."""
        self.flagged.add(rollout.id)
        right = label in {"TRUE", "LUCK"}
        if right or (label is None and not rollout.success):
            self.right |= {rollout.id} if right else set()
        else:
            self.wrong.add(rollout.id)
        if rollout.success and not right:
            self.refused.add(rollout.id)

    def expect(self, label: Label, found: Sequence[ReplyFinding]) -> None:
        """Count a label that has to be found; a rollout that says nothing misses every output."""
        mute = bool(found) and not found[0].words
        self.due += 1
        self.found += mute or any(_same(label, one) for one in found)


@dataclass(frozen=True)
class Calibration:
    """The figures by model and check, the rollouts counted, and the findings and notes."""

    figures: dict[str, dict[str, Figures]]
    rollouts: dict[str, int]
    successful: dict[str, int]
    findings: Sequence[tuple[LabelledRollout, ReplyFinding]]
    notes: dict[str, Counter[str]]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model and check, the sum of a model's checks last."""
        out: list[dict[str, Any]] = []
        for model, checks in self.figures.items():
            names = sorted(checks, key=lambda name: (name == ANY, name))
            out += [self._row(model, check, checks[check]) for check in names]
        return out

    def _row(self, model: str, check: str, found: Figures) -> dict[str, Any]:
        successful = self.successful[model]
        judged = len(found.right) + len(found.wrong)
        interval = wilson(len(found.refused), successful).to_json() if successful else None
        return {
            "model": model,
            "check": check,
            "rollouts": self.rollouts[model],
            "flagged": len(found.flagged),
            "precision": len(found.right) / judged if judged else None,
            "recall": found.found / found.due if found.due else None,
            "due": found.due,
            "successful": successful,
            "false_alarms": len(found.refused),
            "interval": interval,
        }


def calibrate(
    rollouts: Sequence[LabelledRollout], labels: Sequence[Label] = (), model: str = ""
) -> Calibration:
    """Judge rollouts by the gate ``reply``, and compare with the labels of one model's rollouts."""
    verifier = verifier_of("reply")
    figures: dict[str, dict[str, Figures]] = {}
    findings: list[tuple[LabelledRollout, ReplyFinding]] = []
    notes: dict[str, Counter[str]] = {}
    by_rollout: dict[str, list[Label]] = {}
    for label in labels:
        by_rollout.setdefault(label.rollout, []).append(label)
    for rollout in rollouts:
        checks = figures.setdefault(rollout.model, {ANY: Figures()})
        detail = verifier.verify(rollout.evidence, verifier.parse_options(None)).detail
        noted = notes.setdefault(rollout.model, Counter())
        noted.update({note["check"] for note in detail.get("notes", ())})
        found = [ReplyFinding(**one) for one in detail.get("findings", ())]
        own = by_rollout.get(rollout.id, []) if rollout.model == model else []
        for one in found:
            findings.append((rollout, one))
            label = next((item.label for item in own if _same(item, one)), None)
            for name in (one.check, ANY):
                checks.setdefault(name, Figures()).add(rollout, label)
        for label in filter(lambda one: one.due, own):
            for name in (label.check, ANY):
                checks.setdefault(name, Figures()).expect(label, found)
    count = Counter(rollout.model for rollout in rollouts)
    good = Counter(rollout.model for rollout in rollouts if rollout.success)
    return Calibration(figures, count, good, findings, notes)


def _same(label: Label, finding: ReplyFinding) -> bool:
    """True if a label is about a finding: each names the words of the other."""
    texts = [finding.words, finding.evidence]
    return any(
        bool(text and label.words) and (label.words in text or text in label.words)
        for text in texts
    )
