"""Rules between the keys of the config's section ``database``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from synth.core.config.database import ConnectionConfig
from synth.core.config.task_rules import load_task_source
from synth.core.config.types import Finding, Plain
from synth.plugins import ENGINES, PluginError

_PLACE = ("driver", "host", "port", "username", "password_env_var", "database")
"""The fields of ``database.connection`` that a URL says, too."""


def database_rule(config: Plain) -> Iterator[Finding]:
    """The server is described in one way, and the engine has one."""
    database = config["database"]
    if _attaches(database["engine"]):
        yield from _attached(config)
        return
    if _source(config["tasks"], "asks_attached"):
        keys = ("tasks.kind", "database.engine")
        yield (
            keys,
            (
                f"tasks={config['tasks']['kind']} asks a database that exists: add"
                " database=attached database.dsn_env_var=NAME"
            ),
        )
    connection: Plain = database["connection"]
    place = [f"database.connection.{name}" for name in _PLACE if connection[name] is not None]
    beside = [
        f"database.connection.{name}" for name in ("options", "pool_size") if connection[name]
    ]
    named = ["database.dsn_env_var"] if database["dsn_env_var"] is not None else []
    keys = (*named, *place)
    if named and place:
        yield keys, f"{', '.join(keys)}: the URL of the variable says it all; set one or the other"
    given = [*keys, *beside]
    problem = no_server(database["engine"]) if given else None
    if problem is not None:
        yield (
            ("database.engine", *given),
            f"{', '.join(given)}: {problem}; use database=postgres or database=mariadb",
        )
    elif (driver := connection["driver"]) is not None:
        yield from _driver(driver, database["engine"])
    for name, value in connection["options"].items():
        if not isinstance(value, str | int | float):
            key = f"database.connection.options.{name}"
            yield (key,), f"{key}: an option of the driver is a text or a number"


def _attaches(engine: str) -> bool:
    try:
        return bool(getattr(ENGINES.load(engine), "attaches", False))
    except PluginError:
        return False  # another rule says so


def _source(tasks: Plain, trait: str) -> bool:
    try:
        return bool(getattr(load_task_source(tasks["kind"]), trait, False))
    except PluginError:
        return False  # another rule says so


def _asked_of_attached(tasks: Plain, engine: str) -> Iterator[Finding]:
    """An existing database is one universe, and brings no database of its own."""
    if _source(tasks, "makes_universes"):
        keys = ("tasks.kind", "database.engine")
        yield (
            keys,
            (
                f"tasks={tasks['kind']} brings databases of its own; tasks=questions asks the one"
                f" of database={engine}"
            ),
        )
    elif tasks["universes"] not in (1, [0]):
        keys = ("tasks.universes", "database.engine")
        yield keys, f"tasks.universes: the one database of database={engine} is universe 0"


def _attached(config: Plain) -> Iterator[Finding]:
    """An existing database is named by a variable that holds its URL, and by nothing else."""
    database = config["database"]
    engine = database["engine"]
    if database["dsn_env_var"] is None:
        key = "database.dsn_env_var"
        yield (
            (key,),
            (
                f"{key}: database={engine} needs the name of a variable that holds the URL of the"
                " database"
            ),
        )
    yield from _asked_of_attached(config["tasks"], engine)
    usual = asdict(ConnectionConfig())
    given = [
        f"database.connection.{name}"
        for name, value in database["connection"].items()
        if value != usual[name]
    ]
    if given:
        yield (
            tuple(given),
            (
                f"{', '.join(given)}: an existing database is described by its URL alone, in the"
                " variable that database.dsn_env_var names"
            ),
        )


def _driver(driver: str, engine: str) -> Iterator[Finding]:
    own = getattr(ENGINES.load(engine), "driver", None)
    if own is not None and ENGINES.find(driver.partition("+")[0]).name != own:
        keys = ("database.connection.driver", "database.engine")
        yield keys, f"{keys[0]}: the engine {engine} speaks {own}, not {driver}"


def no_server(engine: str) -> str | None:
    """Return the problem of a server that is named for an engine that needs none."""
    try:
        found = ENGINES.load(engine)
    except PluginError as error:
        return str(error)
    if getattr(found, "needs_server", True):
        return None
    return "SQLite has no server" if engine == "sqlite" else f"engine {engine!r} has no server"
