"""A cluster as its users start it: the head by the compose file's own command, a worker, and three doors to them.

Docker, Kubernetes and Slurm are not run.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.documents import ROOT
from tests.e2e.isolated import make_environment

pytestmark = pytest.mark.long

PORT, DASHBOARD = 6398, 8298
JOB = ("run", "env=library", "runtime=ray", "runtime.workers=1", "tasks.count=2")


@dataclass
class Cluster:
    bin: Path
    environment: Mapping[str, str]
    home: Path

    def run(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [self.bin / program, *words],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout + done.stderr


def started(words: list[str], cluster: Cluster, log: Path) -> subprocess.Popen[bytes]:
    """A process of Ray's, once it says that it runs."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [cluster.bin / words[0], *words[1:]],
            env=cluster.environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    for _ in range(240):
        if "will now block" in log.read_text():
            return process
        assert process.poll() is None, log.read_text()[-2000:]
        time.sleep(0.5)
    pytest.fail(log.read_text()[-2000:])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    home = tmp_path_factory.mktemp("cluster")
    python = make_environment(home / "venv", [f"{ROOT}[cluster]"])
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(24)}
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    own = {"RAY_TMPDIR": "/tmp", "RAY_USAGE_STATS_ENABLED": "0", "PATH": path}
    made = Cluster(python.parent, {**os.environ, **token, **own}, home)
    services = yaml.safe_load((ROOT / "examples/deploy/compose.yaml").read_text())["services"]
    head = services["head"]["command"].replace("6379", str(PORT)).split()
    worker = services["worker"]["command"].replace("head:6379", f"127.0.0.1:{PORT}").split()
    processes: list[subprocess.Popen[bytes]] = []
    try:
        more = [f"--dashboard-port={DASHBOARD}"]
        processes.append(started([*head, *more], made, home / "head.txt"))
        processes.append(started([*worker, "--num-cpus=2"], made, home / "worker.txt"))
        yield made
    finally:
        for process in reversed(processes):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", f"127.0.0.1:{PORT}"])
def test_a_driver_joins_from_outside_and_from_a_node(cluster: Cluster, address: str):
    out = cluster.home / address.partition("://")[0].replace(":", "-")
    said = cluster.run("synth", *JOB, f"runtime.address={address}", f"output.dir={out}")
    assert "complete: 2 of 2 rollouts" in said


def test_a_job_is_submitted(cluster: Cluster):
    run = ["synth", *JOB, "runtime.address=auto", f"output.dir={cluster.home / 'job'}"]
    address = f"--address=http://127.0.0.1:{DASHBOARD}"
    said = cluster.run("ray", "job", "submit", address, "--", *run)
    assert "succeeded" in said
    assert (cluster.home / "job" / "manifest.json").is_file()
