"""The gate ``says``: words that the assistant says or must not say, in any turn."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import cast

from synth.evidence import Evidence, Verifier
from synth.verdict import Verdict


class SaysVerifier(Verifier):
    """Passes if the assistant's words contain ``all`` of some phrases and ``none`` of others.

    Phrases count as whole words: "12" is not in "112", "12.5" or "2026-01-12", and "allergic" is
    not in "no allergies". Case and white space do not count. A denial ("not Monday") is for
    ``none`` to name.
    """

    name = "says"

    def parse_options(self, raw: object) -> Mapping[str, Sequence[str]]:
        return cast("Mapping[str, Sequence[str]]", raw)

    def verify(self, evidence: Evidence, options: Mapping[str, Sequence[str]]) -> Verdict:
        said = "\n".join(words.text for words in evidence.spoken)
        absent = [phrase for phrase in options.get("all") or () if not mentions(said, phrase)]
        present = [phrase for phrase in options.get("none") or () if mentions(said, phrase)]
        parts = [
            f"{label}: {', '.join(map(repr, phrases))}"
            for label, phrases in (("not said", absent), ("said, yet must not be", present))
            if phrases
        ]
        reason = "; ".join(parts)[:1000] or "the words are as due"
        return Verdict(self.name, 0.0 if parts else 1.0, reason)


def mentions(text: str, phrase: str) -> bool:
    """Look for a phrase on word boundaries; a number has to be there as a whole."""
    wanted = _folded(phrase)
    start = r"(?<!\w)" + (r"(?<!-)(?<!\d[.,:/])" if wanted[:1].isdigit() else "")
    end = r"(?!\w)" + (r"(?![.,:/-]\d)" if wanted[-1:].isdigit() else "")
    return bool(wanted) and re.search(start + re.escape(wanted) + end, _folded(text)) is not None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
