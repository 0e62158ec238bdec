"""An endpoint's faults as a user meets them: exit code, words, what to do, and nothing lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from synth.__main__ import main
from synth.core.dataset.reader import Dataset
from tests.loopback import loopback

JOB = ("run", "env=library", "tasks.count=6", "users=none", "tasks.kind=families", "runtime=inline")
FAMILIES = "tasks.families=[lend_book]"


@dataclass
class Fault:
    """An answer in place of a completion, to the requests from ``first`` to ``last``."""

    status: int
    body: object
    first: int = 0
    last: int = 10**9


@dataclass
class FaultyEndpoint:
    """A chat endpoint on loopback; ``asked`` are the bodies of the completions asked of it."""

    fault: Fault | None = None
    path: str = "/v1/chat/completions"
    asked: list[dict[str, Any]] = field(default_factory=list)
    read: list[str] = field(default_factory=list)  # paths of GET requests
    url: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, object]:
        if path != self.path:
            return 404, {"detail": "Not Found"}
        number = len(self.asked)
        self.asked.append(body)
        fault = self.fault
        if fault is not None and fault.first <= number <= fault.last:
            return fault.status, fault.body
        message = {"role": "assistant", "content": "Done."}
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
        }


@contextmanager
def served(endpoint: FaultyEndpoint) -> Iterator[FaultyEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self.reply(*endpoint.answer(self.path, body))

        def do_GET(self) -> None:
            endpoint.read.append(self.path)
            self.reply(404, {"detail": "Not Found"})

        def reply(self, status: int, body: object) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Keep quiet."""

    with loopback(Handler) as endpoint.url:
        yield endpoint


def job(endpoint: FaultyEndpoint, out: Path, *more: str) -> list[str]:
    return [
        *JOB,
        FAMILIES,
        "model=openai",
        "model.name=some-model",
        f"model.base_url={endpoint.url}/v1",
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
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    status, body, advice = REFUSED[name]
    with served(FaultyEndpoint(Fault(status, body))) as endpoint:
        assert main(job(endpoint, tmp_path / "out")) == 2
    said = capsys.readouterr().err
    words = body.get("message") or body["error"]["message"]
    assert "the endpoint refuses the first call" in said
    assert words[:40] in said
    assert advice in said
    assert "Traceback" not in said
    assert len(endpoint.asked) == 1, "no retries"
    assert not (tmp_path / "out").exists()


def test_a_base_url_without_its_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with served(FaultyEndpoint()) as endpoint:
        words = job(endpoint, tmp_path / "out", f"model.base_url={endpoint.url}")
        words.remove(f"model.base_url={endpoint.url}/v1")
        assert main(words) == 2
    assert f"try model.base_url={endpoint.url}/v1" in capsys.readouterr().err


def test_the_first_call_is_short_has_the_tools_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with served(FaultyEndpoint()) as endpoint:
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


def test_preflight_false_skips_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with served(FaultyEndpoint()) as endpoint:
        assert main(job(endpoint, tmp_path / "out", "preflight=false")) == 0
    assert len(endpoint.asked) == 6
    assert not endpoint.read, "not even the list of models"
    out = capsys.readouterr().out
    assert out.startswith("no rollout has a reward above 0")
    assert "--failed" in out


def test_what_may_pass_is_a_warning_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    fault = Fault(503, {"error": {"message": "Loading model"}}, last=0)
    with served(FaultyEndpoint(fault)) as endpoint:
        assert main(job(endpoint, tmp_path / "out")) == 0
    said = capsys.readouterr().err
    assert "warning: the first call failed, which may pass" in said
    assert "Loading model" in said


def test_nobody_listens(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    endpoint = FaultyEndpoint(url="http://127.0.0.1:9")
    assert main(job(endpoint, tmp_path / "out", "model.max_retries=0")) == 2
    assert "is the endpoint running" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_endpoint_that_hangs_is_given_up_within_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    class Silent(FaultyEndpoint):
        def answer(self, path: str, body: dict[str, Any]) -> tuple[int, object]:
            self.asked.append(body)
            stop.wait(20)
            return 503, {}

    stop = threading.Event()
    with served(Silent()) as endpoint:
        limits = ("model.timeout_s=0.3", "model.max_retries=0", "runtime.max_attempts=1")
        assert main(job(endpoint, tmp_path / "out", *limits)) == 3
        stop.set()
    shown = capsys.readouterr()
    assert "which may pass" in shown.err
    assert "6 rollouts broke and left no row" in shown.out
    assert "6 x ModelError" in shown.out
    assert "--failed" in shown.out


def test_refused_in_the_middle_then_mended_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    fault = Fault(401, {"error": {"message": "The key was revoked"}}, first=3)
    with served(FaultyEndpoint(fault)) as endpoint:
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
        endpoint.fault = None
        assert main(["run", "--resume", str(out)]) == 0, capsys.readouterr()
        assert Dataset.open(out).count == 6
        capsys.readouterr()
        assert main(["run", "--resume", str(out)]) == 0
        assert capsys.readouterr().out.startswith("complete already: 6 of 6 rollouts")
