"""Slots and saved names inside values: compiled once, filled twice, never read as notation
again.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from synth.core.tasks.yaml.template import Unknown, compile_value, fill, names_in, rounded, text_of

SLOTS = frozenset({"bpm", "name", "allergies"})
SAVED = frozenset({"pid", "due"})


def filled(
    raw: Any, slots: dict[str, Any] | None = None, saved: dict[str, Any] | None = None
) -> Any:
    """As the pipeline does: slots when the task is made, saved names when it is played."""
    return fill(fill(compile_value(raw, SLOTS, SAVED), "$slot", slots or {}), "$", saved or {})


class TestCompile:
    @pytest.mark.parametrize(
        ("raw", "compiled"),
        [
            ("{bpm}", {"$slot": "bpm"}),
            ("$pid", {"$": "pid"}),
            ("{pid}", {"$": "pid"}),
            ("plain", "plain"),
            ("", ""),
            (5, 5),
            (None, None),
            (True, True),
            ("{bpm} bpm", {"$text": [{"$slot": "bpm"}, " bpm"]}),
            ("{{bpm}}", "{bpm}"),
            ("{{{bpm}}}", {"$text": ["{", {"$slot": "bpm"}, "}"]}),
            ("$$pid", "$pid"),
            ("costs $5", "costs $5"),
            ("$$pid is it", "$pid is it"),
            ("it is $$pid, $$bpm and $other", "it is $pid, $bpm and $other"),
            (["{bpm}", {"a": "$due"}], [{"$slot": "bpm"}, {"a": {"$": "due"}}]),
        ],
    )
    def test_notation(self, raw: Any, compiled: Any):
        assert compile_value(raw, SLOTS, SAVED) == compiled

    @pytest.mark.parametrize(
        ("raw", "words"),
        [
            ("$pid is it", "$pid stands inside a text: write {pid}"),
            ("it is $bpm.", "$bpm stands inside a text: write {bpm}"),
            ("it is $due.day.", "$due.day stands inside a text: write {due.day}"),
            ("$bpm", '$bpm is a slot: write "{bpm}"'),
        ],
    )
    def test_a_dollar_that_would_fill_in_nothing_is_refused(self, raw: str, words: str):
        with pytest.raises(ValueError, match=re.escape(words)):
            compile_value(raw, SLOTS, SAVED)

    @pytest.mark.parametrize(
        ("raw", "name"), [("{bmp}", "bmp"), ("$pdi", "pdi"), ("a {x} b", "x"), (["{y}"], "y")]
    )
    def test_an_unknown_name_is_named(self, raw: Any, name: str):
        with pytest.raises(Unknown) as caught:
            compile_value(raw, SLOTS, SAVED)
        assert caught.value.name == name

    @pytest.mark.parametrize("raw", ["{", "a } b", "{bpm", "{0}", "{}", "{a b}"])
    def test_a_stray_brace_is_refused_with_the_way_out(self, raw: str):
        with pytest.raises(ValueError, match=r"write (\{\{|\}\}) for a literal brace"):
            compile_value(raw, SLOTS, SAVED)

    def test_a_key_cannot_pass_for_notation(self):
        with pytest.raises(ValueError, match=r"must not begin with \$: '\$slot'"):
            compile_value({"$slot": "bpm"}, SLOTS, SAVED)


class TestFill:
    @pytest.mark.parametrize("value", [72, 7.5, True, None, ["a"], "72"])
    def test_a_value_that_is_one_name_keeps_its_type(self, value: Any):
        assert filled("{bpm}", {"bpm": value}) == value
        assert filled("$pid", {}, {"pid": value}) == value
        assert type(filled("{bpm}", {"bpm": value})) is type(value)

    def test_inside_a_sentence_everything_is_text(self):
        slots = {"bpm": 72, "name": "O'Brien", "allergies": ["penicillin", "latex"]}
        assert (
            filled("{name}: {bpm} bpm ({allergies})", slots)
            == "O'Brien: 72 bpm (penicillin and latex)"
        )
        assert filled("{name} is {pid}", slots, {"pid": 9}) == "O'Brien is 9"
        assert filled("{pid.often} a day", {}, {"pid": 1}) == "once a day"
        counted = compile_value("{orders} open orders, {days} days", {"orders", "days"}, set())
        assert fill(counted, "$slot", {"orders": 0, "days": 0}) == "no open orders, 0 days"

    @pytest.mark.parametrize("value", ["$pid", "{bpm}", "{{", "$$", "{pid}", "%s", "\\1"])
    def test_a_slots_value_is_never_read_as_notation_again(self, value: str):
        assert filled("{name}", {"name": value}, {"pid": 1}) == value
        assert filled("so {name}, {pid}", {"name": value}, {"pid": 1}) == f"so {value}, 1"

    def test_a_missing_name_is_a_key_error(self):
        with pytest.raises(KeyError, match="pid"):
            filled("$pid")

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "none"),
            ([], "none"),
            (True, "yes"),
            (False, "no"),
            ([1, "a", 2], "1, a and 2"),
            (2.5, "2.5"),
            ({"x y": 0, "1": "b", "2": 2}, "b: 0 x y, 2"),
            ([{"a": "b", "x_cents": 1250}], "b (12.50)."),
        ],
    )
    def test_how_values_read_in_a_sentence(self, value: Any, text: str):
        assert text_of(value) == text

    def test_which_names_a_value_refers_to(self):
        compiled = compile_value({"a": ["{bpm}", "x {name} {pid}"], "b": "$due"}, SLOTS, SAVED)
        assert names_in(compiled, "$slot") == {"bpm", "name"}
        assert names_in(compiled, "$") == {"pid", "due"}


def test_figures_read_as_a_person_would_write_them():
    raw = {"mean": 4.199999999999999, "parts": [0.1 + 0.2, 1e20, 3, True]}
    assert rounded(raw) == {"mean": 4.2, "parts": [0.3, 1e20, 3, True]}
    assert text_of([4.199999999999999, 2 / 3]) == "4.2 and 0.6666666667"
