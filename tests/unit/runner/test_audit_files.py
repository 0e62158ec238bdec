"""Where a worker's audit goes, and what becomes of a line that cannot go there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs.errors import SandboxError
from envs.types import ToolCall
from synth.core.runner.audit_files import AuditLog


def test_a_full_file_is_followed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("synth.core.runner.audit_files.PART_BYTES", 300)
    book = AuditLog("run", "w", "info", tmp_path)
    audit = book.start({"job": 1})
    for at in range(5):
        audit.call(ToolCall(f"c{at}", "t", "{}"), "t", None, ms=1.0)
    book.close()
    files = sorted((tmp_path / "logs").iterdir())
    assert len(files) > 1
    found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert sorted(each["id"] for each in found) == [f"c{at}" for at in range(5)]
    assert {(each["run"], each["worker"], each["attempt"]) for each in found} == {("run", "w", 1)}


def test_a_line_that_cannot_be_written_is_broken_infrastructure(tmp_path: Path):
    (tmp_path / "logs").write_text("a file in the way")
    book = AuditLog("run", "w", "info", tmp_path)
    with pytest.raises(SandboxError, match="the audit cannot be written"):
        book.start({}).call(ToolCall("c", "t", "{}"), "t", None, ms=1.0)
    book.close()


def test_where_the_run_is_out_of_reach_lines_go_to_standard_error(
    capsys: pytest.CaptureFixture[str],
):
    book = AuditLog("run", "w", "info", None)
    book.start({}).call(ToolCall("c", "t", "{}"), "t", None, ms=1.0)
    book.close()
    assert json.loads(capsys.readouterr().err)["id"] == "c"
