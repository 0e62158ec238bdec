"""Both forms of an entry are read; whatever else stands in a file is refused with the fields that
an entry has.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synth.errors import OperatorError
from synth.ext.action_lists.entries import Entry, LeftOut, read_entries

PLAIN = {
    "id": 7,
    "instruction": "Cancel my order.",
    "actions": [{"name": "cancel", "kwargs": {"order": 1}}],
    "outputs": [12.5],
}


def written(path: Path, value: object) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def only(path: Path) -> Entry:
    (entry,) = read_entries(path)
    assert isinstance(entry, Entry)
    return entry


def test_the_plain_form_takes_kwargs_numbers_and_missing_ids(tmp_path: Path):
    entry = only(written(tmp_path / "list.json", [PLAIN]))
    assert (entry.id, entry.outputs, dict(entry.calls[0].arguments)) == (
        "7",
        ["12.5"],
        {"order": 1},
    )
    nameless = {key: value for key, value in PLAIN.items() if key != "id"}
    assert only(written(tmp_path / "list.json", {"tasks": [nameless]})).id == "0"


def test_a_scenario_keeps_its_parts_apart(tmp_path: Path):
    raw = {
        "id": "0",
        "user_scenario": {
            "persona": "calm",
            "instructions": {
                "domain": "retail",
                "reason_for_call": "You want to cancel.",
                "known_info": "You are Ada.",
                "unknown_info": None,
                "task_instructions": "",
            },
        },
        "initial_state": None,
        "evaluation_criteria": {
            "actions": [{"action_id": "0_0", "name": "cancel", "arguments": '{"order": 1}'}],
            "communicate_info": ["12"],
        },
    }
    entry = only(written(tmp_path / "list.json", [raw]))
    assert entry.scenario.request == "You want to cancel."
    assert entry.scenario.known == "You are Ada."
    assert entry.outputs == ["12"]
    assert dict(entry.calls[0].arguments) == {"order": 1}


def test_json_lines_keep_their_line_numbers(tmp_path: Path):
    text = "\n".join(["", json.dumps(PLAIN), "", json.dumps({**PLAIN, "id": "b"})])
    entries = read_entries(written(tmp_path / "list.jsonl", text))
    assert [entry.line for entry in entries if isinstance(entry, Entry)] == [2, 4]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"prompt": "x", "tools": []}, "its fields are prompt, tools"),
        ({**PLAIN, "instruction": " "}, "`instruction` must be a text"),
        ({**PLAIN, "actions": {}}, "`actions` must be a list"),
        ({**PLAIN, "actions": [{"arguments": {}}]}, "must be the name of a tool"),
        ({**PLAIN, "actions": [{"name": "a", "arguments": "{"}]}, "must be JSON"),
        ({**PLAIN, "actions": [{"name": "a", "requestor": "me"}]}, "must be assistant or user"),
        ({**PLAIN, "outputs": [{}]}, "must hold texts or numbers"),
        ("text", "not an object"),
    ],
)
def test_a_broken_entry_is_named_beside_good_ones(tmp_path: Path, raw: object, words: str):
    _, broken = read_entries(written(tmp_path / "list.json", [PLAIN, raw]))
    assert isinstance(broken, LeftOut)
    assert words in broken.reason


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("[]", "it is empty"),
        ("{", "neither JSON"),
        ('"x"', "must hold a list"),
        ('[{"prompt": 1}]', "user_scenario.instructions"),
        ('{"instruction": "x", "actions": []}\n{', ":2 is not JSON"),
        ('[{"instruction": NaN}]', "NaN"),
    ],
)
def test_a_file_that_is_no_list_is_refused_at_once(tmp_path: Path, text: str, words: str):
    with pytest.raises(OperatorError, match=r"tasks\.path") as refused:
        read_entries(written(tmp_path / "list.json", text))
    assert words in str(refused.value)


def test_a_folder_and_a_missing_file_are_told_from_each_other(tmp_path: Path):
    with pytest.raises(OperatorError, match="is a folder"):
        read_entries(tmp_path)
    with pytest.raises(OperatorError, match="file not found"):
        read_entries(tmp_path / "gone.json")
