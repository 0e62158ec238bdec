"""Fixtures of the tests from outside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.documents import ROOT


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A copy of the library."""
    ignored = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(ROOT / "examples" / "library", tmp_path / "library", ignore=ignored)
