"""Free SQL on SQLite in a process that can be killed: the same as in place, and attacks that
nothing in place survives.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.environments.database import DatabaseExecutableEnvironment
from envs.errors import ExecutorError
from envs.processes import close_pools
from envs.sandboxes.sqlite.sandbox import SqliteTemplate
from envs.types import Limits, Pins, ToolCall, ToolOutcome
from envs.world.loader import World, load_world

pytestmark = pytest.mark.slow

SCHEMA = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, note TEXT);
CREATE TABLE mark (item_id INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE, at TEXT DEFAULT CURRENT_TIMESTAMP);
"""
SEED = (
    "INSERT INTO item (id, name) VALUES (1, 'pen'), (2, 'ink'), (3, 'pad'); INSERT INTO mark"
    " VALUES (1, 'then');"
)
TOOLS = "- builtin: [list_tables, run_select_query, run_mutation_query, submit_sql]\n"
EXECUTORS = '''
import os, threading, time
from sqlalchemy import Connection, text
from envs import ToolError, tool

KEPT = []

@tool
def rename(db: Connection, id: int, name: str) -> dict:
    """Rename an item.

    Args:
        id: Its id.
        name: Its new name.
    """
    db.execute(text("UPDATE item SET name = :n WHERE id = :i"), {"n": name, "i": id})
    return {"id": id}

@tool(free_sql=True)
def act(db: Connection, what: str, sql: str) -> dict:
    """Do something after a statement.

    Args:
        what: What.
        sql: The statement.
    """
    db.exec_driver_sql(sql)
    if what == "refuse":
        raise ToolError("No.", category="refused")
    if what == "break":
        raise ZeroDivisionError("author's bug")
    if what == "fork" and os.fork() == 0:
        time.sleep(600)
    if what == "thread":
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if what == "keep":
        KEPT.append(db)
    if what == "use kept":
        KEPT[-1].exec_driver_sql("DELETE FROM item")
    if what == "hang":
        time.sleep(600)
    if what == "die":
        os.kill(os.getpid(), 9)
    if what == "eat":
        b"x" * 2**31
    if what == "fill disk":
        with open("/tmp/" + db.exec_driver_sql("SELECT 'never' ").scalar() + str(os.getpid()), "wb") as file:
            os.unlink(file.name)
            for _ in range(200):
                file.write(b"x" * 2**20)
    return {"pid": os.getpid()}
'''


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("worlds") / "desk"
    folder.mkdir()
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "seed.sql").write_text(SEED)
    (folder / "tools.yaml").write_text(TOOLS)
    (folder / "executors.py").write_text(textwrap.dedent(EXECUTORS))
    yield load_world(folder)
    close_pools()


@pytest.fixture(scope="module")
def template(world: World) -> Iterator[SqliteTemplate]:
    with world.template() as made:
        assert isinstance(made, SqliteTemplate)
        yield made


@pytest.fixture
def environment(world: World, template: SqliteTemplate) -> Iterator[DatabaseExecutableEnvironment]:
    with world.environment(template, Pins(seed=5), Limits(statement_timeout_ms=300)) as opened:
        yield opened


def ask(
    environment: DatabaseExecutableEnvironment, tool: str, /, **arguments: object
) -> ToolOutcome:
    return environment.call(ToolCall.of(tool, arguments))


def select(environment: DatabaseExecutableEnvironment, sql: str) -> ToolOutcome:
    return ask(environment, "run_select_query", sql=sql)


def names(environment: DatabaseExecutableEnvironment) -> list[str]:
    return [
        row[0]
        for row in select(environment, "SELECT name FROM item ORDER BY id").result.output["rows"]
    ]


def test_no_call_takes_the_time_in_which_the_process_starts(world: World, tmp_path: Path):
    folder = Path(shutil.copytree(world.path, tmp_path / "late"))
    late = "import sys\nif 'envs.processes.zygote' in sys.modules: time.sleep(2)\n"
    (folder / "executors.py").write_text(f"{EXECUTORS}\n{late}")
    own = load_world(folder)
    with own.template() as template, own.environment(template, Pins()) as environment:
        select(environment, "SELECT 1")
        assert environment.executions[0].ms < 2000


def children(root: int = 0, below: int = 0) -> list[int]:
    """Processes that descend from this one (or ``root``), from so many generations below its
    children on.
    """
    found: dict[int, list[int]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            found.setdefault(int(each.read_text().rpartition(")")[2].split()[1]), []).append(
                int(each.parent.name)
            )
    generations = [found.get(root or os.getpid(), [])]
    while generations[-1]:
        generations.append([child for parent in generations[-1] for child in found.get(parent, [])])
    return [pid for generation in generations[below:] for pid in generation]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


CALLS: list[tuple[str, dict[str, object]]] = [
    ("run_select_query", {"sql": "SELECT * FROM item ORDER BY id"}),
    ("rename", {"id": 1, "name": "quill"}),
    ("run_select_query", {"sql": "SELECT name, random(), CURRENT_TIMESTAMP FROM item ORDER BY id"}),
    (
        "run_mutation_query",
        {"sql": "INSERT INTO item (name, note) VALUES ('cap', hex(randomblob(4))) RETURNING *"},
    ),
    ("run_mutation_query", {"sql": "DELETE FROM item WHERE id = 1"}),
    ("run_mutation_query", {"sql": "INSERT INTO item (id, name) VALUES (2, 'x')"}),
    ("run_mutation_query", {"sql": "UPDATE item SET name = NULL"}),
    ("run_select_query", {"sql": "DELETE FROM item"}),
    ("run_select_query", {"sql": "SELEC 1"}),
    ("run_select_query", {"sql": "SELECT nme FROM item"}),
    ("run_select_query", {"sql": "PRAGMA query_only = 0"}),
    ("run_select_query", {"sql": "ATTACH 'x' AS x"}),
    ("run_select_query", {"sq": "SELECT 1"}),
    ("run_select_query", {"sql": "SELECT zeroblob(300000)"}),
    ("rename", {"id": 2, "name": "toner"}),
    ("act", {"what": "refuse", "sql": "DELETE FROM item"}),
    ("submit_sql", {"sql": "SELECT i.name, m.at FROM item i LEFT JOIN mark m ON m.item_id = i.id"}),
    ("run_mutation_query", {"sql": "UPDATE item SET note = random() WHERE id = 3"}),
]


def test_both_ways_tell_and_leave_the_same(world: World, template: SqliteTemplate):
    """Results, contents, changes per call, diff and hash are equal where everything runs in
    place.
    """
    with (
        world.environment(template, Pins(seed=9)) as apart,
        DatabaseExecutableEnvironment(
            world.toolbox, template.open(Pins(seed=9)), template.tables
        ) as in_place,
    ):
        for name, arguments in CALLS:
            one, other = ask(apart, name, **arguments), ask(in_place, name, **arguments)
            assert one == other, (name, arguments)
        assert apart.diff() == in_place.diff()
        assert len(apart.diff().changes) > 2
        assert apart.state_hash() == in_place.state_hash()
        with apart.sandbox.fork() as fork:
            assert fork.diff() == apart.diff()


def test_only_free_sql_leaves_this_process(
    world: World, environment: DatabaseExecutableEnvironment
):
    assert environment.inline("rename")
    assert not environment.inline("run_select_query")
    assert (
        ask(environment, "act", what="nothing", sql="SELECT 1").result.output["pid"] != os.getpid()
    )
    assert [each.name for each in world.tools if each.free_sql] == [
        *("act", "run_select_query", "run_mutation_query", "submit_sql")
    ]


BOMBS = {
    "recursion": (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    ),
    "distinct recursion": (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION SELECT x + 1 FROM n) SELECT count(*) FROM n"
    ),
    "instr": "SELECT instr(hex(zeroblob(100000)), hex(zeroblob(50000)) || '1')",
    "wide": "SELECT " + ", ".join(["hex(zeroblob(120000))"] * 1_900),
    "rows": (
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x,"
        " hex(zeroblob(100000)) FROM n"
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_result_and_the_rollout_goes_on(
    environment: DatabaseExecutableEnvironment, name: str
):
    """Whatever it is, it ends as a timeout or a limit, soon, and what the calls before it did
    stands.
    """
    assert ask(
        environment, "run_mutation_query", sql="UPDATE item SET name = 'kept' WHERE id = 1"
    ).result.ok
    began = time.monotonic()
    outcome = ask(environment, "submit_sql", sql=BOMBS[name])
    if name != "instr":  # quick enough on some machines
        assert outcome.result.category in {"timeout", "limit_exceeded"}, outcome.content[:300]
    assert outcome.arguments == {"sql": BOMBS[name]}
    assert time.monotonic() - began < 30
    assert names(environment) == ["kept", "ink", "pad"]


@pytest.mark.parametrize(
    ("what", "category"),
    [("die", "limit_exceeded"), ("hang", "timeout"), ("eat", "limit_exceeded")],
)
def test_a_killed_call_loses_itself_only(
    environment: DatabaseExecutableEnvironment, what: str, category: str
):
    outcome = ask(environment, "act", what=what, sql="DELETE FROM item")
    assert (outcome.result.status, outcome.result.category) == ("error", category)
    assert not environment.diff()
    assert ask(environment, "rename", id=2, name="toner").result.ok
    assert names(environment) == ["pen", "toner", "pad"]


def test_a_file_that_grows_too_large_is_the_authors_error(
    environment: DatabaseExecutableEnvironment,
):
    with pytest.raises(ExecutorError, match="OSError"):
        ask(environment, "act", what="fill disk", sql="SELECT 1")
    assert names(environment) == ["pen", "ink", "pad"]


def test_a_bug_is_the_authors_with_file_and_line(environment: DatabaseExecutableEnvironment):
    with pytest.raises(ExecutorError, match="author's bug") as caught:
        ask(environment, "act", what="break", sql="DELETE FROM item")
    assert str(caught.value.file).endswith("desk/executors.py")
    assert caught.value.line is not None
    assert not environment.diff()


@pytest.mark.parametrize("what", ["fork", "thread", "keep"])
def test_what_an_executor_leaves_behind(environment: DatabaseExecutableEnvironment, what: str):
    """Its process, thread or connection has no part in later calls."""
    assert ask(
        environment, "act", what=what, sql="UPDATE item SET note = 'n' WHERE id = 1"
    ).result.ok
    assert len(environment.diff().changes) == 1
    if what == "keep":
        assert not ask(environment, "act", what="use kept", sql="SELECT 1").result.ok
    assert names(environment) == ["pen", "ink", "pad"]
    assert len(environment.diff().changes) == 1


def test_killed_from_outside_at_any_moment(environment: DatabaseExecutableEnvironment):
    """Somebody kills the processes that calls run in, all the time: a call counts or is a result,
    and the state is that of the calls that counted.
    """
    assert select(environment, "SELECT 1").result.ok
    over = threading.Event()
    shot: list[int] = []

    def shoot() -> None:
        while not over.wait(0.01):
            for pid in children(below=1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    shot.append(pid)

    shooting = threading.Thread(target=shoot)
    shooting.start()
    done = 0
    try:
        for _ in range(60):
            outcome = ask(
                environment, "run_mutation_query", sql="INSERT INTO mark (item_id) VALUES (2)"
            )
            done += outcome.result.ok
            assert outcome.result.ok or outcome.result.category == "limit_exceeded"
    finally:
        over.set()
        shooting.join()
    assert shot
    assert len(environment.diff().changes) == done
    assert select(environment, "SELECT count(*) FROM mark").result.output["rows"] == [[done + 1]]


def test_the_process_that_forks_may_die_too(environment: DatabaseExecutableEnvironment):
    """It takes its children along, and the next call has new ones."""
    assert ask(
        environment, "run_mutation_query", sql="UPDATE item SET name = 'kept' WHERE id = 1"
    ).result.ok
    below = children(below=1)
    for pid in set(children()) - set(below):
        os.kill(pid, signal.SIGKILL)
    while any(running(pid) for pid in below):
        time.sleep(0.01)
    assert names(environment) == ["kept", "ink", "pad"]


def test_one_process_runs_call_after_call(environment: DatabaseExecutableEnvironment):
    calls = [ask(environment, "act", what="nothing", sql="SELECT 1") for _ in range(3)]
    assert len({call.result.output["pid"] for call in calls}) == 1


def test_an_idle_process_that_somebody_kills_is_gone_at_once(
    environment: DatabaseExecutableEnvironment,
):
    """No zombie waits for the next call, which has another process."""
    assert ask(
        environment, "run_mutation_query", sql="UPDATE item SET name = 'kept' WHERE id = 1"
    ).result.ok
    pid = ask(environment, "act", what="nothing", sql="SELECT 1").result.output["pid"]
    os.kill(pid, signal.SIGKILL)
    for _ in range(500):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()
    assert names(environment) == ["kept", "ink", "pad"]


def test_processes_end_with_their_parent(world: World, tmp_path: Path):
    """Killed, the parent takes all of them along, also one that is at work."""
    code = f"""
import sys, threading, time
from envs.world.loader import load_world
from envs.types import Limits, Pins, ToolCall
world = load_world({str(world.path)!r})
environment = world.environment(world.template(), Pins(), Limits(statement_timeout_ms=60_000))
hang = ToolCall.of("act", {{"what": "hang", "sql": "SELECT 1"}})
threading.Thread(target=environment.call, args=(hang,), daemon=True).start()
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[5]) as parent:
        while len(below := children(root=parent.pid)) < 3:
            time.sleep(0.05)
        parent.kill()
    while any(running(pid) for pid in below):
        time.sleep(0.05)


def test_thousands_of_calls_leave_no_descriptors_and_no_zombies(
    environment: DatabaseExecutableEnvironment,
):
    descriptors = processes = 0
    for at in range(1_000):
        assert select(environment, "SELECT 1").result.ok
        if at == 10:
            descriptors, processes = len(list(Path("/proc/self/fd").iterdir())), len(children())
        if at % 100 == 50:
            ask(environment, "act", what="die", sql="SELECT 1")
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors + 2
    assert len(children()) <= processes + 2
