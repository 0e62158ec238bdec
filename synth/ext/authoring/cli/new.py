"""``synth new``: a world's folder, copied from the smallest or made from a database."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from envs.tools.toolbox import tool_count
from envs.unreadable import unreadable
from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import examples_dir
from synth.core.foundation.standard_output import say
from synth.core.screen import Screen
from synth.errors import OperatorError
from synth.ext.authoring.folder import (
    copy_world,
    new_folder,
    refuse_existing,
    refuse_unwritable,
    write_files,
    writing,
)
from synth.plugins import TASK_GENERATORS, resolve

if TYPE_CHECKING:
    from synth.ext.authoring.roles import Roles
    from synth.ext.authoring.source import Source
    from synth.ext.authoring.world import NewWorld

SMALLEST = "library"
COPY_TAKES = frozenset({"path", "infer_keys", "dry_run", "json", "workers"})

HELP = """synth new

Write a new world: a copy of the smallest one, or tools, rules and proved task families from a
database.

arguments:
  PATH                the world's folder, which must not exist
options:
  --rows N            about so many rows, all references kept (default: 10,000 of a live database);
                      up to 30 of each table even if that is more; made up where there are few
  --tables A,B        only these tables and those that they refer to
  --schema A,B        the schemata of a server to read (default: the connection's own)
  --about TABLE       families and tools only for this table and those next to it
  --infer-keys        take foreign keys that nobody declared, by names and values; each is shown
  --roles FILE        roles of columns, as the world's roles.yaml has them
  --explain           show the role of each column; write nothing
  --keep-column TABLE.COLUMN  do not mask this column of a live database, although it looks personal
                      (repeatable)
  --mask-column TABLE.COLUMN[=KIND]  mask this column of a live database in any case; KIND is name,
                      email, phone, address, birth_date, identifier or other (other: letters and
                      digits drawn anew) (repeatable)
  --dry-run           show what would be written, unproved; write nothing
  --json              print the account of the source as JSON
  --patterns A,B      only families of these patterns (default: all installed; such as look_up,
                      create)
  --workers N         processes that prove (default: one per CPU, fewer for few families)
options, one of these:
  --from FILE...      SQL scripts for SQLite: the schema, then any number with rows
  --from-url URL      a live database, which is only read: sqlite:///FILE, duckdb:///FILE,
                      postgresql://, mariadb://
  --dsn-env-var NAME  the variable that holds its URL, with a password

examples:
  synth new my_world                                   a copy of the smallest world, to change
  synth new my_shop --from schema.sql seed.sql         a world from a database's scripts (SQLite)
  synth new my_shop --from schema.sql --dry-run        what it would write
  synth new my_shop --from schema.sql --rows 500 --infer-keys    rows and keys that it lacks
  synth new my_shop --from-url postgresql://me@localhost/shop --rows 2000 --tables orders,customers
  synth new my_shop --dsn-env-var SHOP_URL --keep-column products.name
  synth new my_shop --dsn-env-var SHOP_URL --mask-column orders.memo --mask-column orders.who=name
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Write a new world; returns 0. Raises OperatorError for bad input."""
    path = options.path.expanduser().resolve()
    screen = Screen(file=sys.stderr) if options.json else Screen()
    (refuse_existing if options.dry_run or options.explain else refuse_unwritable)(path)
    files = getattr(options, "from")
    if not (files or options.from_url or options.dsn_env_var):
        return _copy(path, screen, options)
    what = " ".join(map(str, files)) if files else "the database"
    screen.line(f"reading {what}")
    source: Source = _source(files, options, screen)
    for decision in source.decisions:
        screen.line(decision.line, indent=2)
    roles = _roles(options.roles)
    if options.explain:
        return _explain(source, roles, screen)
    with writing(Path(tempfile.gettempdir())):
        world = _made(path, source, roles, options, screen)
    for line in world.ledger.lines():
        screen.line(line, "yellow")
    if options.dry_run:
        _preview(path, world, screen)
        _report(options, world)
        return 0
    _report(options, world)
    if not world.proofs.kept:
        reasons = "; ".join(f"{name}: {why}" for name, why in world.proofs.left_out.items())
        reasons = reasons or "no pattern suits its tables and rows, see what is left out of them"
        raise OperatorError(f"no family proves itself on this database: {reasons}")
    with new_folder(path) as folder:
        write_files(folder, world.files)
    _conclude(path, world, screen)
    return 0


def _made(path: Path, source: Source, roles: Roles, options: Arguments, screen: Screen) -> NewWorld:
    """The world of a source."""
    return resolve("synth.ext.authoring.world:make_world")(
        path.name,
        source,
        partial(screen.line, indent=2),
        patterns=options.patterns and [TASK_GENERATORS.find(one).name for one in options.patterns],
        roles=roles,
        about=options.about,
        proves=not options.dry_run,
        workers=options.workers,
    )


def _explain(source: Source, roles: Roles, screen: Screen) -> int:
    """Show the role of each column."""
    shape = resolve("synth.ext.authoring.reflect:reflect")(source.engine, roles, source.maintained)
    for line in resolve("synth.ext.authoring.roles:explained")(shape):
        screen.line(line)
    return 0


def _roles(place: Path | None) -> Roles:
    """The roles of columns that a file sets."""
    if place is None:
        return {}
    try:
        text = place.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise OperatorError(f"{place} cannot be read: {unreadable(error, 'YAML')}") from error
    return resolve("synth.ext.authoring.roles:read_roles")(text, str(place))


def _accept(keys: Sequence[str], screen: Screen, *, taken: bool) -> bool:
    """Show keys that nobody declared; True if the option or the person takes them."""
    screen.line("foreign keys that nobody declared:")
    for key in keys:
        screen.line(key, indent=2)
    if taken:
        return True
    if not sys.stdin.isatty():
        screen.line("--infer-keys takes them", "yellow", indent=2)
        return False
    return input("Take them? [y/N] ").strip().lower() in {"y", "yes"}


def _report(options: Arguments, world: NewWorld) -> None:
    """Print the account with ``--json``."""
    if options.json:
        say(json.dumps({"path": str(options.path), "account": world.ledger.to_json()}))


def _source(files: list[Path] | None, options: Arguments, screen: Screen) -> Source:
    """The database that the options name."""
    if files and options.schema:
        raise OperatorError("--schema is for live databases: files make one schema")
    if files and (options.keep_column or options.mask_column):
        option = "--keep-column" if options.keep_column else "--mask-column"
        raise OperatorError(f"{option} is for live databases: what is in files is not masked")
    part = resolve("synth.ext.authoring.source:Extract")(
        options.rows,
        options.tables,
        options.schema or (),
        options.keep_column,
        options.mask_column,
        partial(_accept, screen=screen, taken=options.infer_keys),
        partial(screen.line, indent=2),
    )
    if files:
        return resolve("synth.ext.authoring.source:from_files")(files, part)
    url = options.from_url
    if options.dsn_env_var:
        url = os.environ.get(options.dsn_env_var)
        if not url:
            raise OperatorError(f"${options.dsn_env_var}, which holds the URL, is not set")
    from_url = resolve("synth.ext.authoring.source:from_url")
    return from_url(url, part, secret=bool(options.dsn_env_var))


def _copy(path: Path, screen: Screen, options: Arguments) -> int:
    for name, value in vars(options).items():
        if value and name not in COPY_TAKES:
            option = name.replace("_", "-")
            raise OperatorError(f"--{option} wants a database: name one with --from")
    if options.dry_run:
        screen.line(f"would copy the world {SMALLEST} to {path}")
        return 0
    copy_world(examples_dir() / SMALLEST, path)
    screen.line(f"{path}: a copy of the world {SMALLEST}")
    screen.line(f"Next: {shlex.join(['synth', 'check', str(path)])}")
    return 0


def _preview(path: Path, world: NewWorld, screen: Screen) -> None:
    screen.line(f"would write {path}:")
    for name, text in world.files.items():
        screen.line(f"{name}: {len(text.splitlines()):,} lines", indent=2)
    screen.line(f"{len(world.drafts)} drafts of families, to be proved:")
    drafts: dict[str, list[str]] = {}
    for draft in world.drafts:
        drafts.setdefault(draft.pattern, []).append(draft.id)
    for pattern, ids in drafts.items():
        screen.line(f"{pattern}: {', '.join(ids)}", indent=2)
    screen.line(tool_count(world.tools))


def _conclude(path: Path, world: NewWorld, screen: Screen) -> None:
    proofs = world.proofs
    patterns = Counter(draft.pattern for draft in proofs.kept)
    total = sum(proofs.capacity.values())
    screen.line()
    screen.line(
        f"{path}: {len(world.shape.tables)} tables; {len(proofs.kept)} families of"
        f" {len(patterns)} patterns prove themselves, {len(proofs.left_out)} left out; capacity"
        f" {total:,} tasks"
    )
    screen.line(", ".join(f"{name} {count}" for name, count in patterns.items()), indent=2)
    screen.line(tool_count(world.tools), indent=2)
    screen.line(f"Next: {shlex.join(['synth', 'check', str(path)])}")
