"""Words, shingles and near-duplicates, held against a comparison of all pairs."""

from __future__ import annotations

import random

import pytest

from synth.core.foundation.near_duplicates import (
    SLOT,
    NearDuplicates,
    is_similar,
    masked,
    number_of,
    run_numbers,
    shingles,
    words,
)

NAMES = [f"name{number}" for number in range(40)]


def template(draw: random.Random) -> str:
    """A request of one template: most pairs are alike, few are near-duplicates."""
    one, two, day = draw.choice(NAMES), draw.choice(NAMES), draw.randrange(30)
    return (
        f"hello please look up the record of {one} {two} and tell me when the last visit"
        f" on day {day} was and whether it was paid in full thank you"
    )


def shuffled(draw: random.Random) -> str:
    return " ".join(draw.choices(NAMES, k=draw.randrange(1, 9)))


@pytest.mark.parametrize("make", [template, shuffled])
def test_it_finds_what_a_comparison_of_all_pairs_finds(make):
    draw = random.Random(5)
    texts = [shingles(words(make(draw))) for _ in range(400)]
    index, found = NearDuplicates(), []
    for text in texts:
        found.append(index.find(text))
        index.add(text)
    exact = [
        any(len(one & two) >= 0.8 * len(one | two) for two in texts[:place])
        for place, one in enumerate(texts)
    ]
    assert [number is not None for number in found] == exact
    assert 0 < sum(exact) < len(exact)
    for place, number in enumerate(found):
        assert number is None or (number < place and is_similar(texts[place], list(texts[number])))


def test_the_bound_itself_is_a_near_duplicate():
    assert is_similar(frozenset(range(10)), range(8))
    assert not is_similar(frozenset(range(10)), range(7))


def test_words_know_no_case_and_no_punctuation_and_split_scripts_without_spaces():
    assert words("Don't STOP: 4.5 mg!") == ["don", "t", "stop", "4", "5", "mg"]
    assert words("取消订单 A7") == ["取", "消", "订", "单", "a7"]
    assert words("?!") == []


def test_the_values_of_slots_are_masked_whole_and_longest_first():
    said = words("Give Ann-Marie Lee 5 mg on 2026-03-02, 25 in all; yes, Lee.")
    slots = {"name": "Ann-Marie Lee", "dose": 5, "days": ["2026-03-02"], "last": "Lee", "ok": True}
    assert " ".join(masked(said, slots)) == (
        f"give {SLOT} {SLOT} mg on {SLOT} 25 in all yes {SLOT}"
    )
    assert masked(["a", "a", "a"], {"x": "a"}) == [SLOT] * 3
    assert masked(said, {}) == said


def test_a_run_longer_than_the_text_is_the_whole_text():
    assert run_numbers(["a", "b"], 3) == [number_of(["a", "b"])]
    assert len(run_numbers(["a", "b", "c", "d"], 3)) == 2
