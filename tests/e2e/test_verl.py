"""verl's own datasets, worker, advantages and loss on runs of ours, in an environment of its own.

pytest -m long tests/e2e/test_verl.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.presets import find_preset
from tests.documents import ROOT
from tests.e2e.command import synth
from tests.e2e.isolated import consume, make_environment
from tests.e2e.run_with_mistakes import play_with_mistakes

pytestmark = [pytest.mark.long, pytest.mark.timeout(3_600)]

PACKAGES = ("verl[verl-core]==0.9.1", str(ROOT))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with verl and synth."""
    return make_environment(tmp_path_factory.mktemp("verl") / "venv", PACKAGES)


def test_verl_trains_on_rewards_of_the_verifiers(python: Path, tmp_path: Path):
    """The expert's rollouts earn 1.0 and those of a random model 0; the tokens that are trained on
    are exactly the sampled ones, and those of the right rollouts become more probable.
    """
    job = ("run", "env=shop", "tasks.count=4", "seed=3", "runtime=inline", "output.dir=run")
    synth(*job, cwd=tmp_path)
    export(tmp_path / "run", "verl", tmp_path / "rows.parquet", options={"agent": "synth"})
    loop = {
        "name": "synth",
        "_target_": "synth.ext.rl.verl.VerlAgentLoop",
        "run": str(tmp_path / "run"),
    }
    (tmp_path / "loop.yaml").write_text(json.dumps([loop]))
    (tmp_path / "qwen3.jinja").write_text(find_preset("qwen3").source)
    report = json.loads(consume(python, "verl_consumer.py", tmp_path))
    assert report["tasks"] == 4
    for number, step in enumerate(report["steps"]):
        assert sorted(step["rewards"]) == [0.0] * 8 + [1.0] * 8
        assert step["solved"] == step["rewards"]
        assert set(step["policy"]) == {number}, "the version of the policy is with the rollout"
        assert step["drift"] < 1e-4, "probabilities are those that were sampled with"
        assert step["gradient"] > 0
        assert "<tool_response>" in step["text"], "results are in the sequence"
        assert "<tool_response>" not in step["learned"], "and nobody is trained on them"
        assert step["learned"].startswith("<tool_call>")
    good = [step["good"] for step in report["steps"]]
    assert good[0] < good[1] < good[2], "right rollouts become more probable"


def test_verl_reads_whole_conversations(python: Path, tmp_path: Path):
    """Its SFT dataset trains on the calls and the words of the assistant in each row, and on nothing
    else; rows in which a mistake was made are not among them.
    """
    run = play_with_mistakes(tmp_path)
    written = export(run, "verl-sft", tmp_path / "rows.parquet").examples
    assert 0 < written < 48
    (tmp_path / "template.jinja").write_text(find_preset("qwen2.5").source)
    examples = json.loads(consume(python, "verl_sft_consumer.py", tmp_path))
    rows = pq.read_table(tmp_path / "rows.parquet")["messages"].to_pylist()
    assert len(examples) == len(rows) == written
    for example, messages in zip(examples, rows, strict=True):
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        assert example["trained"].split("<|im_end|>\n") == [*said, ""]
        assert "<tools>" in example["text"]
