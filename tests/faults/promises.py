"""Promises, and the table of what the tests showed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

HEAD = ("promise", "test", "result", "date")


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

    def table(self) -> str:
        """A Markdown table with one line per test, those of one parametrized test together."""
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        grouped: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.all:
            name = finding.test.partition("[")[0].removeprefix("tests/faults/")
            grouped.setdefault((finding.promise, name), []).append(finding)
        rows = [
            (text, f"`{name}`", _result(found), today) for (text, name), found in grouped.items()
        ]
        lines = [HEAD, ("---",) * len(HEAD), *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _result(found: list[Finding]) -> str:
    passed = sum(finding.result == "passed" for finding in found)
    skipped = sum(finding.result == "skipped" for finding in found)
    words = f"{passed} of {len(found) - skipped} passed"
    if skipped:
        words += f", {skipped} skipped"
    figures = list(dict.fromkeys(figure for finding in found for figure in finding.figures))
    return "; ".join([words, *figures])
