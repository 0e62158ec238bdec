"""The scan finds secrets in every part, and personal data that nobody gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from synth.core.personal.formats import personal_values
from synth.ext.hub.facts import RunFacts, read_facts
from synth.ext.hub.scan import scan
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
    token = "ghp_0123456789abcdefABCDEF0123456789abcd"
    facts.world_text = {"policy.md": f"Use {KEY}.", "tools.yaml": token}
    places = {finding.place for finding in scan(facts)}
    assert places == {"errors.parquet, column message", "world/policy.md", "world/tools.yaml"}


def test_personal_data_counts_where_nobody_gave_it(tmp_path: Path):
    given, made_up = "zoe.obrien@clinic.org", "somebody@gmail.com"
    messages = row(0)["messages"]
    facts = facts_of(
        tmp_path, says(f"Write to {given} or {made_up}."), user("And to me@example.com?")
    )
    facts.world_text = {
        "world.yaml": "columns: {patients.mail: {pii: email}}",
        "schema.sql": "CREATE TABLE patients (mail TEXT);",
        "seed.sql": f"INSERT INTO patients VALUES ('{given}');",
    }
    found = [finding for finding in scan(facts) if finding.personal]
    assert [finding.kind for finding in found] == ["an e-mail address that nobody gave"]
    assert found[0].place.endswith(f"message {len(messages) + 1}")
    facts.world_text |= {"world.yaml": ""}
    kinds = [finding.kind for finding in scan(facts)]
    assert kinds == ["an e-mail address", "an e-mail address that nobody gave"]


def test_a_column_that_is_not_declared_counts_in_the_seed_and_in_results(tmp_path: Path):
    mails = [f"{name}@clinic.org" for name in ("zoe", "ida", "jon", "eva", "kim", "lou")]
    rows = [{"mail": mail, "tel": "+49 30 901820 77"} for mail in mails]
    reply = {"role": "tool", "tool_call_id": "c9", "name": "t", "content": json.dumps(rows)}
    facts = facts_of(tmp_path, says("Look."), reply, says("Done."))
    values = ", ".join(f"('{row['mail']}', '{row['tel']}')" for row in rows)
    facts.world_text = {
        "world.yaml": "columns: {patients.tel: {pii: phone}}",
        "schema.sql": "CREATE TABLE patients (mail TEXT, tel TEXT);",
        "seed.sql": f"INSERT INTO patients VALUES {values};",
    }
    seed = "world/seed.sql, in a column that world.yaml does not declare as personal"
    assert {(one.kind, one.place) for one in scan(facts)} == {
        ("an e-mail address", seed),
        ("an e-mail address that the world does not declare", "results of tools, field mail"),
    }
    both = "columns: {patients.tel: {pii: phone}, patients.mail: {pii: email}}"
    facts.world_text |= {"world.yaml": both}
    assert scan(facts) == []


def test_another_universe_is_declared_by_the_names_of_its_fields(tmp_path: Path):
    content = json.dumps({"tel": "+49 30 901820 77", "fax": "+49 30 901820 99"})
    reply = {"role": "tool", "tool_call_id": "c9", "name": "t", "content": content}
    facts = facts_of(tmp_path, says("Look."), reply, says("Done."))
    facts.world_text = {"world.yaml": "columns: {patients.tel: {pii: phone}}"}
    assert [one.place for one in scan(facts)] == ["results of tools, field fax"]


def test_a_script_of_the_world_writes_no_file(tmp_path: Path):
    facts = facts_of(tmp_path, says("All is well."))
    file = tmp_path / "made.db"
    facts.world_text = {"schema.sql": f"ATTACH '{file}' AS other; CREATE TABLE other.t (a);"}
    assert scan(facts) == []
    assert not file.exists()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("call (212) 736-5000 or", "a telephone number"),
        ("call +1 212 555-0143 or 212-555-0199", None),
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
