"""What the nodes of a Ray cluster must have, and how a run asks for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from synth.core.dataset.reader import Dataset
from synth.core.runner.runtimes.ray import lacking_module
from tests.documents import ROOT
from tests.e2e.command import COMMAND
from tests.e2e.ray_cluster import ClusterProcess, ray_cluster

# In each Python process that finds it: these packages are not installed.
HIDES = """
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("synth", "envs"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hidden())
"""

# A model that says where it is, and what its process has.
WITNESS = """
import os

import ray
from synth.model import Conversation, Model
from synth.model import Completion


class Witness(Model, Conversation):
    name, asks_endpoint = "witness", False

    def __init__(self, options, sampling, api_key):
        pass

    def start(self, task, tools, seed):
        return self

    async def complete(self, messages, on_delta=None):
        here = ray.get_runtime_context()
        names = sorted(here.get_assigned_resources())
        return Completion(" ".join([os.environ["MARK"], here.get_node_id(), *names]))
"""


def run(cluster: ClusterProcess, home: Path, *words: str, **more: str) -> tuple[int, str]:
    """Run a job on the cluster; its exit code and all that it said."""
    job = ("run", "env=library", "tasks.count=8", f"runtime.address={cluster.address}")
    done = subprocess.run(
        [*COMMAND, *job, "output.dir=out", *words],
        cwd=home,
        env={**os.environ, **cluster.env, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.ray
def test_a_node_without_synth_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(HIDES)
    with ray_cluster(PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as cluster:
        cluster.add_node()
        code, said = run(cluster, tmp_path, "runtime.workers=1", PYTHONPATH=str(ROOT))
    host = cluster.address.partition(":")[0]
    assert code == 2, said
    assert f"error: runtime.address: the node {host} of the cluster has no synth: install" in said
    assert "runtime.runtime_env={pip:[synth-worlds==" in said
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists(), "nothing was begun"


@pytest.mark.ray
def test_resources_choose_the_node_and_runtime_env_brings_code(tmp_path: Path) -> None:
    """Two nodes, of which one has a license; the model's module is on neither."""
    code_folder = tmp_path / "brought"
    code_folder.mkdir()
    (code_folder / "witness.py").write_text(WITNESS)
    path = os.pathsep.join([str(code_folder), str(ROOT)])
    with ray_cluster(PYTHONPATH=str(ROOT)) as cluster:
        cluster.add_node()
        cluster.add_node(license=1)
        code, said = run(
            cluster,
            tmp_path,
            "runtime.workers=1",
            "model.kind=witness:Witness",
            "runtime.resources={license:1}",
            f"runtime.runtime_env={{working_dir:'{code_folder}',env_vars:{{MARK:marked}}}}",
            PYTHONPATH=path,
        )
    assert code == 0, said
    with Dataset.open(tmp_path / "out") as dataset:
        words = [row["messages"][-1]["content"].split() for row in dataset.rows()]
    assert len(words) == 8
    assert {word[0] for word in words} == {"marked"}
    assert len({word[1] for word in words}) == 1, "one node"
    assert all("license" in word[2:] for word in words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "(pid=1, ip=10.0.0.7, actor_id=2)\nModuleNotFoundError: No module named 'envs.world'",
            "the node 10.0.0.7 of the cluster has no synth",
        ),
        (
            "(pid=1, ip=10.0.0.7)\nModuleNotFoundError: No module named 'my_pkg.models'",
            "the node 10.0.0.7 of the cluster lacks the module my_pkg",
        ),
        ("ModuleNotFoundError: No module named 'synth'", "a node of the cluster has no synth"),
        ("The actor died unexpectedly before finishing this task.", None),
    ],
)
def test_rays_words_are_read(words: str, said: str | None) -> None:
    found = lacking_module(words)
    assert found is None if said is None else said in (found or "")
