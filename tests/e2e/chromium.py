"""A headless Chromium for the tests of pages, and pages of runs in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from synth.ext.view.cli import main

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
HOSTILE = (
    "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
    "<a href='javascript:window.owned=1'>click</a> \u202ereversed\u202c \x1b[31m zero\u200bwidth"
)
"""A text that runs code in a page which does not escape it."""


def executable() -> str:
    """The browser's path. Skips the test without one, or fails it with SYNTH_REQUIRE_BROWSER."""
    for name in ("chromium", "google-chrome", "chrome"):
        if found := shutil.which(name):
            return found
    if os.environ.get("SYNTH_REQUIRE_BROWSER"):
        pytest.fail("SYNTH_REQUIRE_BROWSER is set and there is no chromium", pytrace=False)
    pytest.skip("there is no chromium on this machine", allow_module_level=True)


def sync_api() -> Any:
    """Playwright's blocking interface, where there is a browser for it."""
    executable()
    return pytest.importorskip("playwright.sync_api")


def opened(browser: Any, folder: Path, *runs: Path, **context: object) -> Any:
    """The page of one or two runs. ``context`` are options of the browser's context."""
    out = folder / "view.html"
    main([*map(str, runs), "--out", str(out)])
    page = browser.new_context(**context).new_page()
    page.goto(out.as_uri())
    page.wait_for_selector("body[data-ready]")
    return page
