"""The config for editors (JSON Schema) and for Hydra applications."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast

import pytest
import yaml
from hydra import compose, initialize
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from jsonschema import Draft202012Validator
from omegaconf import OmegaConf

import synth
from synth.__main__ import main
from synth.config import KEYS, SECTIONS, RunConfig, to_dict
from synth.core.cli.schema import config_schema
from synth.core.config.compose import compose as compose_run
from synth.core.config.compose import store
from synth.core.foundation.shipped import configs_dir
from synth.errors import ConfigProblems

DEFAULTS = to_dict(RunConfig())


def complaints(config: Any, section: str = "") -> list[str]:
    return [
        error.message for error in Draft202012Validator(config_schema(section)).iter_errors(config)
    ]


@pytest.mark.parametrize(
    "file",
    sorted(configs_dir().rglob("*.yaml")),
    ids=lambda file: f"{file.parent.name}/{file.stem}",
)
def test_every_shipped_config_file_is_accepted(file: Any) -> None:
    group = file.parent.name
    section = "" if group in {"configs", "experiment"} else group
    assert complaints(yaml.safe_load(file.read_text()) or {}, section) == []


def test_the_defaults_are_accepted_and_every_key_is_known() -> None:
    assert complaints(DEFAULTS) == []
    schema_of = cache(config_schema)
    for key in KEYS:
        section, _, name = key.rpartition(".")
        assert name in schema_of(section)["properties"], key


@pytest.mark.parametrize(
    "config",
    [
        {"sed": 1},
        {"tasks": {"count": "many"}},
        {"tasks": {"count": 0}},
        {"agent": {"error_style": "loud"}},
    ],
)
def test_an_editor_marks_what_a_run_would_refuse(config: Any) -> None:
    assert complaints(config)


@pytest.mark.parametrize(
    "config",
    [
        {"defaults": ["run", "_self_"], "seed": 3},
        {"tasks": {"families": "lend_book", "count": "${seed}"}},
        {"model": {"name": "???"}},
    ],
)
def test_an_editor_accepts_what_hydra_can_resolve(config: Any) -> None:
    assert complaints(config) == []


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--config", "model"]) == 0
    assert "temperature" in json.loads(capsys.readouterr().out)["properties"]
    assert main(["schema", "--config", "modle"]) == 2
    assert "did you mean model?" in capsys.readouterr().err


def test_an_application_has_every_key_with_its_default() -> None:
    assert OmegaConf.to_container(in_an_application()) == DEFAULTS
    assert {key.rpartition(".")[0] for key in KEYS} - {""} <= set(SECTIONS)


def in_an_application(*overrides: str) -> Any:
    """Compose as a Hydra application does whose primary config chooses the schema."""
    store(group="synth")
    ConfigStore.instance().store("application", {"defaults": [{"synth": "schema"}]})
    with initialize(None, version_base="1.3"):
        return compose("application", overrides=list(overrides)).synth


def test_names_and_types_are_checked_in_an_application() -> None:
    assert in_an_application("synth.tasks.count=8").tasks.count == 8
    assert in_an_application("synth.tasks.families=[a]").tasks.families == ["a"]
    assert in_an_application("synth.tasks.compose={2:0.3}").tasks.compose == {2: 0.3}
    for wrong in ("synth.sed=1", "synth.agent.max_turn=3"):
        with pytest.raises(HydraException):
            in_an_application(wrong)
    many = cast("Any", OmegaConf.to_container(in_an_application("synth.tasks.count=many")))
    with pytest.raises(ConfigProblems, match="must be a whole number, not 'many'"):
        synth.run(many, progress=False)


def test_our_config_is_composed_within_an_application() -> None:
    """Hydra has one state a process; that of the application is there again afterwards."""
    store(group="synth")
    with initialize(None, version_base="1.3"):
        assert compose_run(["seed=3"])[0].config.seed == 3
        assert compose(overrides=["+a=1"]) == {"a": 1}
