"""The one encoder writes what ``json.dumps`` writes, and refuses what it refuses."""

from __future__ import annotations

import json
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.json_text import compact


class Word(StrEnum):
    A = "a"


class Number(IntEnum):
    ONE = 1


KEYS = (
    st.text(st.characters(codec=None), max_size=3)
    | st.integers()
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False)
)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
)
LEAVES |= st.sampled_from([Word.A, Number.ONE, object(), b"x", {1}])
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_it_writes_what_json_dumps_writes(value: Any):
    """Letter by letter, twice: nothing is left behind by a value that was refused."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        for _ in range(2):
            with pytest.raises(type(error)):
                compact(value)
    else:
        assert [compact(value), compact(value)] == [text, text]


def test_what_holds_itself_is_refused():
    """Without end there is no text."""
    value: list[Any] = []
    value.append({"a": value})
    with pytest.raises((RecursionError, ValueError)):
        compact(value)
    assert compact([]) == "[]"
