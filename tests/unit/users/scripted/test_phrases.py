"""Each pattern of an agent's English matches its samples and nothing that stands beside them."""

from __future__ import annotations

import re

import pytest

from synth.users.scripted import phrases


@pytest.mark.parametrize(("pattern", "matches", "misses"), phrases.SAMPLES)
def test_a_pattern_matches_its_samples(
    pattern: re.Pattern[str], matches: tuple[str, ...], misses: tuple[str, ...]
):
    assert matches
    assert misses
    assert [text for text in matches if not pattern.search(text)] == []
    assert [text for text in misses if pattern.search(text)] == []


def test_every_pattern_has_samples():
    named = {value for value in vars(phrases).values() if isinstance(value, re.Pattern)}
    assert named == {pattern for pattern, _, _ in phrases.SAMPLES}
