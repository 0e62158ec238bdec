"""Words in the assistant's last message: the last resort, where an answer has no form that ``submit`` could hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, cast

from synth.types import Verdict
from synth.verifiers.base import Evidence, Verifier

Json = Any


class SaysVerifier(Verifier):
    """1.0 exactly when the last words hold ``all`` of some phrases and ``none`` of others.

    Phrases count as whole words: "12" stands neither in "112" nor in "12.5" or "2026-01-12", and "allergic" not in "no
    allergies". Case and white space do not count. That a phrase is denied ("not Monday") is for ``none`` to say.
    """

    name = "says"

    def verify(self, evidence: Evidence, option: Json) -> Verdict:
        lists = cast("Mapping[str, Sequence[str]]", option)
        absent = [each for each in lists.get("all") or () if not mentions(evidence.said, each)]
        present = [each for each in lists.get("none") or () if mentions(evidence.said, each)]
        parts = [
            f"{label}: {', '.join(map(repr, phrases))}"
            for label, phrases in (("not said", absent), ("said, yet must not be", present))
            if phrases
        ]
        return Verdict(self.name, 0.0 if parts else 1.0, "; ".join(parts)[:1000] or "the last words are as due")


def mentions(text: str, phrase: str) -> bool:
    """Whether a text holds a phrase on word boundaries; a number must stand there whole."""
    wanted = _folded(phrase)
    start = r"(?<!\w)" + (r"(?<!-)(?<!\d[.,:/])" if wanted[:1].isdigit() else "")
    end = r"(?!\w)" + (r"(?![.,:/-]\d)" if wanted[-1:].isdigit() else "")
    return bool(wanted) and re.search(start + re.escape(wanted) + end, _folded(text)) is not None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
