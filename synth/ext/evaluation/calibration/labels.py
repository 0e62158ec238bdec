"""Findings that a reader has labelled, one a line of a JSON Lines file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from envs.unreadable import unreadable
from synth.core.rewards.reply.acts import CHECK as ACT
from synth.core.rewards.reply.facts import MISSING
from synth.errors import OperatorError
from synth.ext.evaluation.calibration.transcripts import json_lines

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
