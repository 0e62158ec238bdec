"""What an environment of one's own may do wrong: its server hangs, dies or talks nonsense, and its
state is not rows.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from envs.environments.external import ExternalExecutableEnvironment
from envs.errors import ExecutorError, SandboxError, WorldError
from envs.sandboxes.base import Template
from envs.types import Limits, Pins, ToolCall, ToolOutcome
from envs.world.loader import World, load_world
from tests.loopback import Handler

SCHEMA = """
CREATE TABLE shelf (id INTEGER PRIMARY KEY, room TEXT NOT NULL UNIQUE);
CREATE TABLE box (
  id INTEGER PRIMARY KEY, inside INTEGER REFERENCES box (id) ON DELETE CASCADE,
  shelf INTEGER NOT NULL REFERENCES shelf (id), weight REAL, label TEXT
);
"""
SEED = """
INSERT INTO shelf VALUES (1, 'hall'), (2, 'attic');
INSERT INTO box VALUES (1, NULL, 1, 2.5, 'tea'), (2, 1, 1, 0.5, NULL), (3, NULL, 2, NULL, 'cups');
"""
EXECUTORS = '''
from envs import ToolError, tool

@tool
def put(shelves, box: int, label: str) -> str:
    """Label a box.

    Args:
        box: Its number.
        label: The label.
    """
    shelves.send({"box": box, "label": label})
    if label == "refused":
        raise ToolError("No.")
    if label == "bug":
        return 1 // 0
    return "done"

@tool(read_only=True)
def look(shelves, mood: str) -> str:
    """Look.

    Args:
        mood: What the server is told.
    """
    return shelves.send({"mood": mood})["said"]

@tool(statement_timeout_ms=100)
def linger(shelves) -> str:
    """Take long."""
    shelves.send({"mood": "slow"})
    return "done"
'''
SERVED = """
import http.client, json, os, socket
from envs.environments.external import ExternalExecutableEnvironment

class Served(ExternalExecutableEnvironment):
    patience = None
    connection = None

    def start(self, rows):
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", int(os.environ["SHELVES_PORT"]), timeout=self.patience or self.timeout_s
        )
        self.send({"rows": rows})

    def snapshot(self):
        return self.send({"snapshot": True})

    def stop(self):
        if self.connection is not None:
            if self.connection.sock is not None:
                self.connection.sock.shutdown(socket.SHUT_RDWR)
            self.connection.close()

    def send(self, body):
        self.connection.request("POST", "/", json.dumps(body))
        return json.loads(self.connection.getresponse().read())

class Patient(Served):
    patience = 600
"""


class Shelves:
    """A server on loopback with a mood; ``released`` ends what hangs."""

    def __init__(self) -> None:
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.starts = 0
        self.mood = ""
        self.released = threading.Event()
        shelves = self

        class Moody(Handler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.body())
                mood = body.get("mood", "") or (shelves.mood if "snapshot" in body else "")
                with suppress(OSError):
                    getattr(self, f"act_{mood}", self.act)(body)

            def act(self, body: dict[str, Any]) -> None:
                if "rows" in body:
                    shelves.tables, shelves.starts = body["rows"], shelves.starts + 1
                if "box" in body:
                    (box,) = (box for box in shelves.tables["box"] if box["id"] == body["box"])
                    box["label"] = body["label"]
                self.send_json(200, shelves.tables if "snapshot" in body else {"said": "ok"})

            def act_slow(self, body: dict[str, Any]) -> None:
                shelves.released.wait(30)

            act_hang = act_slow

            def act_trickle(self, body: dict[str, Any]) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "100000")
                self.end_headers()
                while not shelves.released.wait(0.05):
                    self.wfile.write(b" ")

            def act_die(self, body: dict[str, Any]) -> None:
                self.connection.shutdown(socket.SHUT_RDWR)

            def act_babble(self, body: dict[str, Any]) -> None:
                self.send(200, b"<html>Bad gateway</html>")

            def act_reversed(self, body: dict[str, Any]) -> None:
                turned = {
                    name: [dict(reversed(row.items())) for row in reversed(rows)]
                    for name, rows in reversed(shelves.tables.items())
                }
                self.send_json(200, turned)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Moody)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def shelves(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelves]:
    made = Shelves()
    monkeypatch.setenv("SHELVES_PORT", str(made.server.server_port))
    yield made
    made.close()


def world_in(folder: Path, code: str, name: str, **files: str) -> World:
    texts = {"schema.sql": SCHEMA, "seed.sql": SEED, "executors.py": EXECUTORS}
    texts |= {"world.yaml": f"environment: environment.{name}\n", "environment.py": code}
    for file, text in (
        texts | {key.replace("_", "."): text for key, text in files.items()}
    ).items():
        (folder / file).write_text(text, "utf-8")
    return load_world(folder)


Open = Callable[..., ExternalExecutableEnvironment]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens environments, which are closed at the end."""
    made: list[ExternalExecutableEnvironment | Template] = []

    def opening(
        code: str = SERVED, name: str = "Served", ms: int = 400, **limits: Any
    ) -> ExternalExecutableEnvironment:
        world = world_in(tmp_path, code, name)
        template = world.template()
        environment = world.environment(template, Pins(), Limits(False, ms, **limits))
        made.extend((environment, template))
        assert isinstance(environment, ExternalExecutableEnvironment)
        return environment

    yield opening
    for each in made:
        each.close()


def call(environment: ExternalExecutableEnvironment, tool: str, **arguments: Any) -> ToolOutcome:
    return environment.call(ToolCall.of(tool, arguments))


def put(environment: ExternalExecutableEnvironment, label: str, box: int = 1) -> ToolOutcome:
    return call(environment, "put", box=box, label=label)


def test_a_write_is_a_change_of_a_row(shelves: Shelves, opened: Open):
    environment = opened()
    assert not environment.inline("put")  # nothing may block the event loop
    (change,) = put(environment, "coffee").changes
    assert change.to_json() == {
        "table": "box",
        "op": "update",
        "key": {"id": 1},
        "before": {"label": "tea"},
        "after": {"label": "coffee"},
    }
    assert environment.diff().changes == (change,)
    assert shelves.starts == 1


@pytest.mark.parametrize(
    ("label", "category"), [("refused", "refused"), ("bug", "raised ZeroDivisionError")]
)
def test_what_a_failed_call_wrote_is_undone(
    shelves: Shelves, opened: Open, label: str, category: str
):
    environment = opened()
    put(environment, "coffee")
    before = environment.state_hash()
    if label == "bug":
        with pytest.raises(ExecutorError, match=category):
            put(environment, label)
    else:
        assert put(environment, label).result.category == category
    assert environment.state_hash() == before
    assert put(environment, "cocoa").result.ok
    assert [dict(change.after or {}) for change in environment.diff().changes] == [
        {"label": "cocoa"}
    ]
    assert shelves.starts == 2


def test_a_refusal_that_wrote_nothing_starts_nothing_anew(shelves: Shelves, opened: Open):
    environment = opened()
    put(environment, "refused")
    shelves.starts = 0
    call(environment, "look", mood="")
    put(environment, "coffee")
    assert shelves.starts == 1


def test_rows_in_another_order_are_the_same_rows(shelves: Shelves, opened: Open):
    environment = opened()
    put(environment, "coffee")
    before, shelves.mood = environment.state_hash(), "reversed"
    assert not call(environment, "look", mood="").changes
    assert environment.state_hash() == before
    assert not put(environment, "coffee").changes


@pytest.mark.parametrize(("name", "mood"), [("Served", "hang"), ("Patient", "hang")])
def test_a_server_that_hangs_is_a_timeout(shelves: Shelves, opened: Open, name: str, mood: str):
    """By the client's own time, and by the watchdog's where the client would wait for ever."""
    environment = opened(name=name)
    put(environment, "coffee")
    began = time.monotonic()
    outcome = call(environment, "look", mood=mood)
    assert time.monotonic() - began < 5
    assert outcome.result.category == "timeout"
    assert "Nothing of it was kept" in outcome.content
    assert [change.op for change in environment.diff().changes] == ["update"]
    assert put(environment, "cocoa").result.ok
    assert shelves.starts == 2


def test_a_server_that_trickles_is_a_timeout(shelves: Shelves, opened: Open):
    """Each byte comes in time, so that no client gives up."""
    environment = opened()
    assert call(environment, "look", mood="trickle").result.category == "timeout"
    assert put(environment, "cocoa").result.ok


def test_a_tool_has_less_time_than_its_environment(shelves: Shelves, opened: Open):
    environment = opened(name="Patient", ms=60_000)
    began = time.monotonic()
    assert call(environment, "linger").result.category == "timeout"
    assert time.monotonic() - began < 5


def test_a_server_that_dies_in_a_call_is_a_lost_sandbox(shelves: Shelves, opened: Open):
    environment = opened()
    with pytest.raises(SandboxError, match="Served does not answer: tool look: RemoteDisconnected"):
        call(environment, "look", mood="die")


@pytest.mark.parametrize("mood", ["hang", "die", "trickle"])
def test_a_server_that_gives_no_snapshot_is_a_lost_sandbox(
    shelves: Shelves, opened: Open, mood: str
):
    environment = opened()
    put(environment, "coffee")
    shelves.mood = mood
    with pytest.raises(SandboxError, match=r"Served does not answer: snapshot\(\): "):
        put(environment, "cocoa")
    assert [dict(change.after or {}) for change in environment.diff().changes] == [
        {"label": "coffee"}
    ]


def test_a_server_that_is_not_there_is_a_lost_sandbox(
    opened: Open, monkeypatch: pytest.MonkeyPatch
):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("SHELVES_PORT", str(free.getsockname()[1]))
        with pytest.raises(SandboxError, match=r"start\(\): ConnectionRefusedError") as lost:
            put(opened(), "coffee")
    assert lost.value.retryable


def test_text_that_is_not_json_is_the_authors(shelves: Shelves, opened: Open, tmp_path: Path):
    environment = opened()
    with pytest.raises(ExecutorError, match="tool look raised JSONDecodeError: Expecting value"):
        call(environment, "look", mood="babble")
    shelves.mood = "babble"
    with pytest.raises(ExecutorError) as raised:
        put(environment, "coffee")
    assert str(raised.value).startswith(f"{tmp_path}/environment.py:")
    assert "snapshot() of Served raised JSONDecodeError: Expecting value" in str(raised.value)


IN_MEMORY = """
from envs.environments.external import ExternalExecutableEnvironment

class Memory(ExternalExecutableEnvironment):
    def start(self, rows):
        self.rows = rows
    def snapshot(self):
        return self.rows
    def send(self, body):
        self.rows = self.changed(self.rows)
        return {"said": "ok"}
    def changed(self, rows):
        BODY
        return rows
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "it returned NoneType, not rows by table"),
        ("return [1]", "it returned list, not rows by table"),
        ("del rows['shelf']", "must return the tables box, shelf; lacking or unknown: shelf"),
        ("rows['lid'] = []", "lacking or unknown: lid"),
        ("rows['box'] = {'1': 2}", "table box is dict, not a list of rows"),
        ("rows['box'] = 'abc'", "table box is str, not a list of rows"),
        ("rows['box'].append([4, 1])", "table box, row 4 is list, not {column: value}"),
        ("rows['box'][1].pop('label')", "row 2: lacking or unknown columns: label"),
        ("rows['box'][1]['7'] = 3", "row 2: lacking or unknown columns: 7"),
        ("rows['box'][1][7] = 3", "row 2: lacking or unknown columns: 7"),
        ("rows['box'][0]['label'] = {'a': 1}", "row 1: label is {'a': 1}; a value is a text"),
        ("rows['box'][0]['label'] = object", "row 1: label is <class 'object'>; a value is"),
        ("rows['box'][0]['id'] = [1]", r"row 1: id is [1]; a value is"),
        ("rows['box'][0]['weight'] = float('nan')", "row 1: weight is nan; a value is"),
        ("rows['box'][0]['id'] = 2 ** 63", "row 1: id is 9223372036854775808; a value is"),
        ("rows['box'].append(rows['box'][0])", "row 4: another row has the key id=1"),
        ("rows['box'][0]['label'] = '\\ud800'", "do not fit schema.sql: "),
        ("rows['box'][0]['shelf'] = 9", "do not fit schema.sql: FOREIGN KEY constraint failed"),
        ("rows['box'][0]['shelf'] = None", "do not fit schema.sql: NOT NULL constraint failed"),
        ("rows['shelf'][0]['id'] = 'x'", "do not fit schema.sql: "),
        ("rows['box'][0]['weight'] = '2.5'", "box, id=1: weight is 2.5, not '2.5'"),
        ("rows['box'][0]['label'] = 5", "box, id=1: label is '5', not 5"),
        ("del rows['box'][0]", "box, id=2: the row is missing"),
        ("return iter(rows)", "it returned dict_keyiterator, not rows by table"),
        ("rows['box'] = (1 / 0 for _ in 'a')", "raised ZeroDivisionError"),
    ],
)
def test_a_state_that_is_not_rows_is_the_authors(opened: Open, body: str, words: str):
    environment = opened(IN_MEMORY.replace("BODY", body), "Memory")
    before = environment.state_hash()
    with pytest.raises(ExecutorError) as raised:
        put(environment, "coffee")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert environment.state_hash() == before


@pytest.mark.parametrize(
    ("body", "ops"),
    [
        ("rows['box'][0]['weight'] = True", ["update"]),
        ("rows['box'][0]['weight'] = 3", ["update"]),
        ("rows['box'][0]['label'] = b'a'", ["update"]),
        ("rows['box'] = rows['box'][2:]", ["delete", "delete"]),
        (
            "rows['box'][:0] = [dict(rows['box'][0], id=n, inside=n % 9 + 1) for n in (7, 8, 9)]",
            ["insert"] * 3,
        ),
        (
            "rows['shelf'].append({'id': 3, 'room': 'hall'}); rows['shelf'][0]['room'] = 'cellar'",
            ["update", "insert"],
        ),
        ("rows['box'][2]['shelf'] = 1; rows['shelf'] = rows['shelf'][:1]", ["update", "delete"]),
        ("rows = {name: tuple(own) for name, own in rows.items()}", []),
        ("rows = {name: iter(own) for name, own in rows.items()}", []),
    ],
)
def test_rows_that_depend_on_each_other(opened: Open, body: str, ops: list[str]):
    """A row is written once those are there that it refers to, whatever their order."""
    environment = opened(IN_MEMORY.replace("BODY", body), "Memory")
    outcome = put(environment, "coffee")
    assert [change.op for change in outcome.changes] == ops
    assert environment.diff().changes == outcome.changes


def test_a_tool_that_says_that_it_reads_may_not_write(opened: Open):
    environment = opened(IN_MEMORY.replace("BODY", "rows['box'][0]['label'] = 'x'"), "Memory")
    outcome = call(environment, "look", mood="")
    assert outcome.result.category == "permission_denied"
    assert outcome.result.message == "This call may only read, and it changed box, id=1."
    assert not environment.diff()
    assert environment.snapshot()["box"][0]["label"] == "x"
    environment.begin()
    assert environment.snapshot()["box"][0]["label"] == "tea"


def test_a_run_that_only_reads_lets_no_tool_write(tmp_path: Path):
    code = IN_MEMORY.replace("BODY", "rows['box'][0]['label'] = 'x'")
    world = world_in(tmp_path, code, "Memory")
    limits = Limits(read_only=True)
    with world.template() as template, world.environment(template, Pins(), limits) as environment:
        assert environment.call(ToolCall.of("put", {"box": 1, "label": "x"})).result.category == (
            "permission_denied"
        )


def test_a_start_that_loses_a_row_is_named(opened: Open):
    code = IN_MEMORY.replace(
        "self.rows = rows\n", "self.rows = rows | {'box': rows['box'][1:]}\n", 1
    )
    with pytest.raises(ExecutorError) as raised:
        put(opened(code, "Memory"), "coffee")
    assert str(raised.value) == (
        "snapshot() of Memory after start(rows): box, id=1: the row is missing"
    )


def test_sql_tools_read_the_rows_and_do_not_write_them(tmp_path: Path):
    code = IN_MEMORY.replace("BODY", "rows['box'][0]['label'] = 'new'")
    tools = "- builtin: [run_select_query, run_mutation_query]\n"
    world = world_in(tmp_path, code, "Memory", tools_yaml=tools)
    with world.template() as template, world.environment(template, Pins()) as environment:
        environment.call(ToolCall.of("put", {"box": 1, "label": ""}))
        sql = {"sql": "SELECT label FROM box WHERE id = 1"}
        assert '["new"]' in environment.call(ToolCall.of("run_select_query", sql)).content
        sql = {"sql": "UPDATE box SET label = 'other'"}
        outcome = environment.call(ToolCall.of("run_mutation_query", sql))
        assert outcome.result.category == "permission_denied"
        assert [dict(change.after or {}) for change in environment.diff().changes] == [
            {"label": "new"}
        ]


@pytest.mark.parametrize("error", ["Gone", "Late"])
def test_errors_of_another_client_are_named_by_the_subclass(opened: Open, error: str):
    code = IN_MEMORY.replace("BODY", f"raise {error}('no')")
    code += "\nclass Gone(Exception): ...\nclass Late(Gone): ...\n"
    code += "Memory.lost, Memory.slow = (Gone,), (Late,)\n"
    environment = opened(code, "Memory")
    if error == "Late":
        assert put(environment, "coffee").result.category == "timeout"
    else:
        with pytest.raises(SandboxError, match="Memory does not answer: tool put: Gone: no"):
            put(environment, "coffee")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("environment: environment.Nobody", "must be a subclass of envs.environments.external"),
        ("environment: environment.json", "must be a subclass of"),
        ("environment: nowhere.Memory", "the folder has no nowhere.py"),
        ("environment: nowhere:Memory", "cannot import 'nowhere'"),
        ("environment: memory", "unknown environment 'memory'"),
        ("environment: json:JSONDecoder", "must be a subclass of"),
        ("environment: {a: b}", "must name a class, as environment.Desk"),
        ("environment:", "must name a class, as environment.Desk"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused_with_its_line(tmp_path: Path, text: str, words: str):
    world_in(tmp_path, "import json\n" + IN_MEMORY.replace("BODY", "pass"), "Memory")
    (tmp_path / "world.yaml").write_text(f"# a world\n{text}\n")
    with pytest.raises(WorldError) as refused:
        load_world(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path}/world.yaml:2: ")
    assert words in str(refused.value)


def test_a_world_that_shares_the_database_needs_an_importable_class(tmp_path: Path):
    (home := tmp_path / "home").mkdir()
    (guest := tmp_path / "guest").mkdir()
    world_in(home, IN_MEMORY.replace("BODY", "pass"), "Memory")
    (guest / "executors.py").write_text(EXECUTORS)
    (guest / "world.yaml").write_text("database: ../home\n")
    with pytest.raises(WorldError, match="name an importable class"):
        load_world(guest)
    (guest / "world.yaml").write_text("database: ../home\nenvironment: environment.Memory\n")
    with pytest.raises(WorldError, match="`environment` belongs to the world that owns the schema"):
        load_world(guest)


def test_tables_need_keys_and_the_engine_is_sqlite(tmp_path: Path):
    code = IN_MEMORY.replace("BODY", "pass")
    world = world_in(tmp_path, code, "Memory", schema_sql=SCHEMA + "CREATE TABLE note (a TEXT);")
    with (
        world.template() as template,
        world.environment(template, Pins()) as environment,
        pytest.raises(WorldError, match="table note needs a primary key"),
    ):
        environment.call(ToolCall.of("put", {"box": 1, "label": "x"}))
    with pytest.raises(WorldError, match="Memory, this world's environment, does not run on maria"):
        world.template("mariadb")
