"""``synth view``: a dataset as a page for a browser."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import gzip
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from synth.core.cli.command import Arguments, command
from synth.core.dataset.reader import Dataset
from synth.core.dataset.reviews import Review, Reviews, add_review
from synth.core.dataset.store.task_table import read_levels, read_prompts
from synth.core.foundation.server_token import is_token
from synth.core.foundation.standard_output import say
from synth.core.rewards.scores_apart import names_apart
from synth.errors import DatasetError, OperatorError
from synth.ext.view.page import render, write_page
from synth.ext.view.payload import PLAIN, Payload, describe, failed_verifiers, gold_ends, level, why

INDEXED = tuple(
    column
    for column in PLAIN
    if column not in {"latency_s", "submitted", "state_diff", "call_changes", "injected_faults"}
    and not column.startswith("review")
)
"""Columns of the list: short ones, and the verdicts, of which it shows the reasons."""

ASK_CHARACTERS = 160
"""Length of the request that the list shows."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class ViewServer:
    """Serves one or two runs, and writes down what ``reviewer`` says of their rows, who sees no
    other's review. ``token`` is drawn anew for each server unless it is given.

    It listens on 127.0.0.1 only, and every request must carry the token of the printed address. The
    index of all rows (a few hundred bytes each) goes to the page at once; transcripts are read from
    Parquet one at a time.
    """

    def __init__(
        self, paths: Sequence[Path], token: str | None = None, reviewer: str = "me"
    ) -> None:
        self.paths, self.reviewer = list(paths), reviewer
        self.token = token or secrets.token_urlsafe(24)
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 takes a free one."""
        app = web.Application(middlewares=[self._authorise])
        app.router.add_get("/", self._page)
        app.router.add_get("/api/index", self._index)
        app.router.add_get("/api/row/{run}/{id}", self._row)
        app.router.add_get("/api/search", self._search)
        app.router.add_post("/api/review/{run}/{id}", self._review)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _authorise(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        # A page of another site can reach loopback by name: only the address itself is answered.
        if request.host.rpartition(":")[0] not in {"127.0.0.1", "localhost"}:
            raise web.HTTPForbidden(text="open the address that synth view printed")
        if not is_token(request.query.get("token", ""), self.token):
            raise web.HTTPForbidden(text="the token is missing or wrong; open the printed address")
        try:
            response = await handler(request)
        except DatasetError as error:
            raise web.HTTPConflict(text=str(error)) from error
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    async def _page(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=render(None), content_type="text/html", charset="utf-8")

    async def _index(self, request: web.Request) -> web.Response:
        del request
        return _json(await asyncio.to_thread(self._read_index))

    def _run_of(self, request: web.Request) -> int:
        run = int(request.match_info["run"]) if request.match_info["run"].isdigit() else -1
        if not 0 <= run < len(self.paths):
            raise web.HTTPNotFound(text="unknown run")
        return run

    async def _review(self, request: web.Request) -> web.Response:
        path, trajectory = self.paths[self._run_of(request)], request.match_info["id"]
        if not path.is_dir():
            raise web.HTTPConflict(text="reviews are kept in a run's directory; this is a file")
        said = await request.json()
        review = Review(trajectory, self.reviewer, said["verdict"], said["note"])
        await asyncio.to_thread(add_review, path, review)
        return _json(Reviews.read(path).of(trajectory, self.reviewer))

    async def _row(self, request: web.Request) -> web.Response:
        run = self._run_of(request)
        found = await asyncio.to_thread(self._read_row, run, request.match_info["id"])
        if found is None:
            raise web.HTTPNotFound(text="unknown trajectory")
        return _json(found)

    async def _search(self, request: web.Request) -> web.Response:
        text, where = request.query.get("q", ""), request.query.get("where", "")
        return _json(await asyncio.to_thread(self._find, text, where))

    def _read_index(self) -> dict[str, object]:
        runs: list[object] = []
        rows: list[object] = []
        for number, path in enumerate(self.paths):
            prompts, reviews = read_prompts(path / "tasks.parquet"), Reviews.read(path)
            levels = read_levels(path / "tasks.parquet")
            with Dataset.open(path) as dataset:
                runs.append(describe(dataset))
                rows += [
                    _indexed(row, number, prompts)
                    | {"level": level(levels, row["task_id"])}
                    | reviews.of(row["trajectory_id"], self.reviewer)
                    for row in dataset.rows(columns=(*INDEXED, "executions"))
                ]
        return {"runs": runs, "rows": rows, "prompts": [], "tools": [], "tasks": {}}

    def _read_row(self, run: int, trajectory: str) -> dict[str, object] | None:
        payload = Payload()
        with Dataset.open(self.paths[run]) as dataset:
            row = dataset.find(trajectory)
        if "messages" not in row:  # a rollout that infrastructure broke
            return None
        own = Reviews.read(self.paths[run]).of(trajectory, self.reviewer)
        shown = payload.row(row | own, run)
        return {
            "row": shown,
            "prompts": payload.prompts.values,
            "tools": payload.tools.values,
            "tasks": gold_ends(self.paths[run], {str(row["task_id"])}),
        }

    def _find(self, text: str, where: str) -> list[str]:
        """References of the rows whose transcript holds the text, ignoring case, and that meet the
        SQL condition; an empty one is none.
        """
        wanted = text.strip().lower()
        found: list[str] = []
        for number, path in enumerate(self.paths):
            with Dataset.open(path) as dataset:
                ids = dataset.ids(where) if where.strip() else None
                if not wanted and ids is not None:
                    found += [_reference(one, number) for one in ids]
                    continue
                for row in dataset.rows(columns=("trajectory_id", "messages", "verdicts")):
                    if ids is not None and row["trajectory_id"] not in ids:
                        continue
                    whole = json.dumps([row["messages"], row["verdicts"]], ensure_ascii=False)
                    if wanted in whole.lower():
                        found.append(_reference(row["trajectory_id"], number))
        return found


def _reference(trajectory: str, run: int) -> str:
    return trajectory if run == 0 else f"{trajectory}@{run}"


def _indexed(row: dict[str, Any], run: int, prompts: dict[str, str]) -> dict[str, object]:
    verdicts, executions = row["verdicts"], row["executions"] or ()
    return {
        "run": run,
        **{PLAIN[column]: row[column] for column in INDEXED if column != "verdicts"},
        "why": why(verdicts)[:ASK_CHARACTERS],
        "wrong": failed_verifiers(verdicts),
        "apart": [name for one in verdicts for name in names_apart(one)],
        "failed": [call["tool"] for call in executions if call["category"]],
        "sequence": [call["tool"] for call in executions],
        "ask": prompts.get(row["task_id"], "")[:ASK_CHARACTERS],
    }


def _json(value: object) -> web.Response:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return web.Response(
        body=gzip.compress(text.encode("utf-8", "backslashreplace"), 5),
        content_type="application/json",
        headers={"Content-Encoding": "gzip"},
    )


HELP = """synth view

Write a dataset as one self-contained HTML page: transcripts beside the row changes of each call,
verdicts, plots, and two runs compared. It makes no request.

arguments:
  DIR                 a run directory or Parquet files
  [DIR2]              a run to compare with
options:
  --out FILE          default: DIR/view.html
  --limit N           the first N rows of each run only
  --where SQL         the rows that meet a condition over the dataset's columns
  --serve             serve on 127.0.0.1 with a token; keys accept and reject rows
  --reviewer NAME     who does, with --serve (default: you)
  --port PORT         with --serve; 0 takes a free one [default: 0]

examples:
  synth view out/ehr                        writes out/ehr/view.html; open it in any browser
  synth view out/before out/after           two runs, and which tasks flipped
  synth view out/ehr --out ~/ehr.html --limit 2000
  synth view out/ehr --where "reward < 1 AND num_turns > 8"
  synth view out/big --serve                a local server, for large or growing runs
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or DatasetError."""
    paths = [options.dir, *([options.dir2] if options.dir2 is not None else [])]
    if options.serve:
        if options.limit is not None or options.out is not None or options.where is not None:
            raise OperatorError(
                "--serve reads every row and writes no file: leave out --limit, --where and --out"
                " (its page takes SQL conditions)"
            )
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_serve(paths, options.port, options.reviewer or getpass.getuser()))
        return 0
    out: Path = (options.out or options.dir / "view.html").expanduser()
    if options.out is None and not options.dir.is_dir():
        out = options.dir.with_suffix(".html")
    datasets = [Dataset.open(path) for path in paths]
    try:
        size = write_page(out, datasets, options.limit, options.where)
    finally:
        for dataset in datasets:
            dataset.close()
    say(f"{out} ({size / 1e6:.1f} MB): open it in a browser")
    return 0


async def _serve(paths: list[Path], port: int, reviewer: str) -> None:
    for path in paths:
        Dataset.open(path).close()  # a wrong path is refused before anything listens
    server = ViewServer(paths, reviewer=reviewer)
    try:
        await server.start(port)
    except OSError as error:
        raise OperatorError(f"--port {port}: {error.strerror}") from error
    say(f"{server.url}\nthe token in it is the only way in; Ctrl-C ends the server", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
