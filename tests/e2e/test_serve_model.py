"""``synth serve-model`` and ``model=replay``: the same run again, through HTTP or out of its own
directory.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from synth.core.foundation.perturbations import MISTAKE_KINDS
from tests.e2e.command import COMMAND, stable_rows, synth

Json = Any
PLAN = ("env=shop", "tasks.count=40", "tasks.samples=2", "seed=5")
ERRING = (f"model.mistakes=[{','.join(MISTAKE_KINDS)}]", "model.mistake_rate=0.6")
INLINE = "runtime=inline"
KEY = "test-key-of-the-served-model"
ASKED = {
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "events",
    "provider_fields",
}
"""What an endpoint says besides; the usage is in the events too."""


def differing(ours: Iterable[dict[str, Json]], theirs: Iterable[dict[str, Json]]) -> set[str]:
    """The columns in which two runs of the same jobs differ."""
    pairs = list(zip(ours, theirs, strict=True))
    assert pairs
    return {key for our, their in pairs for key in our if our[key] != their[key]}


def as_sent(rows: Iterable[dict[str, Json]]) -> list[dict[str, Json]]:
    """Rows without ``train``: no endpoint says which of its turns are wrong on purpose."""
    return [
        row
        | {
            "messages": [
                {key: value for key, value in message.items() if key != "train"}
                for message in row["messages"]
            ]
        }
        for row in rows
    ]


class Server:
    """A running ``synth serve-model``: what it printed, and the overrides of the run that it asks
    for.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.said = json.loads(process.stdout.readline())
        self.url: str = self.said["base_url"]
        self.run: Sequence[str] = shlex.split(self.said["run"])[1:]

    def get(self, path: str, body: Json = None, key: str | None = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(
                urllib.request.Request(path, data, headers), timeout=20
            ) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@contextmanager
def serving(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, end: int = signal.SIGTERM
) -> Generator[Server]:
    """Serve until the block ends; it must end cleanly by the signal."""
    command = [*COMMAND, "serve-model", "--json", *arguments]
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=os.environ | (env or {}),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            server = Server(process)
            yield server
            process.send_signal(end)
            out, said = process.communicate(timeout=30)
            assert (process.returncode, out) == (0, "")
            assert "Traceback" not in said
        finally:
            process.kill()


@pytest.fixture(scope="module")
def erring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the expert that errs, two samples of each task."""
    home = tmp_path_factory.mktemp("serve")
    synth("run", *PLAN, *ERRING, INLINE, "output.dir=erring", cwd=home)
    rows = stable_rows(home / "erring")
    assert 0.2 < sum(row["reward"] == 1.0 for row in rows) / len(rows) < 0.8
    return home / "erring"


def test_a_served_expert_gives_the_transcripts_of_the_one_in_process(erring: Path):
    """Mistakes and samples included: the seed in each request says which sample it is."""
    home = erring.parent
    with serving(*PLAN, *ERRING, cwd=home) as server:
        synth(*server.run, INLINE, "output.dir=http", cwd=home)
    ours, theirs = as_sent(stable_rows(home / "http")), as_sent(stable_rows(erring))
    assert differing(ours, theirs) == ASKED | {"config_digest"}


@pytest.mark.ray
def test_a_run_is_repeated_out_of_its_directory(erring: Path):
    """By a Ray worker, which has another working directory."""
    home = erring.parent
    replaying = ("model=replay", "model.path=erring", "runtime.workers=1")
    synth("run", *PLAN, *replaying, "output.dir=again", cwd=home)
    assert differing(stable_rows(home / "again"), stable_rows(erring)) == {"config_digest"}
    synth("replay", "again", cwd=home)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("serve-model", "model=openai", "model.name=m", "model.api_key_env=null"),
            "model=openai cannot be served",
        ),
        (("serve-model", "--api-key-env", "NO_SUCH_KEY"), "the variable NO_SUCH_KEY is not set"),
        (("serve-model", "tasks.count=1", "--port", "99999"), "argument --port: '99999' must be"),
        (
            ("serve-model", "model=replay", "model.path=nowhere"),
            "model.path: {cwd}/nowhere does not exist",
        ),
    ],
)
def test_what_cannot_be_played_or_served_is_said_before_anything_starts(
    arguments: Sequence[str], words: str, tmp_path: Path
):
    done = synth(*arguments, cwd=tmp_path, code=2)
    assert words.format(cwd=tmp_path) in done.stderr
    assert not list(tmp_path.iterdir())


def test_it_asks_for_the_key_streams_and_writes_no_key_down(tmp_path: Path):
    with serving(
        "tasks.count=3",
        "--api-key-env",
        "SERVED_KEY",
        "--verbose",
        cwd=tmp_path,
        env={"SERVED_KEY": KEY},
    ) as server:
        host = server.url.removesuffix("/v1")
        assert server.get(f"{host}/health") == (200, '{"status":"ok"}')
        status, body = server.get(f"{server.url}/models")
        assert (status, json.loads(body)["error"]["code"]) == (401, "invalid_api_key")
        status, body = server.get(f"{server.url}/models", key=KEY)
        assert [each["id"] for each in json.loads(body)["data"]] == ["scripted"]
        asked: Json = {
            "model": "scripted",
            "messages": [{"role": "user", "content": "Who are you?"}],
        }
        status, body = server.get(f"{server.url}/chat/completions", asked, KEY)
        assert status == 400
        assert "no task that is served opens like this" in json.loads(body)["error"]["message"]
        synth("run", "tasks.count=3", INLINE, "output.dir=plain", cwd=tmp_path)
        row = stable_rows(tmp_path / "plain")[0]
        asked |= {"messages": row["messages"][:2], "tools": row["tools"], "stream": True}
        status, body = server.get(f"{server.url}/chat/completions", asked, KEY)
        assert status == 200
        assert body.endswith("data: [DONE]\n\n")
        first = row["messages"][2]["tool_calls"][0]["function"]["name"]
        assert f'"name":"{first}"' in body
        assert "model.api_key_env=SERVED_KEY" in server.run
        server.process.send_signal(signal.SIGTERM)
        _, log = server.process.communicate(timeout=30)
    assert log.count('"POST /v1/chat/completions HTTP/1.1" 200') == 1
    assert KEY not in log
