"""Issue 29, public schemata: the rules of columns that are called ``lock``, ``show`` or ``comment``
were lost, as the parser took the column for a command and said so on the terminal.
"""

from __future__ import annotations

import pytest

from synth.ext.authoring.checks import condition, default


@pytest.mark.parametrize(
    ("text", "dialect", "held"),
    [
        ("(lock = 'X'::bpchar)", "postgres", "\"lock\" = 'X'"),
        ("show > 1", "postgres", '"show" > 1'),
        ("kind = ANY (ARRAY['A'::bpchar, 'B'::bpchar])", "postgres", "kind IN ('A', 'B')"),
        ("comment <> '' -- set by hand", "sqlite", "comment <> '' /* set by hand */"),
        ("`load` >= 0 and `kill` < 2", "mysql", '"load" >= 0 AND "kill" < 2'),
    ],
)
def test_the_condition_is_kept(text: str, dialect: str, held: str):
    assert condition(text, dialect, ["lock", "show", "kind", "comment", "load", "kill"]) == held


@pytest.mark.parametrize("text", ["NULL", "NULL::bigint", "NULL::character varying"])
def test_a_default_of_null_is_null_in_any_type(text: str):
    assert default(text, "postgres") == "NULL"
