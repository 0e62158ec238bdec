"""What one look at a text tells is what the walk through the value tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envs.json_text import compact
from synth.core.dataset.clean import clean_row, safe_text
from synth.core.dataset.sanitize import MAX_DEPTH, sanitize
from synth.core.dataset.store.wire import to_wire

texts = st.text(st.characters(codec=None), max_size=6) | st.sampled_from(
    ["\x00", "\ud800", "\\u0000", "9" * 19, "[" * 200]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@given(values)
@example(2**63)
@example(-(2**63) - 1)
@example({"k": float("nan")})
@example(nested(MAX_DEPTH))
@example(nested(MAX_DEPTH + 1))
def test_a_text_is_given_only_of_what_nothing_has_to_change_in(value: Any):
    text = safe_text(value, MAX_DEPTH)
    assert text is None or (not sanitize(value)[1] and text == compact(value))


@pytest.mark.parametrize(
    "value", ["plain", "ä \\u00 \x01", 2**53, -1.5e300, {"a": [1, {"b": None}]}, nested(MAX_DEPTH)]
)
def test_of_what_rows_mostly_hold_it_is_given(value: Any):
    assert safe_text(value, MAX_DEPTH) == json.dumps(
        value, ensure_ascii=False, separators=(",", ":")
    )


@given(st.lists(values, max_size=3), values)
def test_a_rows_columns_are_what_the_walk_makes_of_them(events: list[Any], submitted: Any):
    row = clean_row({"events": events, "submitted": submitted})
    cleaned = {
        name: sanitize(value)[0] for name, value in (("events", events), ("submitted", submitted))
    }
    assert row["sanitized"] is any(sanitize(value)[1] for value in (events, submitted))
    wire = to_wire(row)
    assert wire["events"] == [compact(each) for each in cleaned["events"]]
    assert wire["submitted"] == (None if submitted is None else compact(cleaned["submitted"]))
