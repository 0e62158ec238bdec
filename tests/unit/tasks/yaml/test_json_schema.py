"""The JSON Schema of tasks.yaml: shipped as built, true of the worlds that ship, and of one mind
with the parser.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from envs.world.loader import load_world
from synth.__main__ import main
from synth.core.foundation.shipped import examples_dir, world_names
from synth.core.tasks.domains import KINDS
from synth.core.tasks.yaml.json_schema import tasks_schema
from synth.core.tasks.yaml.models import FieldType, GateModel, keys_of, words_of
from synth.core.tasks.yaml.source_map import load_yaml
from synth.core.tasks.yaml.words import FIELD_TYPES
from synth.errors import TaskError
from synth.plugins import REWARDS
from tests.unit.tasks.test_conversations import GOOD as TALK
from tests.unit.tasks.yaml.test_alternatives import GOOD as ENDS
from tests.unit.tasks.yaml.test_family import GOOD as PLAIN


def mistakes(text: str, folder: Path, schema: Any) -> list[str]:
    file = folder / "tasks.yaml"
    file.write_text(text, "utf-8")
    return [
        error.message for error in jsonschema.Draft7Validator(schema).iter_errors(load_yaml(file))
    ]


def test_the_models_know_every_gate_and_every_kind_of_values():
    """A gate that ships has its options in the schema, and so has each kind of `vary`."""
    others = {"state", "reply", "read_before", "declines", "injection"}
    assert keys_of(GateModel) | others == set(REWARDS.builtin)
    parts = tasks_schema()["$defs"]
    kinds = [kind["$ref"].rpartition("/")[2] for kind in parts["Domain"]["oneOf"]]
    assert [parts[kind]["required"] for kind in kinds] == [[kind] for kind in KINDS]
    assert words_of(FieldType) == set(FIELD_TYPES)


@pytest.mark.parametrize("name", world_names())
def test_the_worlds_that_ship_follow_it(name: str):
    world = load_world(examples_dir() / name)
    for schema in (tasks_schema(), tasks_schema(world.tools)):
        jsonschema.Draft7Validator.check_schema(schema)
        errors = jsonschema.Draft7Validator(schema).iter_errors(
            load_yaml(world.path / "tasks.yaml")
        )
        assert not [f"{list(each.path)}: {each.message[:300]}" for each in errors]


@pytest.mark.parametrize("text", [PLAIN, TALK, ENDS])
def test_what_the_parser_takes_it_takes(tmp_path: Path, parsed: Any, text: str):
    assert parsed(text).families
    assert not mistakes(text, tmp_path, tasks_schema())


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (PLAIN, "families:", "familys:"),
        (PLAIN, "visits.made_at: ignore", "visits.made_at: ingore"),
        (PLAIN, "visits: append_only", "visits: ignore"),
        (PLAIN, '"*.cost": {abs: 0.01}', '"*.cost": {abs: -1}'),
        (PLAIN, "  about: Write", "  abuot: Write"),
        (PLAIN, "- id: pulse", "- id: pulse/rate"),
        (PLAIN, "ground: {key: patient_id, sql:", "ground: {key: patient_id, sqll:"),
        (PLAIN, "{int: [55, 110]}", "{itn: [55, 110]}"),
        (PLAIN, "{int: [55, 110]}", "{int: [55.5, 110]}"),
        (PLAIN, "{int: [55, 110]}", "{float: [55.5, 110]}"),
        (PLAIN, "{int: [55, 110]}", "{fake: name, conut: 5}"),
        (PLAIN, "{int: [55, 110]}", "{date: [2026-01-01]}"),
        (PLAIN, 'says: ["{bpm} for {name}", "{name}: {bpm}"]', "says: []"),
        (PLAIN, "decision: {type: string", "decision: {type: strnig"),
        (PLAIN, ", description: What it is.", ""),
        (PLAIN, "items: integer", "items: array"),
        (PLAIN, "compare: set}", "compare: sets}"),
        (PLAIN, ", refuse: patient_id <= 5}", "}"),
        (PLAIN, "gates: [state, {answer", "gates: [sate, {answer"),
        (PLAIN, "gates: [state, {answer", "gates: [state, state, {answer"),
        (PLAIN, "gates: [state, {answer", "gates: [{state: strict}, {answer"),
        (PLAIN, "{required_calls: [find]}", "{required_calls: find}"),
        (PLAIN, "- find: {name:", "- say: x\n    find: {name:"),
        (TALK, "    signed_in:", "    signedin:"),
        (TALK, "{says: [Today.", "{syas: [Today."),
        (TALK, '      mentions: ["{drug}", "5 mg", "{dob}"]\n', ""),
        (TALK, "  - ask: [dob, start_date]", "  - ask: []"),
        (TALK, "no_write_before: [ask,", "no_write_before: [aks,"),
        (TALK, "one: $all, ", ""),
        (TALK, "declines: {refuse: [", "declines: {refuse: [5, "),
        (ENDS, "transient: forbid", "transient: forbidden"),
        (ENDS, "any_of:", "anyof:"),
        (ENDS, "    - must: SELECT 1\n      may", "    - may"),
        (ENDS, "at_most: 2", "at_most: 0"),
        (ENDS, "ops: [insert, update]", "ops: [inserts]"),
        (ENDS, "{says: {all: ", "{says: {any: "),
    ],
)
def test_what_it_refuses_the_parser_refuses_too(
    tmp_path: Path, parsed: Any, text: str, old: str, new: str
):
    wrong = text.replace(old, new, 1)
    assert wrong != text
    assert mistakes(wrong, tmp_path, tasks_schema())
    with pytest.raises(TaskError):
        parsed(wrong)


def test_a_worlds_tools_complete_it(tmp_path: Path):
    schema = tasks_schema(load_world(examples_dir() / "ehr_db").tools)
    family = (
        "families:\n- id: a\n  ground: {key: k, sql: SELECT 1}\n  user: {says: x}\n  gold:\n  - "
    )
    for step in (
        "record_vitals: {patient_id: $p, heart_rate: 70}",
        "find_patients: {name: '{n}'}\n    save: {p: $.a}",
    ):
        assert not mistakes(family + step, tmp_path, schema)
    for step in (
        "record_vital: {}",
        "record_vitals: {patient: 1}",
        "record_vitals: {heart_rate: fast}",
        "find_patients: x",
    ):
        assert mistakes(family + step, tmp_path, schema), step
    assert "heart_rate" in json.dumps(schema), "an editor can offer a tool's parameters"


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == tasks_schema()
    assert main(["schema", "ehr_db"]) == 0
    assert json.loads(capsys.readouterr().out) == tasks_schema(
        load_world(examples_dir() / "ehr_db").tools
    )
    assert main(["schema", "ehr_bd"]) == 2
