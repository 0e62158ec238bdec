"""CONTRIBUTING describes the house that is there: its links, its rooms, its extension points."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from synth.core.foundation.shipped import world_names
from synth.plugins import EXTENSION_POINTS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### An? ([\w ]+)\n(.*?)(?=^##)", TEXT, re.DOTALL | re.MULTILINE))
"""By kind of extension, its section under "How to add"."""


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "README.md", "SECURITY.md"])
def test_links_lead_to_files(document: str):
    text = (ROOT / document).read_text("utf-8")
    linked = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    assert not [link for link in linked if not (ROOT / link).exists()]


def test_folders_and_files_that_it_names_are_there():
    named = re.findall(r"`((?:synth|envs|tests|configs|examples)/[\w./]+)`", TEXT)
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_spine_is_listed_as_it_is():
    listed = re.findall(r"^\| `(\w+)\.py` \|", TEXT, re.MULTILINE)
    found = [path.stem for path in (ROOT / "synth").glob("*.py") if not path.stem.startswith("__")]
    assert sorted(listed) == sorted(found)


def test_every_folder_is_in_a_table():
    rooms = [*(ROOT / "envs").iterdir(), *(ROOT / "synth/core").iterdir()]
    rooms += (ROOT / "synth/ext").iterdir()
    folders = {
        path.relative_to(ROOT).as_posix() for path in rooms if (path / "__init__.py").is_file()
    }
    missing = {folder for folder in folders if f"`{folder}/`" not in TEXT}
    # Contract tests and the lowest floor answer no question of a newcomer's.
    assert missing <= {"envs/testing", "synth/core/foundation"}


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
