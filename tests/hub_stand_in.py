"""A stand-in of the Hub's API on loopback: datasets in memory, commits, and failures on request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.loopback import Handler, loopback

TOKEN = "hf_standin0123456789abcdef"


class Hub:
    """What the Hub holds. ``fails`` gets each commit's number and says whether it is refused."""

    def __init__(self) -> None:
        self.url = ""
        self.files: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.commits: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.fails: Callable[[int], bool] = lambda number: False

    def commit(self, repo: str, lines: list[dict[str, Any]]) -> None:
        kept = self.files[repo]
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                kept[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del kept[value["path"]]
        self.commits.append({"paths": [line["value"].get("path") for line in lines[1:]]})

    def tree(self, repo: str) -> list[dict[str, Any]]:
        return [
            {
                "type": "file",
                "path": path,
                "size": len(content),
                "oid": hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest(),
            }
            for path, content in sorted(self.files[repo].items())
        ]

    def sha(self, repo: str) -> str:
        """The commit that a repository is at: another one for other files."""
        return hashlib.sha1(json.dumps(self.tree(repo)).encode()).hexdigest()


class _Handler(Handler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append(f"{self.command} {path}")
        if found := re.fullmatch(r"/api/datasets/([\w.-]+/[\w.-]+)/tree/\w+", path):
            self._json(self.hub.tree(found[1]) if found[1] in self.hub.files else None)
        elif found := re.fullmatch(r"/api/datasets/([\w.-]+/[\w.-]+)(?:/revision/main)?", path):
            known = found[1] in self.hub.files
            siblings = [{"rfilename": name} for name in self.hub.files.get(found[1], ())]
            sha = self.hub.sha(found[1]) if known else ""
            self._json({"id": found[1], "sha": sha, "siblings": siblings} if known else None)
        elif found := re.fullmatch(r"/datasets/([\w.-]+/[\w.-]+)/resolve/\w+/(.+)", path):
            content = self.hub.files.get(found[1], {}).get(found[2])
            etag = hashlib.sha1(content or b"").hexdigest()
            commit = self.hub.sha(found[1]) if content is not None else ""
            self._send(content, body=body, etag=etag, commit=commit)
        else:
            self._json(None)

    def do_POST(self) -> None:
        text = (self.body() or self._chunks()).decode()
        path = urlsplit(self.path).path
        self.hub.requests.append(f"POST {path}")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._json({"error": "Invalid credentials"}, status=401)
        elif path == "/api/repos/create":
            asked = json.loads(text)
            repo = f"{asked['organization']}/{asked['name']}"
            self.hub.private.setdefault(
                repo, asked.get("visibility") == "private" or bool(asked.get("private"))
            )
            self.hub.files.setdefault(repo, {})
            self._json({"url": f"{self.hub.url}/datasets/{repo}"})
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif found := re.fullmatch(r"/api/datasets/([\w.-]+/[\w.-]+)/preupload/main", path):
            files = json.loads(text)["files"]
            modes = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in files
            ]
            self._json({"files": modes})
        elif found := re.fullmatch(r"/api/datasets/([\w.-]+/[\w.-]+)/commit/main", path):
            if self.hub.fails(len(self.hub.commits)):
                self._json({"error": "the stand-in was asked to fail"}, status=400)
                return
            self.hub.commit(found[1], [json.loads(line) for line in text.splitlines()])
            url = f"{self.hub.url}/datasets/{found[1]}/commit/{'0' * 40}"
            self._json({"commitUrl": url, "commitOid": "0" * 40, "success": True})
        else:
            self._json(None)

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(parts)

    def _json(self, value: Any, status: int = 200) -> None:
        if value is None:
            value, status = {"error": "Repository not found"}, 404
        self._send(json.dumps(value).encode(), status=status)

    def _send(
        self,
        content: bytes | None,
        *,
        status: int = 200,
        body: bool = True,
        etag: str = "",
        commit: str = "0" * 40,
    ) -> None:
        missing = content is None
        self.send_response(404 if missing else status)
        if missing or status == 404:
            self.send_header("X-Error-Code", "EntryNotFound" if missing else "RepoNotFound")
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", commit)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if body and content:
            self.wfile.write(content)


@contextmanager
def hub() -> Iterator[Hub]:
    kept = Hub()
    with loopback(type("Handler", (_Handler,), {"hub": kept})) as kept.url:
        yield kept
