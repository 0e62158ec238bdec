"""The options of an extension."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, model_validator

from synth.config.options import parse_options
from synth.errors import ConfigProblems


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
