"""The lengths at which trainers cut unless they are told otherwise, in their own installed source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synth.ext.exporters import find_exporter
from tests.documents import ROOT
from tests.e2e.isolated import make_environment

pytestmark = pytest.mark.long

SOURCES = {
    "trl-sft": ("trl", "trl/trainer/sft_config.py", "SFTConfig(max_length={})"),
    "trl-kto": ("trl", "trl/trainer/kto_config.py", "KTOConfig(max_length={})"),
    "trl-dpo": ("trl", "trl/trainer/dpo_config.py", "DPOConfig(max_length={})"),
    "axolotl": ("axolotl==0.19.0", "axolotl/utils/schemas/config.py", "sequence_len: {}"),
    "llamafactory": ("llamafactory==0.9.5", "llamafactory/hparams/data_args.py", "cutoff_len: {}"),
    "trl.md": ("trl", "trl/trainer/grpo_config.py", "`GRPOConfig(max_completion_length={})`"),
    "verl.md": ("verl", "verl/trainer/config/data/legacy_data.yaml", "`max_response_length: {}`"),
}
"""Package, file and the setting as it is named by the exporter of a target, or by a guide."""


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
        rf"^ *{name}:(?: [^\n]*= \w+\(\s*(?:default=)?)? ?(\d+)", source.read_text(), re.MULTILINE
    )
    assert found is not None
    if target.endswith(".md"):
        assert setting.format(found[1]) in (ROOT / "docs/guides" / target).read_text()
    else:
        assert (find_exporter(target).length_limit or ("", ""))[1] == setting.format(found[1])
