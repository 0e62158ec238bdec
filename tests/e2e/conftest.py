"""Fixtures of the tests from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.sync_api().sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=chromium.FLAGS
        )
        yield browser
        browser.close()
