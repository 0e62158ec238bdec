"""The scan finds secrets in every part, and personal data that nobody gave."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from synth.hub.facts import RunFacts, read_facts
from synth.hub.scan import personal_values, scan
from tests.sample_rows import error_row, row, says, user, write_run

KEY = "AKIAQYLPMN5HFIQR7XYA"


def facts_of(folder: Path, *messages, **columns) -> RunFacts:
    words = [*row(0)["messages"], *messages]
    run = write_run(
        folder / "ehr",
        [row(0, messages=words, **columns)],
        errors=[error_row(1, message=f"refused {KEY}")] if not messages and not columns else [],
    )
    (run / "config.yaml").write_text(yaml.safe_dump({"env": {"name": "ehr_db"}}), "utf-8")
    return read_facts(run)


def test_what_is_clean_has_no_findings(tmp_path: Path):
    assert scan(facts_of(tmp_path, says("All is well."))) == []


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"submitted": {"answer": KEY}}, "submitted"),
        ({"events": [{"event": "noted", "text": f"a {KEY} b"}]}, "events"),
        ({"provider_fields": [{"id": KEY}]}, "provider_fields"),
    ],
)
def test_a_key_is_found_in_any_column(tmp_path: Path, columns, column: str):
    found = scan(facts_of(tmp_path, **columns))
    assert {finding.kind for finding in found} >= {"AWS Access Key"}
    assert {finding.place for finding in found} == {
        f"data/train-00000-of-00001.parquet, column {column}"
    }
    assert not any(KEY in str(finding) for finding in found)


def test_a_key_is_found_in_the_errors_and_in_the_world(tmp_path: Path):
    facts = facts_of(tmp_path)
    facts.world_text = {"policy.md": f"Use {KEY}."}
    places = {finding.place for finding in scan(facts)}
    assert places == {"errors.parquet, column message", "world/policy.md"}


def test_personal_data_counts_where_nobody_gave_it(tmp_path: Path):
    given, made_up = "zoe.obrien@clinic.org", "somebody@gmail.com"
    messages = row(0)["messages"]
    facts = facts_of(
        tmp_path, says(f"Write to {given} or {made_up}."), user("And to me@example.com?")
    )
    facts.world_text = {
        "world.yaml": "columns: {patients.mail: {pii: email}}",
        "seed.sql": f"INSERT INTO patients VALUES ('{given}');",
    }
    found = [finding for finding in scan(facts) if finding.personal]
    assert [finding.kind for finding in found] == ["an e-mail address that nobody gave"]
    assert found[0].place.endswith(f"message {len(messages) + 1}")
    facts.world_text |= {"world.yaml": ""}
    kinds = [finding.kind for finding in scan(facts)]
    assert kinds == ["an e-mail address", "an e-mail address that nobody gave"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("call +49 30 901820 77", "a telephone number"),
        ("DE89 3704 0044 0532 0130 00", "a bank account (IBAN)"),
        ("4111 1111 1111 1111", "a card number"),
        ("DE89 3704 0044 0532 0130 01", None),
        ("4111 1111 1111 1112", None),
        ("order 2026-03-02 10:00, 37 items", None),
        ("a@b.test and x@example.com", None),
    ],
)
def test_formats_are_held_against_their_checksums(text: str, kind: str | None):
    kinds = {found for found, _ in personal_values(text)}
    assert kinds == ({kind} if kind else set())
