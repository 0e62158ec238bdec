"""The values of `vary`: what each kind holds, and what is no domain."""

from __future__ import annotations

from typing import Any

import pytest

from synth.core.tasks.domains import parse_domain


def nothing(sql: str) -> list[Any]:
    return []


class TestDomains:
    @pytest.mark.parametrize(
        ("raw", "values"),
        [
            ({"int": [1, 4]}, [1, 2, 3, 4]),
            ({"int": [0, 10, 5]}, [0, 5, 10]),
            ({"int": [0, 11, 5]}, [0, 5, 10]),
            ({"int": [3, 3]}, [3]),
            ({"float": [0.1, 0.5, 0.1]}, [0.1, 0.2, 0.3, 0.4, 0.5]),
            ({"choice": ["a", 1, None, True]}, ["a", 1, None, True]),
            ({"date": ["2024-02-28", "2024-03-01"]}, ["2024-02-28", "2024-02-29", "2024-03-01"]),
        ],
    )
    def test_values(self, raw: Any, values: list[Any]):
        domain = parse_domain(raw, nothing, 0)
        assert [domain[at] for at in range(len(domain))] == values

    @pytest.mark.parametrize(
        ("raw", "words"),
        [
            ({"int": [5, 1]}, "range is empty"),
            ({"int": [1, 5, 0]}, "the step must be above 0"),
            ({"int": [0, 10**20]}, "too many values"),
            ({"choice": [1, 1]}, "twice"),
            ({"date": ["2024-01-01"]}, "two ISO dates"),
            ({"date": ["2024-13-01", "2024-14-01"]}, "two ISO dates"),
            ({"date": ["2024-02-01", "2024-01-01"]}, "before the first"),
            ({"sql": "SELECT 1 WHERE 0"}, "the query gives no value"),
            ({"fake": "nmae"}, "faker has no provider 'nmae'; did you mean 'name'?"),
            (
                {"fake": "name", "locale": "de_D"},
                "faker has no locale 'de_D'; did you mean 'de_DE'?",
            ),
            ({"fake": "boolean", "count": 5}, "boolean has no 5 different values; 2 were found"),
            ({"fake": "binary", "count": 1}, "binary gives no JSON value"),
        ],
    )
    def test_what_is_no_domain_is_said_in_words(self, raw: Any, words: str):
        with pytest.raises(ValueError, match=words):
            parse_domain(raw, nothing, 0)


def test_a_columns_values_are_taken_once_in_an_order_of_their_own():
    """Whatever the database's order: it may differ between engines."""
    found = [
        parse_domain({"sql": "SELECT x;"}, lambda _, rows=rows: rows, 0)
        for rows in (["b", "a", 2, "b"], [2, "a", "b"])
    ]
    assert [[one[at] for at in range(len(one))] for one in found] == [["a", "b", 2]] * 2


def test_the_query_is_asked_without_its_semicolon():
    asked: list[str] = []
    parse_domain({"sql": "SELECT 1;\n"}, lambda sql: [asked.append(sql)], 0)
    assert asked == ["SELECT 1"]


class TestFake:
    def values(self, seed: int, **entry: Any) -> list[Any]:
        domain = parse_domain(entry, nothing, seed)
        return [domain[at] for at in range(len(domain))]

    def test_the_seed_decides_and_all_are_different(self):
        one, again, other = (self.values(seed, fake="name", count=200) for seed in (1, 1, 2))
        assert one == again
        assert one != other
        assert len(set(one)) == 200

    def test_a_hundred_where_it_does_not_say(self):
        assert len(self.values(1, fake="city")) == 100

    def test_the_locale(self):
        cities = self.values(5, fake="city", count=50, locale="de_DE")
        assert cities != self.values(5, fake="city", count=50)
        assert any(letter in "äöüß" for city in cities for letter in city)

    def test_values_are_json(self):
        assert all(isinstance(each, float) for each in self.values(1, fake="latitude", count=3))

    @pytest.mark.parametrize(
        "entry",
        [{"fake": "date_of_birth"}, {"fake": "profile"}, {"fake": "ssn", "locale": "sv_SE"}],
    )
    def test_what_depends_on_the_day_is_refused(self, entry: dict[str, Any]):
        with pytest.raises(
            ValueError, match="depends on the day on which it is asked; for days write"
        ):
            self.values(1, **entry)
