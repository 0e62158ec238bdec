"""A world made from a database: shape, tools, rules, families, proofs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import yaml
from sqlalchemy import Engine

from envs.ledger import Entry, Ledger
from synth.core.foundation.suggestions import hint, nearest
from synth.core.validation.check import Options
from synth.errors import OperatorError
from synth.ext.authoring.engines import Unportable, server_files
from synth.ext.authoring.invented_rows import FUTURE, TODAY
from synth.ext.authoring.learn import Unlearnable, learn
from synth.ext.authoring.patterns.base import Draft, Pattern, Sketch
from synth.ext.authoring.prove import Proofs, prove, seed_problem
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.roles import Roles, is_plumbing, write_roles
from synth.ext.authoring.seed_file import write_seed_file
from synth.ext.authoring.shape import Shape
from synth.ext.authoring.source import Source
from synth.ext.authoring.tasks_file import LEAST, write_tasks
from synth.ext.authoring.tools import write_tools
from synth.ext.authoring.toolset import TableTools, closed, reads_of, tools_of
from synth.plugins import TASK_GENERATORS


def _consent_columns(shape: Shape, tools: dict[str, TableTools]) -> dict[str, frozenset[str]]:
    """The columns that are changed with consent only: amounts of money, else states."""
    for role in ("money", "status"):
        found = {
            name: frozenset(
                column for column in one.updates if shape.tables[name].column(column).role == role
            )
            for name, one in tools.items()
        }
        if any(found.values()):
            return {name: columns for name, columns in found.items() if columns}
    return {}


_POLICY = """\
# Rules for {name}

You look after this database through the tools you are given. Do what is asked within these rules,
and nothing besides. Look everything up: never guess a number or a name.
Read a row before you change it.

## Names
- A name that fits nothing is said to be unknown; nothing else is taken in its place.
- A name that fits several is asked about before anything is read out or changed.
{consents}{states}
## Answering
- Where a `submit` tool is offered, hand in your result with it once, after the work.
- At the end, tell the user in a sentence or two what they asked to know, or what was done.
"""
_CONSENT = """
## Consent
Before one of these is changed, restate what will be changed and its new value, and wait for a yes:
"""
_CLOSED = """
## Closed
What is in one of these states is not changed any more, and neither are the rows that refer to it,\
 although the tools would do it. Say so, and change nothing:
"""
_CENTS = "- The tools take and show amounts in cents, 1250 for 12.50; people say 12.50.\n"


def _write_policy(name: str, sketch: Sketch) -> str:
    """The text of policy.md."""
    tables = sketch.shape.tables
    consents = [
        f"- {table.noun.words}: {', '.join(table.column(column).words for column in sorted(found))}"
        for key, found in sketch.consent.items()
        for table in [tables[key]]
    ]
    states = [
        f"- {table.noun.words}: {column.words} {', '.join(shut)}"
        for table in tables.values()
        for column, shut in [closed(table) or (None, [])]
        if column and (sketch.tools[table.name].update or sketch.shape.children(table.name))
    ]
    return _POLICY.format(
        name=name.replace("_", " "),
        consents=_CONSENT + "\n".join([*consents, ""]) if consents else "",
        states=_CLOSED + "\n".join([*states, ""]) if states else "",
    ) + _CENTS * any(one.in_cents for table in tables.values() for one in table.columns)


MANY = 60
"""The most tables that all have tools, unless the author says otherwise."""

NEAR = 30
"""The most tables around one."""

MOST_TOOLS = 128
"""The most tools that endpoints take."""


@dataclass(frozen=True, slots=True)
class NewWorld:
    """The files of a world, its shape, the number of its tools, and what became of the drafts of
    its families. ``ledger`` is the account of the source, its families and files.
    """

    shape: Shape
    tools: int
    files: Mapping[str, str]
    proofs: Proofs = field(default_factory=Proofs)
    drafts: Sequence[Draft] = ()
    ledger: Ledger = field(default_factory=Ledger)


def make_world(
    name: str,
    source: Source,
    progress: Callable[[str], None],
    *,
    patterns: Sequence[str] | None = None,
    roles: Roles | None = None,
    about: str | None = None,
    proves: bool = True,
    workers: int | None = 1,
) -> NewWorld:
    """Make a world of a loaded database. Without ``proves`` the families are drafts only;
    ``patterns`` names those to try, ``roles`` are those that the author has set,
    ``about`` names the table around which the families are.

    Raises OperatorError for a database without tables or rows.
    """
    shape = reflect(source.engine, roles, source.maintained)
    if not any(table.rows for table in shape.tables.values()):
        if not shape.tables:
            raise OperatorError(
                "the database has no tables: --from takes files with CREATE TABLE statements, then"
                " those with rows"
            )
        if source.ledger.reasons("row"):
            raise OperatorError("\n".join(["no row can be used", *source.ledger.lines()]))
        raise OperatorError(
            "the database has no rows: --rows 500 makes some up; or name a file with INSERT"
            " statements after the schema (synth new PATH --from schema.sql seed.sql)"
        )
    worked = _worked(shape, about, source.ledger)
    tools = tools_of(worked)
    now = f"{_today(shape)}T09:00:00"
    has_rows = partial(_has_rows, source.engine)
    sketch = Sketch(worked, tools, _consent_columns(worked, tools), now, has_rows)
    drafts, ledger = _draft_families(sketch, patterns), source.ledger
    shown = _bounded(worked, tools, drafts)
    write = partial(write_tasks, now=now, reads=reads_of(shown))
    count = sum(len(one.names) for one in shown.values())
    files = {
        "schema.sql": source.schema,
        "seed.sql": source.seed,
        "executors.py": write_tools(worked, shown),
        "policy.md": _write_policy(name, sketch),
        "roles.yaml": write_roles(shape),
    }
    if source.personal:
        files["world.yaml"] = _write_personal(source.personal)
    _account(shape, ledger)
    files |= _derived_files(source, shape)
    if proves and "seed.py" in files and (problem := seed_problem(files)):
        del files["seed.py"]
        ledger.leave_out("file", "seed.py", problem)
    ledger.use("file", "seed.py" in files)
    ledger.check()
    proofs = Proofs()
    if proves:
        progress(f"{len(drafts)} drafts of families to prove")
        options = Options(universes=2 if "seed.py" in files else 1, attacked=1)
        proofs = prove(name, files, drafts, write, options, progress, workers)
        ledger.found("family", len(drafts))
        ledger.use("family", len(proofs.kept))
        for family, reason in proofs.left_out.items():
            ledger.leave_out("family", family, reason)
        ledger.check()
    files["tasks.yaml"] = write(proofs.kept if proves else drafts)
    files["README.md"] = _write_readme(name, source.origin, ledger)
    return NewWorld(shape, count, files, proofs, drafts, ledger)


def _worked(shape: Shape, about: str | None, ledger: Ledger) -> Shape:
    """The tables that families may be about: those that no framework keeps for itself; around one
    of them, where it is named or where they are many.
    """
    own = [name for name in shape.tables if not is_plumbing(name)] or [*shape.tables]
    for name in shape.tables.keys() - {*own}:
        ledger.found("worked table")
        ledger.leave_out("worked table", name, "a framework keeps it for itself, by its name")
    worked = shape.only({*own})
    ledger.found("worked table", len(own))
    if about is not None and about not in worked.tables:
        raise OperatorError(f"--about {about}: no such table{hint(nearest(about, own))}")
    if about is not None or len(own) > MANY:
        ranked = [about] if about else sorted(own, key=partial(_weight, worked), reverse=True)
        kept = set[str]()
        for center in ranked:
            kept |= set() if center in kept else _around(worked, center, NEAR - len(kept))
        for name in worked.tables.keys() - kept:
            why = f"not among the {NEAR} tables around {ranked[0]}; --about NAME takes others"
            ledger.leave_out("worked table", name, why)
        worked = worked.only(kept)
    ledger.use("worked table", len(worked.tables))
    return worked


def _neighbours(shape: Shape, table: str) -> set[str]:
    """The tables that a table refers to, and that refer to it."""
    parents = {link.table for link in shape.tables[table].links}
    return (parents | {child.name for child, _ in shape.children(table)}) - {table}


def _weight(shape: Shape, table: str) -> tuple[int, int, str]:
    """The rank of a table: by its neighbours that have rows, then by all of them."""
    near = _neighbours(shape, table)
    filled = [name for name in near if shape.tables[name].rows and shape.tables[table].rows]
    return len(filled), len(near), table


def _around(shape: Shape, center: str, most: int) -> set[str]:
    """A table and those next to it by links, the best connected of a distance first."""
    kept, edge = set[str](), [center][:most]
    while edge:
        kept |= {*edge}
        found = {name for one in edge for name in _neighbours(shape, one)} - kept
        edge = sorted(found, key=partial(_weight, shape), reverse=True)[: most - len(kept)]
    return kept


def _bounded(
    shape: Shape, tools: Mapping[str, TableTools], drafts: Sequence[Draft]
) -> dict[str, TableTools]:
    """All tools, where endpoints take so many; else those that families use, and what reads the
    tables next to theirs.
    """
    if sum(len(one.names) for one in tools.values()) <= MOST_TOOLS:
        return dict(tools)
    needed = set(re.findall(r'"(\w+)"', json.dumps([draft.body["gold"] for draft in drafts])))
    used = [name for name, one in tools.items() if not needed.isdisjoint(one.names)]
    near = set[str]().union(*(_neighbours(shape, name) for name in used)) - {*used}
    out, left = dict[str, TableTools](), MOST_TOOLS
    for name in [*used, *sorted(near)]:
        one = tools[name].without_writes(needed)
        if name in used or len(one.names) <= left:
            out[name] = one
            left -= len(one.names)
    return {name: out[name] for name in tools if name in out}


def _derived_files(source: Source, shape: Shape) -> dict[str, str]:
    """The schemata for servers and seed.py, as far as they can be made."""
    files, ledger = dict[str, str](), source.ledger
    ledger.found("file", 2)
    try:
        if not source.portable:
            raise Unportable("what fills the tables is not a plain INSERT")
        files |= server_files(source.engine, source.seed)
        ledger.use("file")
    except Unportable as error:
        ledger.leave_out("file", "schemata of PostgreSQL and MariaDB", str(error))
    try:
        if not source.seeded:
            raise Unlearnable("the schema makes rows itself, which every universe would have")
        learned = learn(source.engine, shape, source.personal, source.schema)
        files["seed.py"] = write_seed_file(learned.tables)
        ledger.found("learned table", len(learned.tables))
        ledger.use("learned table", len(learned.tables) - len(learned.kept))
        for table, why in learned.kept.items():
            ledger.change("learned table", table, f"has its own rows in every universe: {why}")
    except Unlearnable as error:
        ledger.leave_out("file", "seed.py", str(error))
    return files


_BY_TRIGGER = (
    "a trigger, which is left out, sets others by it: no family adds or changes such a row"
)


def _account(shape: Shape, ledger: Ledger) -> None:
    """Tell which columns the tools show, and which ones they do not set."""
    for table in shape.tables.values():
        for column in table.columns if any(one.fixed for one in table.columns) else ():
            ledger.found("set column")
            ledger.use("set column", not column.fixed)
            if column.fixed:
                ledger.leave_out("set column", f"{table.name}.{column.name}", _BY_TRIGGER)
        ledger.found("shown column", len(table.columns) + len(table.hidden))
        ledger.use("shown column", len(table.columns))
        for column, reason in table.hidden.items():
            ledger.leave_out("shown column", f"{table.name}.{column}", reason)


def _write_personal(personal: Mapping[tuple[str, str], str]) -> str:
    """The text of world.yaml: the columns with personal data."""
    columns = {f"{table}.{column}": {"pii": kind} for (table, column), kind in personal.items()}
    head = "# Personal data: who an answer may be about, and who not.\n"
    return head + yaml.safe_dump(
        {"columns": columns},
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=None,
        width=1e6,
    )


def _draft_families(sketch: Sketch, patterns: Sequence[str] | None = None) -> list[Draft]:
    """The drafts of these patterns, by default of every installed one, without repeated names."""
    found: dict[str, Draft] = {}
    names = patterns or [extension.name for extension in TASK_GENERATORS.all()]
    for name in names:
        pattern: Pattern = TASK_GENERATORS.load(name)
        for draft in pattern(sketch):
            found.setdefault(draft.id, draft)
    return list(found.values())


def _has_rows(engine: Engine, draft: Draft) -> bool:
    """True for a draft whose grounding has the rows of a family, and one for each of its cases."""
    sql = cast("Mapping[str, str]", draft.body["ground"])["sql"]
    cases = cast("Mapping[str, str]", draft.body.get("cases", {"": "TRUE"}))
    with engine.connect() as db:
        counts = [
            len(db.exec_driver_sql(f"SELECT 1 FROM (\n{sql}) WHERE {one} LIMIT {LEAST}").all())
            for one in cases.values()
        ]
    return all(counts) and sum(counts) >= LEAST


def _today(shape: Shape) -> str:
    """The day of the world: the last one in its data, within reason."""
    days = [
        str(value)[:10]
        for table in shape.tables.values()
        for column in table.columns
        if column.kind in {"date", "moment"} and not FUTURE.search(column.label)
        for value in column.seen
    ]
    return max((day for day in days if "1970" < day < "2036"), default=TODAY)


_TEXT = """\
# {name}

A world for `synth run`, made by `synth new` from {origin}.

## Account

What the source holds, and what became of it.

| | found | used | changed | left out |
|---|---|---|---|---|
{counts}
{entries}"""


def _write_readme(name: str, origin: str, ledger: Ledger) -> str:
    """The text of the file, with every entry of the account."""
    return _TEXT.format(
        name=name,
        origin=origin,
        counts="".join(
            f"| {kind} | " + " | ".join(f"{count:,}" for count in counts.values()) + " |\n"
            for kind, counts in ledger.counts().items()
        ),
        entries="".join(f"- {_line(entry)}\n" for entry in ledger.entries),
    )


def _line(entry: Entry) -> str:
    several = f" ({entry.count:,})" if entry.count > 1 else ""
    line = f"{entry.outcome}: {entry.kind} `{entry.name}`{several}: {entry.why}"
    return " ".join(line.split())
