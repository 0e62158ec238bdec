"""Prices: one's own win, those of a known model are found, the rest is unknown."""

from __future__ import annotations

import pytest

from synth.config import from_dict, problems
from synth.core.config.prices import CACHED, INPUT, OUTPUT, missing_prices, prices_of
from synth.core.models.openai.endpoint import Endpoint
from synth.core.runner.setup import run_spec


def section(**keys: object) -> dict[str, object]:
    empty = dict.fromkeys((INPUT, OUTPUT, CACHED, "base_url"))
    return {"kind": "openai", **empty, **keys}


def test_a_known_model_at_its_own_address_has_a_price():
    found = prices_of(section(), "gpt-4.1-mini")
    assert 0 < found[CACHED] < found[INPUT] < found[OUTPUT]
    at_anthropic = section(base_url="https://api.anthropic.com/v1")
    assert prices_of(at_anthropic, "claude-sonnet-4-5")[INPUT] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("Qwen/Qwen3-8B", None),
        ("gpt-4.1-mini", "http://127.0.0.1:8000/v1"),
        ("gpt-4.1-mini", "https://llm.mycompany.example/v1"),
        ("no-such-model", "https://openrouter.ai/api/v1"),
        (None, None),
    ],
)
def test_what_is_not_known_is_unknown_and_never_free(name: str | None, url: str | None):
    assert prices_of(section(base_url=url), name) == {}
    assert missing_prices(section(base_url=url), name) == [INPUT, OUTPUT]


def test_ones_own_prices_win_also_where_they_are_zero():
    own = section(**{INPUT: 0.0, OUTPUT: 0.0})
    assert prices_of(own, "gpt-4.1-mini") == {INPUT: 0.0, OUTPUT: 0.0}
    assert missing_prices(section(**{INPUT: 1.0}), "gpt-4.1-mini") == [OUTPUT]


def raw(**model: object) -> dict[str, object]:
    return {
        "env": {"name": "library"},
        "model": {"kind": "openai", "name": "gpt-4.1-mini"} | model,
        "budget": {"usd": 1.0},
        "agent": {"max_cost_usd": 0.1},
    }


def test_a_budget_in_dollars_works_for_a_known_model(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    assert problems(raw()) == []
    options = run_spec(from_dict(raw())).model.options
    assert isinstance(options, Endpoint)
    assert options.prices is not None
    assert options.prices.input > 0


def test_and_is_refused_where_nobody_knows_the_price():
    lines = problems(raw(name="mine", base_url="http://127.0.0.1:8000/v1"))
    assert len(lines) == 2
    assert all("those of 'mine' at this address are not known" in line for line in lines)
