"""The whole card of a run: header, sections, plots that are XML, and no hostile text as markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from synth.errors import OperatorError
from synth.ext.hub.card import card_files, histogram, write_card
from synth.ext.hub.facts import NO_TEACHER, licences, read_facts
from tests.sample_rows import HOSTILE, all_kinds, failed, row, write_run

CONFIG = {
    "env": {"name": "ehr_db"},
    "model": {"kind": "openai", "name": "teacher-1", "temperature": 0.7},
    "users": {"kind": "scripted"},
    "card": {"language": ["en", "de"], "pretty_name": "Charts", "limits": "Two doctors only."},
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = write_run(tmp_path / "ehr", [*all_kinds(), failed(6) | {"outcome": "success"}])
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG), "utf-8")
    return folder


def test_the_header_is_what_the_hub_reads(run: Path):
    facts = read_facts(run)
    text = card_files(facts, licences(facts, "cc-by-4.0"))["README.md"]
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["pretty_name"] == "Charts"
    assert header["license"] == "cc-by-4.0"
    assert header["language"] == ["en", "de"]
    assert header["task_categories"] == ["text-generation"]
    assert "world:ehr_db" in header["tags"]
    assert [config["config_name"] for config in header["configs"]] == ["default", "tasks"]
    splits = [part["split"] for part in header["configs"][0]["data_files"]]
    assert splits == ["train", "test"]


def test_a_reader_finds_what_they_want_first(run: Path):
    facts = read_facts(run)
    text = card_files(facts, licences(facts), "acme/charts")["README.md"]
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "The world `ehr_db`",
        "The tools",
        "How a reward is made",
        "One example",
        "Distributions",
        "Variety",
        "Teacher and origin",
        "Known limits",
        "Contamination",
        "How to load, inspect and replay it",
        "Citation",
        "Columns",
    ]
    assert "| `record_vitals` | Note a heart rate. |" in text
    assert "temperature 0.7" in text
    assert "Two doctors only." in text
    assert "insert vitals vital_id=301" in text
    assert "synth pull acme/charts out/pulled" in text
    assert HOSTILE not in text


def test_a_long_system_prompt_does_not_cost_the_example(tmp_path: Path):
    messages = [{"role": "system", "content": "rules " * 5_000}, *row(0)["messages"][1:]]
    folder = write_run(tmp_path / "ehr", [row(0, messages=messages)])
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG), "utf-8")
    facts = read_facts(folder)
    assert "## One example" in card_files(facts, licences(facts))["README.md"]


def test_an_example_cannot_leave_its_fence(tmp_path: Path):
    words = "~~~~~~\n# A heading of mine\n```"
    messages = [*row(0)["messages"][:-1], {"role": "assistant", "content": words}]
    folder = write_run(tmp_path / "ehr", [row(0, messages=messages)])
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG), "utf-8")
    facts = read_facts(folder)
    assert card_files(facts, licences(facts))["README.md"].count("~~~~~~") == 2


def test_plots_are_svg_without_anything_active(run: Path):
    facts = read_facts(run)
    written = write_card(facts, licences(facts))
    names = {file.name for file in written}
    assert names == {
        *("README.md", "rewards.svg", "turns.svg", "tool-calls.svg", "output-tokens.svg")
    }
    for file in written[1:]:
        tags = {element.tag.split("}")[1] for element in ET.parse(file).iter()}
        assert tags <= {"svg", "title", "style", "text", "rect", "line"}
    (run / ".README.md.tmp").mkdir()  # a place that cannot be written, also for root
    with pytest.raises(OperatorError, match=rf"cannot write {run}/README\.md: Is a directory"):
        write_card(facts, licences(facts))


@pytest.mark.parametrize(
    ("values", "bars"),
    [([1.0], 1), ([0.0, 1.0, 1.0], 2), ([0.25, 0.5, 1.0], 20), (list(range(100)), 20)],
)
def test_a_histogram_counts_every_value_once(values: list[float], bars: int):
    root = ET.fromstring(histogram("a < b", values))
    counts = [
        int(title.text.rpartition(": ")[2])
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        for title in rect
    ]
    assert len(counts) == bars
    assert sum(counts) == len(values)


def test_licences_come_from_options_then_config_then_world(run: Path):
    facts = read_facts(run)
    declared = licences(facts)
    assert len(declared.missing()) == 3
    with pytest.raises(OperatorError, match=r"card\.teacher_license, or --teacher-license"):
        declared.require()
    given = licences(facts, "mit", "cc0-1.0", "apache-2.0")
    given.require()
    facts.world_text = {"world.yaml": "license: odbl\n"}
    assert licences(facts).world == "odbl"
    assert licences(facts, world="mit").world == "mit"


def test_a_scripted_run_needs_no_licence_of_a_teacher(run: Path):
    (run / "config.yaml").write_text(yaml.safe_dump({"env": {"name": "ehr_db"}}), "utf-8")
    assert licences(read_facts(run)).teacher == NO_TEACHER


def test_a_run_that_is_not_sealed_has_no_card(tmp_path: Path):
    folder = write_run(tmp_path / "ehr", [row(0)], jobs=2, status="interrupted")
    with pytest.raises(OperatorError, match="not a sealed run"):
        read_facts(folder)
