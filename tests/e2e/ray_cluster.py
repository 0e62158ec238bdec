"""A Ray cluster on this machine in a process of its own, because Ray reads its settings once per
process.

Each line on its standard input is a JSON object with the resources of its own that a further node
has, beside one processor; the answer is the process id of the node's raylet. The first line is the cluster's address. The end of the input ends it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_raylet_start_wait_time_s": "200",
    "RAY_prestart_worker_first_driver": "0",
}
"""Token authentication; a lost node is noticed within seconds."""


class ClusterProcess:
    """A cluster whose head has no room for workers; ``env`` lets a driver use it.

    ``more`` are environment variables of its workers.
    """

    def __init__(self, more: Mapping[str, str]) -> None:
        self.env = SETTINGS | {"RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.ray_cluster"],
            env={**os.environ, **self.env, **more},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.address = self._answer()

    def add_node(self, **resources: float) -> int:
        """Add a node; return the process id of its raylet."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(resources) + "\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.startswith("> "):
                return line[2:].strip()
        raise AssertionError("the cluster ended")

    def close(self) -> None:
        try:
            self._process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


@contextmanager
def ray_cluster(**more: str) -> Iterator[ClusterProcess]:
    """Start a cluster, and end it with everything that runs on it."""
    cluster = ClusterProcess(more)
    try:
        yield cluster
    finally:
        cluster.close()


def main() -> None:
    from ray.cluster_utils import Cluster

    quiet = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **quiet})
    print(f"> {cluster.address}", flush=True)
    for line in sys.stdin:
        node = cluster.add_node(num_cpus=1, resources=json.loads(line))
        print(f"> {node.all_processes['raylet'][0].process.pid}", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
