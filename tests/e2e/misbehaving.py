"""A small world whose one tool does what the test says, and writes down each call outside of
everything.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from tests.e2e.command import APART, COMMAND
from tests.e2e.test_kill import kill_all

ITEMS = 60

EXECUTORS = '''
import asyncio, os, sys, time
from pathlib import Path
from envs import tool
from sqlalchemy import Connection, text

CALLS = Path(os.environ.get("CALLS", os.devnull))


def misbehave(how: str) -> None:
    if how == "exit":
        os._exit(1)
    if how == "sys.exit":
        sys.exit(4)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "cancel":
        raise asyncio.CancelledError
    if how == "base":
        raise BaseException("based")
    if how == "recursion":
        misbehave(how)
    if how == "loop":
        while True:
            pass
    if how == "sleep":
        time.sleep(10**6)
    if how == "print":
        print("x" * 100_000)


@tool
def rename(db: Connection, item: str, name: str) -> dict:
    """Give an item another name.

    Args:
        item: The item.
        name: The new name.
    """
    line = f"{item} {name}\\n"
    proved = line in CALLS.read_text()
    with CALLS.open("a") as calls:
        calls.write(line)
    if proved and item == os.environ.get("WHO"):
        misbehave(os.environ["HOW"])
    if proved:
        time.sleep(float(os.environ.get("PACE", "0")))
    while proved and CALLS.with_name("hold").exists():
        time.sleep(0.05)
    done = db.execute(text("UPDATE items SET name = :n WHERE name = :i"), {"n": name, "i": item})
    return {"renamed": done.rowcount}
'''

TASKS = """
now: "2026-03-02T09:00:00"
families:
- id: rename_item
  ground: {key: item_id, sql: "SELECT item_id, name FROM items"}
  vary: {new: {choice: [Alpha]}}
  user: {says: ["Please call {name} {new}."]}
  gold:
  - rename: {item: "{name}", name: "{new}"}
  - say: "Done."
"""


class Place:
    """A folder with the world, the calls it has seen, and a temporary directory of its own for all
    that is started.
    """

    def __init__(self, home: Path) -> None:
        self.home, self.world, self.calls = home, home / "world", home / "calls"
        self.hold = home / "hold"  # rollouts wait while it exists
        self.started: list[subprocess.Popen[str]] = []
        self.world.mkdir(parents=True)
        self.calls.touch()
        (self.world / "schema.sql").write_text(
            "CREATE TABLE items (item_id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
        )
        rows = "".join(f"INSERT INTO items VALUES ({at}, 'item{at}');\n" for at in range(ITEMS))
        (self.world / "seed.sql").write_text(rows)
        (self.world / "executors.py").write_text(EXECUTORS)
        (self.world / "tasks.yaml").write_text(TASKS)

    def start(self, *arguments: str, **how: str) -> subprocess.Popen[str]:
        """``synth run`` on this world, leading a process group of its own, as a shell in a terminal
        starts it.
        """
        new = () if "--resume" in arguments else (f"env.path={self.world}",)
        if new and not any(each.startswith("budget.") for each in arguments):
            new += (APART,)
        if new and not any(each.startswith("tasks.count=") for each in arguments):
            new += ("tasks.count=60",)
        process = subprocess.Popen(
            [*COMMAND, "run", *new, *arguments],
            cwd=self.home,
            env=os.environ | {"CALLS": str(self.calls), **how},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """End what a failed test left running."""
        for each in self.started:
            with each:  # its pipes too, where it ended by itself
                if each.poll() is None:
                    kill_all(each.pid)

    def run(self, *arguments: str, **how: str) -> tuple[int, str, str]:
        """The same to its end: exit code, standard output, standard error."""
        process = self.start(*arguments, **how)
        out, said = process.communicate(timeout=300)
        return process.returncode, out, said

    def count(self) -> int:
        return self.calls.read_text().count("\n")

    def wait_for_calls(self, process: subprocess.Popen[str], calls: int) -> None:
        while process.poll() is None and self.count() < calls:
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C: the terminal signals the whole group."""
    os.killpg(process.pid, signal.SIGINT)


def wait_for_words(process: subprocess.Popen[str], words: str) -> str:
    """Read standard error until it has said this."""
    assert process.stderr is not None
    said = ""
    while words not in said:
        line = process.stderr.readline()
        assert line, f"it ended without saying {words!r}: {said}"
        said += line
    return said
