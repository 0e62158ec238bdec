"""Worlds of `synth new` from schemata in the manner of well-known products.

python -m tests.bench.new_worlds [SCHEMA.sql ...]

Each schema becomes a world by ``synth new --rows 500 --infer-keys`` in one process, and the table
of docs/guides/public-schemas.md is printed. Without files: those of tests/schemata/products.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PRODUCTS = Path(__file__).parents[1] / "schemata" / "products"
_HEAD = "| schema | tables | tools | families, patterns | tasks | left out | CPU of `new` |"
_FOUND = re.compile(
    r"(\d+) tables; (\d+) families of (\d+) patterns prove themselves, (\d+) left out;"
    r" capacity ([\d,]+) tasks"
)
_TOOLS = re.compile(r"(\d+) tools")


def line(schema: Path, folder: Path) -> str:
    """Make the world of a schema in a folder; the line of the table."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "synth", "new", str(folder / schema.stem), "--from"]
    options = ["--rows", "500", "--infer-keys", "--workers", "1"]
    done = subprocess.run(
        [*command, str(schema), *options], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found, tools = _FOUND.search(done.stdout), _TOOLS.search(done.stdout)
    if done.returncode or found is None or tools is None:
        raise SystemExit(f"{schema}: {done.stderr or done.stdout}")
    tables, families, patterns, left, tasks = found.groups()
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    name = schema.stem.replace("_", " ")
    return (
        f"| {name} | {tables} | {tools[1]} | {families}, {patterns} | {tasks} | {left}"
        f" | {seconds:.0f} s |"
    )


def main() -> None:
    schemata = [*map(Path, sys.argv[1:])] or sorted(PRODUCTS.glob("*.sql"))
    print(_HEAD)
    print("|---|" + "---:|" * 6)
    with tempfile.TemporaryDirectory() as folder:
        for schema in schemata:
            print(line(schema, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
