"""The tables of messages: each rule matches its example, and its counterexample stays out."""

from __future__ import annotations

import pytest

from envs.sql_errors.words import (
    OTHER_WORDS,
    POSTGRES_ALONE,
    POSTGRES_WORDS,
    SQLITE_WORDS,
    WordRule,
)

TABLES = {
    "sqlite": SQLITE_WORDS,
    "postgres": POSTGRES_WORDS,
    "postgres alone": POSTGRES_ALONE,
    "others": OTHER_WORDS,
}
RULES = [
    pytest.param(table, rule, id=f"{name}: {rule.matches}")
    for name, table in TABLES.items()
    for rule in table
]


@pytest.mark.parametrize(("table", "rule"), RULES)
def test_each_rule_matches_its_example_and_not_its_counterexample(
    table: list[WordRule], rule: WordRule
):
    assert rule.pattern.search(rule.matches)
    assert not rule.pattern.search(rule.matches_not)


@pytest.mark.parametrize(("table", "rule"), RULES)
def test_no_rule_before_it_takes_the_example_into_another_category(
    table: list[WordRule], rule: WordRule
):
    first = next(other for other in table if other.pattern.search(rule.matches))
    assert first.category is rule.category


@pytest.mark.parametrize("name", TABLES)
def test_no_pattern_is_there_twice(name: str):
    patterns = [rule.pattern.pattern for rule in TABLES[name]]
    assert len(set(patterns)) == len(patterns)
