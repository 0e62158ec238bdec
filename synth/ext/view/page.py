"""The viewer's page: one self-contained HTML file that makes no request.

The data stands in the page as gzipped JSON in base64. A content security policy admits the page's
own script and style by their digests and nothing else, so that nothing in a transcript can run.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path

from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.atomic_files import write_file
from synth.errors import OperatorError
from synth.ext.view.payload import Payload

MAX_ROWS = 5_000
"""Rows in one file; above that a browser takes seconds to open it."""

SCRIPTS = (
    *("dom", "json", "rows", "list", "trajectory", "reasons", "values"),
    *("overview", "charts", "compare", "main"),
)
"""Parts of the page's script, in their order."""


def write_page(
    out: Path, datasets: list[Dataset], limit: int | None = None, where: str | None = None
) -> int:
    """Write the page of one run, or of two to compare; returns its size in bytes.

    ``where`` is an SQL condition over the columns. Raises :class:`OperatorError` for more than
    ``MAX_ROWS`` rows when no limit is given, and DatasetError for a condition that is none.
    """
    chosen = [None if where is None else dataset.ids(where) for dataset in datasets]
    total = sum(
        dataset.count if ids is None else len(ids)
        for dataset, ids in zip(datasets, chosen, strict=True)
    )
    if limit is None and total > MAX_ROWS:
        raise OperatorError(
            f"{total} rows are too many for one file (at most {MAX_ROWS}): use --limit N for the"
            " first N rows, --where SQL for some, or --serve to read them page by page"
        )
    payload = Payload()
    for dataset, ids in zip(datasets, chosen, strict=True):
        payload.add_run(dataset, limit, ids)
    page = render(payload.as_json())
    target = out.resolve()
    write_file(target, page, target.with_name(f".{target.name}.{os.getpid()}"))
    return len(page)


def render(data: dict[str, object] | None) -> bytes:
    """The page with its data, or (None) the page that asks its own server for rows."""
    script, style = _page_script(), asset("page.css")
    packed = ""
    if data is not None:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
        packed = base64.b64encode(
            gzip.compress(text.encode("utf-8", "backslashreplace"), 9, mtime=0)
        ).decode()
    connect = "'none'" if data is not None else "'self'"
    policy = (
        f"default-src 'none'; script-src {csp_digest(script)}; style-src {csp_digest(style)};"
        f" img-src data:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    return (
        asset("page.html")
        .replace("{{policy}}", policy)
        .replace("{{style}}", style)
        .replace("{{data}}", packed)
        .replace("{{script}}", script)
        .encode()
    )


def _page_script() -> str:
    """The page's script: its parts, in one scope."""
    body = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();'


def asset(name: str) -> str:
    """A file of the page, as text."""
    return (files("synth.ext.view") / "assets" / name).read_text("utf-8")


def csp_digest(text: str) -> str:
    """The source of a content security policy that admits this text."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
