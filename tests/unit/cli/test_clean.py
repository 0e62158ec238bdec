"""`synth clean` lists and drops what a killed process left, and nothing of one that lives."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Pins
from synth.__main__ import main
from tests.servers import server

KILLED = """
import os, signal, sys
from envs.sandboxes.base import DatabaseTarget, find_engine
from envs.types import Pins
from synth.core.foundation.tempdirs import Scratch

def load(db):
    db.cursor().execute("CREATE TABLE t (id integer PRIMARY KEY)")

made = find_engine(sys.argv[1]).build(load, DatabaseTarget(sys.argv[2]))
sandbox = made.open(Pins())
print(made.server.prefix, Scratch("killed").path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_what_a_killed_process_left_is_listed_and_dropped(
    engine: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    url = server(engine)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def load(db: object) -> None:
        del db

    with find_engine(engine).build(load, DatabaseTarget(url)) as living, living.open(Pins()):
        ours: list[str] = []
        dead: list[str] = []
        while not ours:  # a process of another test may start, and sweep, at the same moment
            dead = subprocess.run(
                [sys.executable, "-c", KILLED, engine, url],
                capture_output=True,
                text=True,
                check=False,
            ).stdout.split()
            assert len(dead) == 2
            assert main(["clean", "--url", url, "--dry-run", "--json"]) == 0
            files, databases = json.loads(capsys.readouterr().out)
            assert dead[1] in files["found"]
            assert files["left"] == files["found"]
            ours = [name for name in databases["found"] if name.startswith(dead[0])]
        main(["clean", "--url", url])  # what other dead processes left may stay
        said = capsys.readouterr().out.splitlines()
        assert not [line for line in said if dead[0] in line and "stays" in line]
        assert not Path(dead[1]).exists()
        with living.open(Pins()):  # its copies are still made
            assert main(["clean", "--url", url, "--dry-run", "--json"]) == 0
        left = json.loads(capsys.readouterr().out)[1]["found"]
        assert not [name for name in left if name.startswith(dead[0])]


def test_a_server_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]):
    assert main(["clean", "--url", "postgresql://nobody:secret@127.0.0.1:1/x"]) == 1
    said = capsys.readouterr().out
    assert "cannot connect to PostgreSQL" in said
    assert "secret" not in said
