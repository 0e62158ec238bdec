"""Every YAML in configs/ composes, agrees with the dataclasses, and begins with a command that
works.
"""

import dataclasses
import shlex

import pytest
import yaml

from synth.config import RunConfig, from_dict
from synth.core.config.compose import compose
from synth.core.config.section import section_kinds
from synth.core.foundation.shipped import configs_dir

pytestmark = pytest.mark.slow

FILES = sorted(configs_dir().rglob("*.yaml"))
NAMES = [str(path.relative_to(configs_dir()).with_suffix("")) for path in FILES]
DEFAULT = (
    "model/scripted",
    "database/sqlite",
    "agent/react",
    "tasks/default",
    "runtime/auto",
    "output/default",
)


def commands(path):
    """The overrides of each ``# synth run ...`` in the comment that the file begins with."""
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            return
        if line.startswith("# synth run"):
            words = shlex.split(
                line.removeprefix("# synth run").partition("      ")[0].partition("     ")[0]
            )
            yield [word for word in words if not word.startswith("-")]


def of_capabilities(group):
    """The names in a section of the core that come with capabilities."""
    dotted = [key.split(".") for kind in section_kinds() for key in kind.dotted()]
    return {names[1] for names in dotted if names[0] == group}


def test_there_are_few_of_them():
    aliases = [path for path in FILES if "defaults: [" in path.read_text()]
    assert 10 <= len(FILES) - len(aliases) <= 33


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_begins_with_a_command_that_composes(path):
    found = list(commands(path))
    assert found
    for overrides in found:
        assert len(compose(overrides)) == 1
    group, choice = path.parent.name, path.stem
    if group != "configs":
        assert any(f"{group}={choice}" in words or group in {"tasks", "output"} for words in found)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_each_names_every_key_of_its_section(path):
    """A reader of the YAML sees all there is to set; an experiment says only what it changes.

    One that stands on another file, or is an alias of it, names it under `defaults`.
    """
    group = path.parent.name
    if group in {"configs", "experiment"}:
        return
    section = next(
        entry for entry in dataclasses.fields(RunConfig) if entry.name == group
    ).default_factory
    names = yaml.safe_load(path.read_text())
    if "defaults" in names:
        base = names.pop("defaults")[0]
        names = yaml.safe_load(path.with_name(f"{base}.yaml").read_text()) | names
    known = {entry.name for entry in dataclasses.fields(section)}
    assert set(names) == known - of_capabilities(group)


def test_the_defaults_are_the_dataclasses():
    (composed,) = compose([])
    assert composed.config == from_dict({"env": {"name": "ehr_db"}})


@pytest.mark.parametrize("name", DEFAULT)
def test_each_default_choice_repeats_its_dataclass(name):
    group, _, choice = name.partition("/")
    section = next(
        entry for entry in dataclasses.fields(RunConfig) if entry.name == group
    ).default_factory
    written = yaml.safe_load((configs_dir() / group / f"{choice}.yaml").read_text())
    whole = dataclasses.asdict(section())
    assert written == {key: whole[key] for key in whole.keys() - of_capabilities(group)}
