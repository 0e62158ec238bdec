"""A run that is uploaded over the S3 protocol, by Arrow's own client, to moto's server on loopback.

pytest -m long tests/e2e/test_upload_s3.py
"""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from tests.e2e.command import synth
from tests.e2e.isolated import make_environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of an S3 server that holds the empty bucket ``data``."""
    python = make_environment(tmp_path_factory.mktemp("s3") / "venv", ("moto[server]>=5.2",))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"127.0.0.1:{port}"
        _wait_for(f"http://{address}/")
        urllib.request.urlopen(
            urllib.request.Request(f"http://{address}/data", method="PUT")
        ).close()
        yield address
    finally:
        server.terminate()
        server.wait()


def _wait_for(url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(url).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} does not answer")


def test_a_run_is_in_the_bucket_and_is_replayed_from_there(address: str, tmp_path: Path):
    target = f"s3://data/runs/one?endpoint_override={address}&scheme=http"
    settings = ("env=library", "tasks.count=6", "runtime=inline", "output.rows_per_shard=4")
    uploaded = ("output.dir=out", f"output.upload={target}")
    synth("run", *settings, *uploaded, cwd=tmp_path, env=KEYS)
    bucket = fs.S3FileSystem(
        endpoint_override=address, scheme="http", access_key="testing", secret_key="testing"
    )
    fs.copy_files("data/runs/one", str(tmp_path / "back"), source_filesystem=bucket)
    for file in (tmp_path / "out").glob("data/**/*.parquet"):
        assert (tmp_path / "back" / file.relative_to(tmp_path / "out")).read_bytes() == (
            file.read_bytes()
        )
    synth("replay", "back", cwd=tmp_path)
    again = synth(
        "run",
        *settings,
        "seed=5",
        "output.dir=other",
        f"output.upload={target}",
        cwd=tmp_path,
        env=KEYS,
        code=2,
    )
    assert "another run" in again.stderr


def test_a_bucket_that_is_not_there_ends_the_run_before_it_begins(address: str, tmp_path: Path):
    target = f"s3://nobody/runs?endpoint_override={address}&scheme=http"
    settings = ("env=library", "tasks.count=2", "runtime=inline", "output.dir=out")
    refused = synth("run", *settings, f"output.upload={target}", cwd=tmp_path, env=KEYS, code=2)
    assert "output.upload" in refused.stderr
    assert "Traceback" not in refused.stderr
