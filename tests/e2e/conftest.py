"""Fixtures of the tests from outside."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.documents import ROOT
from tests.e2e import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.sync_api().sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=chromium.FLAGS
        )
        yield browser
        browser.close()


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A copy of the library."""
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(ROOT / "examples" / "library", tmp_path / "library", ignore=ignored)
