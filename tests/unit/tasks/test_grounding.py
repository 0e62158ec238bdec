"""Grounding: the order in which rows and varied values are taken."""

from __future__ import annotations

from decimal import Decimal

import pytest

from synth.core.tasks.domains import Choice, Range
from synth.core.tasks.grounding import by_text, combination, permuted


class TestOrder:
    @pytest.mark.parametrize("size", [1, 2, 3, 5, 16, 17, 100, 257, 1000])
    def test_permuted_is_a_bijection(self, size: int):
        assert sorted(permuted(at, size, "7/record") for at in range(size)) == list(range(size))

    def test_the_key_chooses_the_permutation(self):
        def order(key: str) -> list[int]:
            return [permuted(at, 100, key) for at in range(100)]

        assert order("a") == order("a")
        assert len({tuple(order(key)) for key in ("a", "b", "c", "1/x", "2/x")}) == 5
        assert order("a") != list(range(100))

    def test_ten_billion_places_are_no_list(self):
        places = [permuted(at, 10**10, "k") for at in range(200)]
        assert len(set(places)) == 200
        assert all(0 <= each < 10**10 for each in places)

    def test_combination_counts_through_the_product_the_last_domain_fastest(self):
        domains = {"a": Choice(("x", "y")), "b": Range(Decimal(1), Decimal(1), 3, whole=True)}
        assert [tuple(combination(at, domains).items()) for at in range(6)] == [
            (("a", a), ("b", b)) for a in ("x", "y") for b in (1, 2, 3)
        ]
        assert combination(0, {}) == {}

    def test_rows_are_sorted_by_content_and_stand_once(self):
        rows = [{"a": 2}, {"a": 10}, {"a": 2}, {"a": None}]
        assert [*by_text(rows).items()] == [*by_text(rows[::-1]).items()]
        assert len(by_text(rows)) == 3
