"""The wire form: what goes in comes out, and what would break a reader does not go in."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.core.dataset.clean import clean_row
from synth.core.dataset.columns import COLUMNS
from synth.core.dataset.sanitize import sanitize
from synth.core.dataset.store.wire import RowError, decode, encode, job_index, to_values, to_wire
from synth.errors import DatasetError
from tests.unit.dataset.rows import row, values
from tests.unit.dataset.test_clean import nested

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def test_a_row_comes_back_as_it_went_in():
    """Every column, absent nullable ones as None, times to the microsecond."""
    for index in (0, 1, 7):
        back = to_values(decode(row(index)))
        assert back == {col.name: None for col in COLUMNS} | values(index)
        assert list(back) == [col.name for col in COLUMNS]
    assert job_index(row(41)) == 41


def test_key_order_and_text_survive():
    """The order of a message's keys is what templates render; it is not sorted away."""
    made = values(
        1, messages=[{"role": "user", "content": "Zoë \U0001f600 \x7f"}, {"b": 1, "a": 2}]
    )
    back = decode(encode(to_wire(made)))
    assert back["messages"] == ['{"role":"user","content":"Zoë \U0001f600 \x7f"}', '{"b":1,"a":2}']


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("reward", math.nan, "finite"),
        ("latency_s", math.inf, "finite"),
        ("family", None, "null"),
        ("family", 3, "string"),
        ("family", "\ud800", "surrogate"),
        ("job_index", True, "integer"),
        ("num_turns", 2**31, "less than 2147483648"),
        ("seed", 2**63, "less than 9223372036854775808"),
        ("sanitized", 0, "boolean"),
        ("created_at", "2026-01-01", "datetime"),
        ("messages", "[]", "JSON text"),
        ("messages", ["{}"], "JSON text"),
        ("messages", [{"role": "user"}], "JSON text"),
        ("token_ids", [[2**31]], "less than 2147483648"),
        ("logprobs", [[math.nan]], "finite"),
        ("error_categories", [1], "string"),
    ],
)
def test_what_breaks_readers_is_refused_by_column(column: str, value: object, says: str):
    """Each is a typed error that survives pickling; text columns name no column, the others do."""
    with pytest.raises(RowError, match=says) as caught:
        encode(to_wire(values(1)) | {column: value})
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    assert caught.value.column == column or "text column" in str(caught.value)


def test_columns_must_be_the_pinned_ones():
    """A missing column and an unknown one are bugs in the caller."""
    made = to_wire(values(1))
    with pytest.raises(RowError, match="unknown columns: colour"):
        encode(made | {"colour": "red"})
    del made["messages"]
    with pytest.raises(RowError, match="column messages: is missing"):
        encode(made)


@pytest.mark.parametrize(
    "data", [b"", b"x" * 11, b"\0" * 12, row(1)[:-1], row(1) + b"x", row(1)[:60]]
)
def test_what_is_no_row_is_a_dataset_error(data: bytes):
    """Also where the bytes were cut or prolonged."""
    with pytest.raises(DatasetError):
        decode(data)


@given(JSON)
def test_sanitized_values_can_always_be_kept(value: object):
    """Whatever a model emits: after sanitising it encodes, twice sanitised is once, and the flag is
    true.
    """
    clean, changed = sanitize(value)
    assert to_values(decode(encode(to_wire(values(1, events=[clean])))))["events"] == [clean]
    assert sanitize(clean) == (clean, False)
    assert changed == (clean is not value)


@given(JSON, JSON)
def test_a_clean_row_is_kept_like_any_other(value: object, tool: object):
    """What is known of its values saves reading them, twice as often for what recurs, and changes
    no byte.
    """
    made = values(1, events=[value], tools=[tool])
    clean = clean_row(made)
    events, tools = sanitize([value]), sanitize([tool])
    plain = made | {"events": events[0], "tools": tools[0], "sanitized": events[1] or tools[1]}
    assert clean == plain
    assert encode(to_wire(clean)) == encode(to_wire(clean_row(made))) == encode(to_wire(plain))


@pytest.mark.parametrize(
    "opening",
    [
        {"role": "system", "content": "Be kind."},
        {"content": "Be kind.", "role": "system"},
        {"role": "system", "content": "Be kind.", "name": "a"},
        {"role": "system", "content": ["Be kind."]},
        {"role": "user", "content": "Be kind."},
    ],
)
def test_an_opening_is_kept_as_it_stands(opening: dict[str, object]):
    """A policy's text is kept from row to row; it stands for no other message."""
    made = values(1, messages=[opening])
    clean = [to_wire(clean_row(made))["messages"] for _ in range(2)]
    assert clean == [to_wire(made)["messages"]] * 2


def test_what_recurs_is_told_apart_by_type():
    """To Python 1, 1.0 and True are one value."""
    kept = [
        to_values(decode(encode(to_wire(clean_row(values(1, tools=[{"default": value}]))))))[
            "tools"
        ]
        for value in (1, True, 1.0, 0, False)
    ]
    assert json.dumps(kept) == (
        '[[{"default": 1}], [{"default": true}], [{"default": 1.0}], [{"default": 0}],'
        ' [{"default": false}]]'
    )


@pytest.mark.parametrize("column", ["events", "tools"])
@pytest.mark.parametrize("value", [2**63, math.nan, "\ud800", "\x00", {1}, nested(200)])
def test_a_value_put_into_a_clean_row_is_read_again(column: str, value: object):
    """Only what was found fit is taken at its word."""
    made = clean_row(values(1))
    made[column] = [{"a": value}]
    with pytest.raises(RowError, match=r"not every reader|not JSON"):
        to_wire(made)


def test_sanitize_keeps_the_meaning_readable():
    """Escapes and strings, never loss."""
    clean, changed = sanitize(
        {"a\ud800": [2**64, -(2**63), math.nan, -math.inf, "x\x00y"], "b": True}
    )
    assert changed
    assert clean == {
        r"a\ud800": ["18446744073709551616", -(2**63), "NaN", "-Infinity", r"x\u0000y"],
        "b": True,
    }
    assert sanitize({"\x00": 1, r"\u0000": 2})[0] == {r"\u0000_": 1, r"\u0000": 2}


def test_sanitize_survives_depth_and_size():
    """A value nested ten thousand deep, and an integer that Python refuses to print."""
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    clean, changed = sanitize(deep)
    assert changed
    json.dumps(clean)
    assert sanitize(10**5000)[0].startswith("0x")


def test_workers_need_no_pyarrow():
    """The wire and the error row import neither pyarrow nor duckdb."""
    code = (
        "import sys, synth.core.dataset.store.wire, synth.core.dataset.store.error_row; print({'pyarrow',"
        " 'duckdb'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
