"""The options of an extension, and values on the command line, which are quoted as Hydra does."""

from __future__ import annotations

import pytest
from hydra.core.override_parser.types import Quote, QuotedString
from pydantic import BaseModel, model_validator

from synth.config import from_dict
from synth.core.config.options import parse_options
from synth.core.config.quoting import quoted_value
from synth.errors import ConfigProblems
from synth.prepare import prepare


class Choice(BaseModel):
    first: int = 0
    second: int = 0

    @model_validator(mode="after")
    def only_one(self) -> Choice:
        if self.first and self.second:
            raise ValueError("first and second exclude each other")
        return self


def test_a_problem_of_several_options_names_the_key_that_holds_them():
    with pytest.raises(ConfigProblems) as caught:
        parse_options(Choice, {"first": 1, "second": 2}, "agent.options.choice")
    assert str(caught.value) == "agent.options.choice: first and second exclude each other"


def test_wrong_options_of_several_sections_are_reported_at_once():
    wrong = {"nonsense": 1}
    sections = ("database", "model", "tasks", "users")
    config = from_dict(
        {"env": {"name": "library"}} | {section: {"options": wrong} for section in sections}
    )
    with pytest.raises(ConfigProblems) as caught:
        prepare(config)
    assert [line.split(":")[0] for line in caught.value.problems] == [
        "model.options.nonsense",
        "users.options.nonsense",
        "database.options.nonsense",
        "tasks.options.nonsense",
    ]


@pytest.mark.parametrize(
    "value",
    ["a,b", 'say "hi"', "back\\slash,", "end,\\", 'a\\"b', "{x: 1}", "it's $x", '\\\\"', '"', ",\n\\\n"],
)  # fmt: skip
def test_a_value_is_quoted_as_hydra_quotes_it(value: str):
    assert quoted_value(value) == QuotedString(value, Quote.double).with_quotes()


def test_a_plain_word_stays_plain():
    assert quoted_value("/tmp/my world-1.0") == "/tmp/my world-1.0"
