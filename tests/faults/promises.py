"""Promises, and the table of what the tests showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

Row = tuple[str, str, str, str]
"""Promise, test, result, date."""

HEAD: Row = ("promise", "test", "result", "date")


def promise(text: str) -> pytest.MarkDecorator:
    """Mark a test as the evidence of a promise."""
    return pytest.mark.promise(text)


@dataclass
class Finding:
    """What one test showed: passed, failed or skipped, with the figures that it recorded."""

    promise: str
    test: str
    result: str
    figures: tuple[str, ...]
    seconds: float


class Findings:
    """A pytest plugin that collects the findings of tests with a promise."""

    def __init__(self) -> None:
        self.all: list[Finding] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties = dict(report.user_properties)
        counts = report.when == "call" or report.outcome != "passed"
        if "promise" not in properties or not counts:
            return
        figures = tuple(str(value) for name, value in report.user_properties if name == "figure")
        text = str(properties["promise"])
        self.all.append(Finding(text, report.nodeid, report.outcome, figures, report.duration))

    def rows(self) -> list[Row]:
        """A row for each test: those of a parametrized test together, unless they have figures."""
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        grouped: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.all:
            whole = finding.test.removeprefix("tests/faults/")
            name = whole if finding.figures else whole.partition("[")[0]
            grouped.setdefault((finding.promise, name), []).append(finding)
        return [
            (text, f"`{name}`", _result(found), today) for (text, name), found in grouped.items()
        ]


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [HEAD, ("---",) * len(HEAD), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def record(page: Path, rows: Sequence[Row]) -> None:
    """Write rows into the table at the end of a page: each takes the place of an earlier one of the
    same promise and test.
    """
    before, head, old = page.read_text("utf-8").partition(table([]).partition("\n")[0])
    if not head:
        raise ValueError(f"{page} has no table of promises")
    known = {_key(row): row for row in map(_cells, old.strip().splitlines()[1:])}
    known |= {_key(row): row for row in rows}
    page.write_text(f"{before}{table(sorted(known.values(), key=_key))}\n", "utf-8")


def _cells(line: str) -> Row:
    promise, test, result, date = line.strip("| \n").split(" | ")
    return promise, test, result, date


def _key(row: Row) -> tuple[str, str]:
    return row[1], row[0]


def _result(found: list[Finding]) -> str:
    passed = sum(finding.result == "passed" for finding in found)
    skipped = sum(finding.result == "skipped" for finding in found)
    words = f"{passed} of {len(found) - skipped} passed"
    if skipped:
        words += f", {skipped} skipped"
    figures = list(dict.fromkeys(figure for finding in found for figure in finding.figures))
    return "; ".join([words, *figures])
