"""The state gate: net row changes against gold's, up to one consistent renaming of generated
keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from envs.types import Column, RowChange, Table
from synth.core.rewards.state.columns import Columns
from synth.core.rewards.state.matching import compare
from synth.core.rewards.state.verifier import StateVerifier, erased
from synth.core.types.checks import EndRules
from synth.evidence import CallRecord, Evidence
from synth.task import GoldEnd, Task


def table(name: str, *columns: Column) -> Table:
    return Table(name, columns, tuple(each.name for each in columns if each.primary_key))


def key(name: str = "id", kind: str = "INTEGER") -> Column:
    return Column(name, kind, nullable=False, primary_key=True)


TABLES = {
    each.name: each
    for each in (
        table(
            "orders",
            key(),
            Column("note", "TEXT"),
            Column("total", "REAL"),
            Column("paid", "BOOLEAN"),
        ),
        table(
            "lines",
            key(),
            Column("order_id", "INTEGER", references=("orders", "id")),
            Column("product", "TEXT"),
        ),
        table(
            "notes",
            key(),
            Column("line_id", "INTEGER", references=("lines", "id")),
            Column("text", "TEXT"),
        ),
        table(
            "nodes",
            key(),
            Column("parent", "INTEGER", references=("nodes", "id")),
            Column("name", "TEXT"),
        ),
        table("tags", key("word", "VARCHAR(20)"), Column("weight", "INTEGER")),
        table(
            "extras",
            Column("order_id", "INTEGER", primary_key=True, references=("orders", "id")),
            Column("gift", "TEXT"),
        ),
    )
}


def insert(name: str, /, **row: Any) -> RowChange:
    keys = TABLES[name].primary_key
    return RowChange(name, "insert", {each: row[each] for each in keys}, after=row)


def update(name: str, at: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> RowChange:
    return RowChange(name, "update", {TABLES[name].primary_key[0]: at}, before=before, after=after)


def delete(name: str, /, **row: Any) -> RowChange:
    return RowChange(
        name, "delete", {each: row[each] for each in TABLES[name].primary_key}, before=row
    )


def equal(expected: list[RowChange], actual: list[RowChange], **rules: Any) -> bool:
    """``orders__total={"abs": 1}`` stands for the rule of ``orders.total``."""
    named = {name.replace("__", "."): rule for name, rule in rules.items()}
    return compare(expected, actual, named, TABLES).equal


ORDER = insert("orders", id=41, note="two", total=25, paid=True)


class TestPlainChanges:
    def test_the_same_changes_are_equal(self):
        changes = [
            ORDER,
            update("orders", 7, {"total": 1}, {"total": 2}),
            delete("orders", id=8, note="", total=0, paid=False),
        ]
        assert equal(changes, list(reversed(changes)))
        assert equal([], [])

    def test_what_was_not_done_is_missing_and_what_was_done_besides_is_collateral(self):
        done, due = (
            update("orders", 7, {"total": 1}, {"total": 2}),
            delete("tags", word="x", weight=1),
        )
        found = compare([due, ORDER], [done, ORDER], {}, TABLES)
        assert (found.missing, found.collateral) == ([due], [done])

    def test_a_row_with_a_wrong_value_is_both(self):
        wrong = insert("orders", id=41, note="three", total=25, paid=True)
        found = compare([ORDER], [wrong], {}, TABLES)
        assert (found.missing, found.collateral) == ([ORDER], [wrong])

    def test_the_same_row_twice_is_once_too_often(self):
        again = insert("orders", id=42, note="two", total=25, paid=True)
        assert compare([ORDER], [ORDER, again], {}, TABLES).collateral == [again]
        assert compare([ORDER, again], [ORDER], {}, TABLES).missing == [again]

    def test_an_update_must_touch_the_same_row_and_the_same_columns(self):
        due = update("orders", 7, {"total": 1}, {"total": 2})
        assert not equal([due], [update("orders", 8, {"total": 1}, {"total": 2})])
        more = update("orders", 7, {"total": 1, "note": ""}, {"total": 2, "note": "x"})
        assert not equal([due], [more])
        assert not equal([more], [due])

    def test_an_unknown_table_compares_by_its_columns(self):
        change = RowChange("mystery", "insert", {"rowid": 1}, after={"a": 1})
        assert compare([change], [change], {}, {}).equal
        assert not compare(
            [change], [RowChange("mystery", "insert", {"rowid": 1}, after={"a": 2})], {}, {}
        ).equal


class TestValues:
    @pytest.mark.parametrize(
        ("note", "same"), [("quite different", True), ("  ", False), (None, False)]
    )
    def test_free_text_must_be_there_and_may_say_anything(self, note: Any, same: bool):
        actual = insert("orders", id=41, note=note, total=25, paid=True)
        assert equal([ORDER], [actual], orders__note="free_text") is same

    def test_an_ignored_column_may_hold_anything_and_may_be_absent(self):
        rows = [
            insert("orders", id=41, note="other", total=25, paid=True),
            insert("orders", id=41, total=25, paid=True),
        ]
        for row in rows:
            assert equal([ORDER], [row], orders__note="ignore")
            assert compare([ORDER], [row], {"*.note": "ignore"}, TABLES).equal
            assert not equal([ORDER], [row])

    def test_an_update_of_ignored_columns_only_is_nothing(self):
        touch = update("orders", 7, {"note": "a"}, {"note": "b"})
        assert equal([], [touch], orders__note="ignore")
        assert equal([touch], [], orders__note="ignore")
        assert not equal([], [touch])

    def test_the_rule_of_a_table_wins_over_the_rule_of_all_tables(self):
        actual = insert("orders", id=41, note="other", total=25, paid=True)
        assert not compare(
            [ORDER], [actual], {"*.note": "ignore", "orders.note": "exact"}, TABLES
        ).equal


class TestGeneratedKeys:
    def test_a_generated_key_may_be_any_other(self):
        assert equal([ORDER], [insert("orders", id=99, note="two", total=25, paid=True)])

    def test_a_key_that_somebody_chose_may_not(self):
        assert not equal([insert("tags", word="a", weight=1)], [insert("tags", word="b", weight=1)])

    def test_children_follow_their_parents_new_name(self):
        expected = [
            insert("orders", id=41, note="a", total=1, paid=True),
            insert("lines", id=1, order_id=41, product="tea"),
        ]
        actual = [
            insert("orders", id=50, note="a", total=1, paid=True),
            insert("lines", id=9, order_id=50, product="tea"),
        ]
        assert equal(expected, actual)
        stray = [actual[0], insert("lines", id=9, order_id=7, product="tea")]
        assert not equal(expected, stray)
        literal = [actual[0], insert("lines", id=9, order_id=41, product="tea")]
        assert not equal(expected, literal), "the number of gold's order means nothing here"

    def test_a_key_that_is_itself_a_reference_follows_too(self):
        expected = [ORDER, insert("extras", order_id=41, gift="bow")]
        renamed = insert("orders", id=50, note="two", total=25, paid=True)
        assert equal(expected, [renamed, insert("extras", order_id=50, gift="bow")])
        assert not equal(expected, [renamed, insert("extras", order_id=41, gift="bow")])

    def test_references_to_rows_that_were_there_keep_their_number(self):
        expected = [insert("lines", id=1, order_id=7, product="tea")]
        assert equal(expected, [insert("lines", id=2, order_id=7, product="tea")])
        assert not equal(expected, [insert("lines", id=2, order_id=8, product="tea")])

    def test_the_difference_may_lie_in_the_grandchildren(self):
        def tree(first: str, second: str) -> list[RowChange]:
            out: list[RowChange] = []
            for at, text in ((1, first), (2, second)):
                out.append(insert("orders", id=at, note="a", total=1, paid=True))
                out.append(insert("lines", id=at, order_id=at, product="tea"))
                out.append(insert("notes", id=at, line_id=at, text=text))
            return out

        assert equal(tree("x", "y"), tree("y", "x"))
        assert not equal(tree("x", "y"), tree("x", "x"))


class TestMany:
    """These end in a moment or, were the search naive, never (or beyond the depth of Python's
    stack).
    """

    def test_thousands_of_identical_rows(self):
        rows = [insert("orders", id=at, note="a", total=1, paid=True) for at in range(3000)]
        moved = [insert("orders", id=at, note="a", total=1, paid=True) for at in range(5000, 8000)]
        assert equal(rows, moved)
        found = compare(
            rows, [*moved[:-1], insert("orders", id=1, note="b", total=1, paid=True)], {}, TABLES
        )
        assert (len(found.missing), len(found.collateral)) == (1, 1)

    def test_identical_families_of_which_one_is_wrong(self):
        def state(odd: str) -> list[RowChange]:
            out: list[RowChange] = []
            for at in range(1, 13):
                out.append(insert("orders", id=at, note="a", total=1, paid=True))
                out += [
                    insert("lines", id=at * 10 + each, order_id=at, product="tea")
                    for each in range(3)
                ]
            return [*out, insert("lines", id=999, order_id=12, product=odd)]

        found = compare(state("tea"), state("milk"), {}, TABLES)
        assert (len(found.missing), len(found.collateral)) == (1, 1)


def evidence(
    actual: list[RowChange], calls: list[CallRecord], gold: list[RowChange], **compare_rules: Any
) -> Evidence:
    rules = {name.replace("__", "."): rule for name, rule in compare_rules.items()}
    end = GoldEnd([each.to_json() for each in gold])
    task = Task(id="t", family="f", env="e", prompt="p", gold=[], rules=EndRules(rules), end=end)
    return Evidence(task, actual, calls, None, TABLES)


def called(*changes: RowChange, ok: bool = True) -> CallRecord:
    return CallRecord("write", {}, ok, None, read_only=False, changes=changes)


def erasing(calls: list[CallRecord], **more: Any) -> list[RowChange]:
    rules = {"lines": "append_only", "orders": "append_only", **more}
    return [each.row for each in erased(calls, rules, Columns(rules, TABLES))]


class TestVerdict:
    def test_an_undo_cannot_hide_a_write_in_an_append_only_table(self):
        """The net change is gold's, yet a call took back what another had appended."""
        wrong = insert("lines", id=9, order_id=1, product="wrong")
        right = insert("lines", id=10, order_id=1, product="tea")
        undone = delete("lines", id=9, order_id=1, product="wrong")
        calls = [called(wrong), called(undone), called(right)]
        assert StateVerifier().verify(evidence([right], calls, [right]), None).score == 1.0
        verdict = StateVerifier().verify(
            evidence([right], calls, [right], lines="append_only"), None
        )
        assert verdict.score == 0.0
        assert verdict.detail["collateral"] == [undone.to_json()]
        assert verdict.detail["first_wrong"] == {
            "call": 0,
            "tool": "write",
            "row": wrong.to_json(),
        }, "not its undoing"
        assert erasing(calls) == [undone]

    def test_updates_count_as_erasing_and_appending_does_not(self):
        changed = update("lines", 3, {"product": "tea"}, {"product": "milk"})
        assert erasing([called(ORDER), called(changed)]) == [changed]
        assert not erasing([called(changed)], **{"lines.product": "ignore"}), (
            "what is ignored erases nothing"
        )

    def test_the_reason_tells_missing_from_collateral_and_names_the_first_wrong_call(self):
        stray = update("orders", 7, {"total": 1}, {"total": 2})
        read = CallRecord("read", {}, ok=True, category=None, read_only=True)
        verdict = StateVerifier().verify(evidence([stray], [read, called(stray)], [ORDER]), None)
        assert verdict.score == 0.0
        assert verdict.reason == (
            "1 missing: insert orders(id=41): note='two', total=25, paid=True, "
            "1 collateral: update orders(id=7): total=2; "
            "first wrong write: call 1 (write), update orders(id=7): total=2"
        )
        assert verdict.detail["missing"] == [ORDER.to_json()]
        assert verdict.detail["first_wrong"] == {"call": 1, "tool": "write", "row": stray.to_json()}

    def test_doing_nothing_is_right_where_nothing_was_due(self):
        assert StateVerifier().verify(evidence([], [], []), None).score == 1.0
        assert StateVerifier().verify(evidence([ORDER], [called(ORDER)], []), None).score == 0.0

    def test_an_unproved_task_is_not_judged(self):
        task = Task(id="t", family="f", env="e", prompt="p", gold=[])
        assert StateVerifier().verify(Evidence(task, [], [], None), None).score is None
