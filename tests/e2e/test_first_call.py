"""An endpoint's faults as a user meets them: exit code, words, what to do, and nothing lost."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from synth.__main__ import main
from synth.core.dataset.reader import Dataset
from synth.core.types.events import Usage
from synth.model import Completion
from tests.e2e.expert_endpoint import endpoint
from tests.faulty_endpoint import Fault

Captured = pytest.CaptureFixture[str]

JOB = ("run", "env=library", "tasks.count=6", "users=none", "tasks.kind=families", "runtime=inline")
FAMILIES = "tasks.families=[lend_book]"


@dataclass
class Faulty:
    """A model on loopback; the requests from ``first`` to ``last`` are refused with the status.

    ``asked`` are the bodies of the completions asked of it, ``read`` the paths of GET requests.
    """

    status: int | None = None
    body: object = None
    first: int = 0
    last: int = 10**9
    hangs_s: float = 0
    asked: list[dict[str, Any]] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    url: str = ""

    async def __call__(self, request: dict[str, Any]) -> Completion:
        return Completion("Done.", usage=Usage(100, 2))

    async def fault(self, request: web.Request) -> Fault | None:
        if request.method == "GET":
            self.read.append(request.path)
            return Fault(status=404)
        number = len(self.asked)
        self.asked.append(await request.json())
        if self.status is None or not self.first <= number <= self.last:
            return None
        await asyncio.sleep(self.hangs_s)
        raw = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return Fault(status=self.status, body=(raw,))


@contextmanager
def served(model: Faulty) -> Iterator[Faulty]:
    with endpoint(model, model.fault) as model.url:
        yield model


def job(model: Faulty, out: Path, *more: str) -> list[str]:
    return [
        *JOB,
        FAMILIES,
        "model=openai",
        "model.name=expert",
        f"model.base_url={model.url}",
        "model.api_key_env=null",
        f"output.dir={out}",
        *more,
    ]


PARSER = {
    "object": "error",
    "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be'
    " set",
    "code": 400,
}
REFUSED: dict[str, tuple[int, Any, str]] = {
    "wrong key": (401, {"error": {"message": "Incorrect API key provided"}}, "api_key_env"),
    "no quota": (
        429,
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
        "rights and credit",
    ),
    "wrong model": (
        404,
        {"error": {"message": "The model `some-model` does not exist."}},
        "model.name must be a name that the endpoint serves",
    ),
    "no tool parser": (400, PARSER, "--enable-auto-tool-choice and --tool-call-parser NAME"),
    "bad parameter": (
        400,
        {"error": {"message": "Unsupported parameter: 'temperature'"}},
        "leave the parameter out",
    ),
    "a schema that does not compile": (
        400,
        {"error": {"message": "Failed to initialize samplers: failed to parse grammar"}},
        "synth check WORLD names the keyword",
    ),
    "a filter": (
        400,
        {"error": {"message": "The response was filtered", "code": "content_filter"}},
        "change the filter",
    ),
    "context overflow": (
        400,
        {"error": {"message": "This model's maximum context length is 512 tokens."}},
        "--max-model-len",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_retry_heals_ends_before_anything_is_paid_for(
    name: str, tmp_path: Path, capsys: Captured
):
    status, body, advice = REFUSED[name]
    with served(Faulty(status, body)) as endpoint:
        assert main(job(endpoint, tmp_path / "out")) == 2
    said = capsys.readouterr().err
    words = body.get("message") or body["error"]["message"]
    assert "the endpoint refuses the first call" in said
    assert words[:40] in said
    assert advice in said
    assert "Traceback" not in said
    assert len(endpoint.asked) == 1, "no retries"
    assert not (tmp_path / "out").exists()


def test_a_base_url_without_its_version(tmp_path: Path, capsys: Captured):
    with served(Faulty()) as endpoint:
        bare = endpoint.url.removesuffix("/v1")
        words = job(endpoint, tmp_path / "out")
        assert main([*words[:-3], f"model.base_url={bare}", *words[-2:]]) == 2
    assert f"try model.base_url={endpoint.url}" in capsys.readouterr().err


def test_the_first_call_is_short_has_the_tools_and_is_counted(tmp_path: Path, capsys: Captured):
    with served(Faulty()) as endpoint:
        assert main([*job(endpoint, tmp_path / "out"), "--json"]) == 0
    first, second = endpoint.asked[:2]
    assert endpoint.read == ["/v1/models"]
    assert first["max_tokens"] == 16
    assert "max_tokens" not in second
    assert first["tools"] == second["tools"]
    assert first["messages"][0]["role"] == "system"
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert len(endpoint.asked) == 7
    assert report["tokens"] == 7 * 102
    assert report["rows"] == 6


def test_preflight_false_skips_it(tmp_path: Path, capsys: Captured):
    with served(Faulty()) as endpoint:
        assert main(job(endpoint, tmp_path / "out", "preflight=false")) == 0
    assert len(endpoint.asked) == 6
    assert not endpoint.read, "not even the list of models"
    out = capsys.readouterr().out
    assert out.startswith("no rollout has a reward above 0")
    assert "--failed" in out


EMPTY = {"choices": []}
LOADING = {"error": {"message": "Loading model"}}


@pytest.mark.parametrize(
    ("status", "body", "last", "code", "asked", "words"),
    [
        (503, LOADING, 0, 0, 7, "warning: the first call failed, which may pass: .*Loading model"),
        (200, EMPTY, 0, 0, 8, ""),
        (200, EMPTY, 99, 2, 3, r"refuses the first call: .*no choices.*is model\.base_url the"),
        (200, b"<h1>Welcome</h1>", 99, 2, 3, "refuses the first call: .* HTML"),
    ],
)
def test_what_may_pass_is_a_warning_and_what_is_never_a_completion_is_refused(
    status: int, body: object, last: int, code: int, asked: int, words: str, tmp_path: Path, capsys
):
    with served(Faulty(status, body, last=last)) as endpoint:
        assert main(job(endpoint, tmp_path / "out", "model.max_retries=1")) == code
    assert re.search(words, capsys.readouterr().err)
    assert len(endpoint.asked) == asked


def test_nobody_listens(tmp_path: Path, capsys: Captured):
    endpoint = Faulty(url="http://127.0.0.1:9/v1")
    assert main(job(endpoint, tmp_path / "out", "model.max_retries=0")) == 2
    assert "is the endpoint running" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_endpoint_that_hangs_is_given_up_within_its_time(tmp_path: Path, capsys: Captured):
    with served(Faulty(503, {}, hangs_s=2)) as endpoint:
        limits = ("model.timeout_s=0.3", "model.max_retries=0", "runtime.max_attempts=1")
        assert main(job(endpoint, tmp_path / "out", *limits)) == 3
    shown = capsys.readouterr()
    assert "which may pass" in shown.err
    assert "6 rollouts broke and left no row" in shown.out
    assert "6 x ModelError" in shown.out
    assert "--failed" in shown.out


def test_refused_in_the_middle_then_mended_and_resumed(tmp_path: Path, capsys: Captured):
    with served(Faulty(401, {"error": {"message": "The key was revoked"}}, first=3)) as endpoint:
        out = tmp_path / "out"
        assert main(job(endpoint, out, "runtime.concurrency=1")) == 3
        shown = capsys.readouterr().out
        assert "The key was revoked" in shown
        assert "synth run --resume" in shown
        kept = Dataset.open(out).count
        assert kept in {2, 3}
        assert main(["run", "--resume", str(out)]) == 2, "still refused: said at once"
        assert "The key was revoked" in capsys.readouterr().err
        assert Dataset.open(out).count == kept
        endpoint.status = None
        assert main(["run", "--resume", str(out)]) == 0, capsys.readouterr()
        assert Dataset.open(out).count == 6
        capsys.readouterr()
        assert main(["run", "--resume", str(out)]) == 0
        assert capsys.readouterr().out.startswith("complete already: 6 of 6 rollouts")
