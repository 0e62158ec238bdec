"""CONTRIBUTING describes the house that is there: its links, its rooms, its extension points."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from synth.core.foundation.shipped import world_names
from synth.plugins import EXTENSION_POINTS
from tests.test_architecture import FLOORS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### An? ([\w ]+)\n(.*?)(?=^##)", TEXT, re.DOTALL | re.MULTILINE))
"""By kind of extension, its section under "How to add"."""

EXAMPLES = ROOT / "examples" / "extensions"


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "README.md", "SECURITY.md"])
def test_links_lead_to_files(document: str):
    text = (ROOT / document).read_text("utf-8")
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert not [link for link in linked if not (ROOT / link).exists()]


def test_folders_and_files_that_it_names_are_there():
    named = re.findall(r"`((?:synth|envs|tests|configs|examples)/[\w./]+)`", TEXT)
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_room_is_in_the_table_of_questions():
    table = TEXT.partition("| question | folder |")[2].partition("\n\n")[0]
    rooms = {(wing, room) for wing in FLOORS for floor in FLOORS[wing] for room in floor}
    folders = {(wing, room) for wing, room in rooms if (ROOT / wing / room).is_dir()}
    missing = {f"{wing}/{room}/" for wing, room in folders if f"`{wing}/{room}/" not in table}
    # Contract tests and the lowest floor answer no question of a newcomer's.
    assert missing <= {"envs/testing/", "synth/testing/", "synth/core/foundation/"}


def test_the_diagram_of_rooms_is_the_floors_of_the_architecture_test():
    diagram = TEXT.partition("<!-- rooms -->")[2].partition("```\n")[0]
    floors = re.findall(r"subgraph f(\d+) \[ \]\n(.*?)\n  end", diagram, re.DOTALL)
    assert [set(re.findall(r"\w+", rooms)) for _, rooms in floors] == FLOORS["synth"][:-1]


def test_every_extension_point_has_a_section_with_its_group():
    assert set(SECTIONS) == {point.kind for point in EXTENSION_POINTS}
    missing = [point.group for point in EXTENSION_POINTS if f"`{point.group}`" not in TEXT]
    assert not missing


@pytest.mark.parametrize("kind", SECTIONS)
def test_an_example_is_linked_and_has_at_most_twenty_lines(kind: str):
    linked = re.findall(r"\]\((examples/extensions/[\w./]+)\)", SECTIONS[kind])
    assert linked
    for link in linked:
        assert len((ROOT / link).read_text("utf-8").splitlines()) <= 20, link


def test_the_wheel_ships_each_world_and_no_other_example():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    shipped = {path.removeprefix("examples/") for path in included if path.startswith("examples/")}
    assert shipped == set(world_names())


def test_contract_tests_that_it_names_ship():
    named = re.findall(r"`((?:synth|envs)\.testing)\.(\w+)`", TEXT)
    assert len(named) >= 9
    missing = [name for module, name in named if not hasattr(import_module(module), name)]
    assert not missing
