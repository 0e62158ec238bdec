"""The promise of a test is in its report, so that a table can be made of it wherever it ran."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture(autouse=True)
def report_promise(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    mark = request.node.get_closest_marker("promise")
    if mark is not None:
        record_property("promise", mark.args[0])
