"""What reaches a terminal, and what reaches a pipe."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from synth.core.screen import Screen, safe
from synth.core.screen.screen import laid_out


def printed(show, *, terminal, width=40):
    file = io.StringIO()
    show(Screen(file, terminal=terminal, width=width))
    return file.getvalue()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb", "a\\x0db"),
        ("a\r\nb", "a\nb"),
        ("\x07\x00\x7f", "\\x07\\x00\\x7f"),
        ("\u202egpj", "\\u202egpj"),
        ("\ud83d", "\\ud83d"),
        ("\U000e0041", "\\U000e0041"),
        ("Zoë 👩‍👩‍👧 \t日本", "Zoë 👩‍👩‍👧 \t日本"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out(raw, shown):
    assert safe(raw) == shown


@given(st.text(st.characters()))
def test_no_control_character_passes(text):
    assert all(
        char in "\n\t" or not (ord(char) < 32 or 127 <= ord(char) < 160) for char in safe(text)
    )
    safe(text).encode()


def test_markup_in_data_is_text():
    """Neither rich's markup nor its emoji codes nor its highlighting."""
    text = "[bold]x[/bold] [/] :smile: 12 'a'"
    assert printed(lambda screen: screen.line(text), terminal=True) == text + "\n"
    table = printed(lambda screen: screen.table(("a",), [(text,)]), terminal=True)
    assert text in table


def test_a_pipe_gets_no_colour_no_wrapping_and_no_truncation():
    long = "word " * 500
    out = printed(
        lambda screen: (
            screen.line(long, "red", indent=4),
            screen.table(("name", "text"), [("a", long), ("b", "short")]),
            screen.columns([("id", "reason"), ("1", long)]),
        ),
        terminal=False,
    )
    assert "\x1b" not in out
    lines = out.splitlines()
    assert len(lines) == 6
    assert lines[0] == "    " + long
    assert lines[2] == "  a     " + long.strip()
    assert lines[3] == "  b     short"
    assert lines[5] == "1   " + long.strip()


def test_a_terminal_gets_lines_that_fit():
    """Wide characters are counted as two columns; a listing is cut, everything else wrapped."""
    wide = "日本語" * 40
    out = printed(
        lambda screen: (
            screen.line(wide, indent=4),
            screen.table(("name", "text"), [("a", wide)]),
            screen.columns([("id", "reason"), ("1", wide)]),
        ),
        terminal=True,
    )
    plain = out.replace("\x1b[2m", "").replace("\x1b[1;2m", "").replace("\x1b[0m", "")
    assert max(map(cell_len, plain.splitlines())) <= 40
    assert plain.count("日") >= 80
    assert plain.splitlines()[-1].endswith("…")


def test_columns_line_up_and_numbers_stand_right():
    out = printed(
        lambda screen: screen.table(("tool", "n"), [("é日", "5"), ("abcd", "100")], right=(1,)),
        terminal=False,
    )
    assert out == "  tool    n\n  é日     5\n  abcd  100\n"


def test_an_ascii_stream_does_not_end_the_report():
    raw = io.BytesIO()
    screen = Screen(io.TextIOWrapper(raw, encoding="ascii", write_through=True), terminal=False)
    screen.line("Zoë")
    assert raw.getvalue() == b"Zo\\xeb\n"


RECORDS = {
    "count": 2,
    "people": [{"id": n, "name": "Zoë", "born": "1990-01-01", "status": "active"} for n in (1, 2)],
}


def test_json_is_opened_only_where_it_does_not_fit():
    """A list of records stays a line a record, and a record too long for a line fills the lines
    that it needs.
    """
    assert laid_out(RECORDS, 200) == json.dumps(RECORDS, ensure_ascii=False)
    assert laid_out(RECORDS, 80).splitlines() == [
        "{",
        '  "count": 2,',
        '  "people": [',
        '    {"id": 1, "name": "Zoë", "born": "1990-01-01", "status": "active"},',
        '    {"id": 2, "name": "Zoë", "born": "1990-01-01", "status": "active"}',
        "  ]",
        "}",
    ]
    assert laid_out(RECORDS["people"][0], 40).splitlines() == [
        '{"id": 1, "name": "Zoë",',
        ' "born": "1990-01-01",',
        ' "status": "active"}',
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99999) | st.text("aé日", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values, st.integers(30, 90))
def test_json_that_is_laid_out_is_the_same_json_within_the_width(value, width):
    text = laid_out(value, width)
    assert json.loads(text) == value
    deepest = max(len(line) - len(line.lstrip()) for line in text.splitlines())
    assert max(map(cell_len, text.splitlines())) <= max(
        width, deepest + 45
    )  # a key and a value that cannot be broken
