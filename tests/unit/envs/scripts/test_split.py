"""Statements of scripts with odd delimiters."""

from __future__ import annotations

from envs.scripts.split import split


def test_a_delimiter_may_hold_what_a_pattern_would_escape():
    text = "DELIMITER //\\.\nSELECT 1//\\.\nDELIMITER ;\nSELECT 2;"
    assert [statement.text for statement in split(text, "mysql")] == ["SELECT 1", "SELECT 2"]
