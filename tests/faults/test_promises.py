"""The table of the campaign: made of findings, and kept in a page over several runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.promises import Finding, Findings, record, table

OLD = ("Nothing is lost", "`test_kills.py::test_seeded[Ray]`", "0 of 1 passed", "2026-01-01")
OTHER = ("Keys are hidden", "`test_secrets.py::test_files`", "2 of 2 passed", "2026-01-01")


def findings() -> Findings:
    out = Findings()
    for test, figures in (("inline", ("9 kills",)), ("Ray", ("8 kills",))):
        name = f"tests/faults/test_kills.py::test_seeded[{test}]"
        out.all.append(Finding("Nothing is lost", name, "passed", figures, 1.0))
    for test, result in (("a", "passed"), ("b", "failed"), ("c", "skipped")):
        name = f"tests/faults/test_torn.py::test_tears[{test}]"
        out.all.append(Finding("Tears are found", name, result, (), 1.0))
    return out


def test_parameters_share_a_row_unless_they_have_figures():
    assert [row[1:3] for row in findings().rows()] == [
        ("`test_kills.py::test_seeded[inline]`", "1 of 1 passed; 9 kills"),
        ("`test_kills.py::test_seeded[Ray]`", "1 of 1 passed; 8 kills"),
        ("`test_torn.py::test_tears`", "1 of 2 passed, 1 skipped"),
    ]


def test_a_row_takes_the_place_of_an_earlier_one_of_its_test(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"# Faults\n\n{table([OLD, OTHER])}\n")
    rows = findings().rows()
    record(page, rows)
    assert page.read_text() == f"# Faults\n\n{table([rows[1], rows[0], OTHER, rows[2]])}\n"


def test_a_page_without_a_table_is_left_as_it_is(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# Faults\n")
    with pytest.raises(ValueError, match="no table of promises"):
        record(page, findings().rows())
    assert page.read_text() == "# Faults\n"
