"""The lengths at which trainers cut unless they are told otherwise, in their own installed source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synth.ext.exporters import find_exporter
from tests.e2e.isolated import make_environment

pytestmark = pytest.mark.long

SOURCES = {
    "trl-sft": ("trl", "trl/trainer/sft_config.py", "SFTConfig(max_length={})"),
    "trl-dpo": ("trl", "trl/trainer/dpo_config.py", "DPOConfig(max_length={})"),
    "axolotl": ("axolotl==0.19.0", "axolotl/utils/schemas/config.py", "sequence_len: {}"),
    "llamafactory": ("llamafactory==0.9.5", "llamafactory/hparams/data_args.py", "cutoff_len: {}"),
}
"""Package, file and the setting as the exporter names it, by target."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    alone = sorted({package for package, _, _ in SOURCES.values()})
    return make_environment(tmp_path_factory.mktemp("trainers") / "venv", (), alone).parents[1]


@pytest.mark.parametrize("target", SOURCES)
def test_the_default_that_an_export_names_is_the_trainers(target: str, packages: Path):
    _, file, setting = SOURCES[target]
    name = re.findall(r"\w+", setting)[-1]
    (source,) = packages.glob(f"lib/python*/site-packages/{file}")
    found = re.search(
        rf"^    {name}: [^\n]*= \w+\(\s*(?:default=)?(\d+)", source.read_text(), re.MULTILINE
    )
    assert found is not None
    limit = find_exporter(target).length_limit
    assert limit is not None
    assert limit[1] == setting.format(found[1])
