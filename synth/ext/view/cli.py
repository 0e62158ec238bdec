"""``synth view``: a dataset as a page for a browser."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from synth.core.cli.command import Arguments, command
from synth.core.dataset.reader import Dataset
from synth.core.foundation.standard_output import say
from synth.errors import OperatorError
from synth.ext.view.page import write_page
from synth.ext.view.server import ViewServer

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
  --serve             serve on 127.0.0.1 with a token
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
            asyncio.run(_serve(paths, options.port))
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


async def _serve(paths: list[Path], port: int) -> None:
    for path in paths:
        Dataset.open(path).close()  # a wrong path is refused before anything listens
    server = ViewServer(paths)
    try:
        await server.start(port)
    except OSError as error:
        raise OperatorError(f"--port {port}: {error.strerror}") from error
    say(f"{server.url}\nthe token in it is the only way in; Ctrl-C ends the server", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
