"""The figures of a calibration: what each check of the gate ``reply`` finds in whose rollouts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envs.unreadable import unreadable
from synth.core.foundation.hashing import derive_seed
from synth.core.report.rates import wilson
from synth.core.rewards.reply.acts import CHECK as ACT
from synth.core.rewards.reply.facts import MISSING
from synth.core.rewards.reply.sentences import ReplyFinding
from synth.errors import OperatorError
from synth.ext.evaluation.calibration.transcripts import LabelledRollout, json_lines
from synth.ext.judge.endpoint_judge import JudgeCost, ModelJudge
from synth.ext.judge.model_judge import NAME, VERSION
from synth.rewards import verifier_of
from synth.verdict import Verdict

LABELS = ("TRUE", "FALSE", "LUCK")

_CHECKS = {"an output is missing": MISSING, "false report of an act": ACT}
"""The checks of causes that the evidence decides."""


@dataclass(frozen=True, slots=True)
class Label:
    """A reader's judgement of a finding: TRUE, FALSE, or LUCK (a right refusal for a wrong reason).

    ``check`` is the check that has to find it; empty for what only a model can judge.
    """

    rollout: str
    words: str
    label: str
    check: str


def read_labels(path: Path, rollouts: Collection[str]) -> list[Label]:
    """The labels of a file. Raises OperatorError for one that names no rollout or no label."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path}: cannot be read: {unreadable(error, 'text')}") from None
    out: list[Label] = []
    for number, raw in json_lines(path, text):
        rollout, label = str(raw.get("rollout", "")), raw.get("label")
        if rollout not in rollouts:
            raise OperatorError(f"{path}:{number}: no transcript has the rollout {rollout!r}")
        if label not in LABELS:
            raise OperatorError(f"{path}:{number}: `label` is {label!r}, not TRUE, FALSE or LUCK")
        check = str(raw.get("check") or _CHECKS.get(str(raw.get("cause")), ""))
        out.append(Label(rollout, str(raw.get("words", "")), label, check))
    return out


ANY = "any check"
AT_ONCE = 8
"""Rollouts that a judge is asked about at the same time."""


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


@dataclass
class _JudgeFigures:
    """The work of a judge: rollouts that it decided about and those that it left without a score,
    the mean agreement of its votes, its cost (None if that is unknown), and its version.
    """

    model: str = ""
    version: str = VERSION
    decided: int = 0
    unscored: int = 0
    agreement: float | None = None
    cost_usd: float | None = 0.0


@dataclass(frozen=True)
class Calibration:
    """The figures by model and check, the rollouts counted, and the findings and notes."""

    figures: dict[str, dict[str, Figures]]
    rollouts: Counter[str]
    successful: Counter[str]
    findings: list[tuple[LabelledRollout, ReplyFinding]]
    notes: dict[str, Counter[str]]
    judge: _JudgeFigures | None = None

    def add(
        self, rollout: LabelledRollout, found: Sequence[ReplyFinding], labels: Sequence[Label]
    ) -> None:
        """Count the findings on a rollout, and the labels that had to be found."""
        checks = self.figures.setdefault(rollout.model, {ANY: Figures()})
        for one in found:
            self.findings.append((rollout, one))
            label = next((item.label for item in labels if _same(item, one)), None)
            for name in (one.check, ANY):
                checks.setdefault(name, Figures()).add(rollout, label)
        for label in (one for one in labels if one.check and one.label != "FALSE"):
            for name in (label.check, ANY):
                checks.setdefault(name, Figures()).expect(label, found)

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
            "interval": [*wilson(len(found.refused), successful)] if successful else None,
        }


def calibrate(
    rollouts: Sequence[LabelledRollout],
    labels: Sequence[Label] = (),
    judge: ModelJudge | None = None,
) -> Calibration:
    """Judge rollouts by the gate ``reply``, and compare with the labels of one model's rollouts:
    the one whose words they quote.

    ``judge`` decides about the notes of those that pass the gate.
    """
    verifier = verifier_of("reply")
    options = verifier.parse_options(None)
    verdicts = [verifier.verify(rollout.evidence, options) for rollout in rollouts]
    asked, of_judge = None, [Verdict(NAME, None, "not asked")] * len(rollouts)
    if judge is not None:
        asked, of_judge = asyncio.run(_judged(judge, rollouts, verdicts))
        labels = [
            replace(label, check=label.check or NAME) if label.label == "TRUE" else label
            for label in labels
        ]
    labelled = _labelled(rollouts, labels)
    good = Counter(rollout.model for rollout in rollouts if rollout.success)
    made = Calibration({}, Counter(rollout.model for rollout in rollouts), good, [], {}, asked)
    for rollout, verdict, decided in zip(rollouts, verdicts, of_judge, strict=True):
        found = [ReplyFinding(**one) for one in verdict.detail.get("findings", ())]
        found += [
            ReplyFinding(**{**one, "check": NAME}) for one in decided.detail.get("findings", ())
        ]
        own = [one for one in labels if (one.rollout, labelled) == (rollout.id, rollout.model)]
        made.add(rollout, found, own)
        noted = made.notes.setdefault(rollout.model, Counter())
        noted.update({note["check"] for note in verdict.detail.get("notes", ())})
    return made


def _labelled(rollouts: Sequence[LabelledRollout], labels: Sequence[Label]) -> str:
    """The model whose rollouts have the most labels and their words; empty without rollouts."""
    quoted = Counter[str]()
    for rollout in rollouts:
        said = "\n".join(one.text for one in rollout.evidence.utterances)
        own = [one for one in labels if one.rollout == rollout.id]
        quoted[rollout.model] += sum(1 + (one.words in said) for one in own)
    return max(quoted, key=quoted.__getitem__, default="")


async def _judged(
    judge: ModelJudge, rollouts: Sequence[LabelledRollout], verdicts: Sequence[Verdict]
) -> tuple[_JudgeFigures, list[Verdict]]:
    """The judge's verdicts on the rollouts that pass the gate, and its figures."""
    cost, places = JudgeCost(), asyncio.Semaphore(AT_ONCE)

    async def one(rollout: LabelledRollout, verdict: Verdict) -> Verdict:
        if verdict.score != 1.0:
            return Verdict(NAME, None, "not asked: the gate refuses it")
        async with places:
            seed = derive_seed(0, rollout.model, rollout.id)
            return await judge.verdict(rollout.evidence, [verdict], seed, cost)

    try:
        made = await asyncio.gather(*map(one, rollouts, verdicts))
    finally:
        await judge.aclose()
    asked = [verdict for verdict in made if verdict.detail.get("statements")]
    shares = [verdict.detail["agreement"] for verdict in asked if verdict.score is not None]
    figures = _JudgeFigures(
        model=asked[0].detail["model"] if asked else "",
        decided=len(shares),
        unscored=len(asked) - len(shares),
        agreement=sum(shares) / len(shares) if shares else None,
        cost_usd=cost.usd,
    )
    return figures, made


def _same(label: Label, finding: ReplyFinding) -> bool:
    """True if a label is about a finding: each names the words of the other."""
    return any(
        bool(text and label.words) and (label.words in text or text in label.words)
        for text in [finding.words, finding.evidence]
    )
