"""What measuring the variety of a dataset costs, on messages of a run with other numbers in them.

uv run python -m tests.bench.variety [ROWS]
"""

from __future__ import annotations

import json
import random
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import synth
from synth.core.dataset.variety import Variety

ENDS = ("thanks", "now", "please", "today")


def main(rows: int) -> None:
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        synth.run(["env=shop", "tasks.count=200", "runtime=inline", f"output.dir={run}"])
        recorded = [row["messages"] for row in synth.load(run).rows(["messages"])]
    variety, spent, before = Variety(), 0.0, peak_mb()
    for index in range(rows):
        texts = [
            json.dumps(changed(message, draw), separators=(",", ":"))
            for message in draw.choice(recorded)
        ]
        began = time.process_time()
        variety.add(f"task-{index}", texts)
        spent += time.process_time() - began
    began = time.process_time()
    figures = variety.to_json()
    spent += time.process_time() - began
    grown = peak_mb() - before
    print(f"{rows:,} rows: {spent:.1f} s of CPU, {grown:.0f} MB more, {figures['requests']}")


def peak_mb() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def changed(message: dict[str, object], draw: random.Random) -> dict[str, object]:
    """The message; a user's with other digits and another last word."""
    if message["role"] != "user":
        return message
    said = re.sub(r"\d", lambda _: str(draw.randrange(10)), str(message["content"]))
    return {**message, "content": f"{said} {draw.choice(ENDS)}"}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
