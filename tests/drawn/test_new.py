"""`synth new` on drawn databases: a world that loads, or one sentence; nothing is lost unsaid."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given

from envs.errors import WorldError
from envs.world.loader import load_world
from synth.core.validation.check import Options
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.invented_rows import TODAY
from synth.ext.authoring.prove import prove
from synth.ext.authoring.source import Extract, Source, from_files, from_url
from synth.ext.authoring.world import NewWorld, make_world
from tests.drawn.account import catalog_counts, check_account
from tests.drawn.databases import DrawnDatabase, databases, make_sqlite
from tests.drawn.running import drawn, made_or_refused, sentence

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]


@contextmanager
def made(database: DrawnDatabase) -> Iterator[tuple[Path, Path]]:
    """The database as a file, and as a script."""
    with tempfile.TemporaryDirectory() as home:
        file, script = Path(home) / "live.db", Path(home) / "script.sql"
        taken = make_sqlite(database, file)
        script.write_text("".join(f"{one};\n" for one in taken), "utf-8")
        yield file, script


def check_world(make: Callable[[], Source], own: Path | Mapping[str, int]) -> None:
    """The source makes a world, or nothing is in it. Its account is complete: ``own`` is a file of
    SQLite, or what the source counts itself.
    """
    source = made_or_refused(make)
    if source is None:
        return
    world = made_or_refused(partial(make_world, "drawn", source, print, proves=False))
    if world is not None:
        check_loads(world)
    counts = catalog_counts(own, source.ledger) if isinstance(own, Path) else own
    check_account(source.ledger, counts)


def check_loads(world: NewWorld) -> None:
    """The world's files make its database, in each universe, and its tools."""
    with tempfile.TemporaryDirectory() as home:
        write_files(Path(home), world.files)
        loaded = load_world(Path(home))
        with loaded.template() as template:
            assert set(world.shape.tables) <= set(
                template.tables
            )  # a script keeps its virtual ones
        if not loaded.universes:
            return
        try:
            loaded.template(universe=1).close()
        except WorldError as error:  # `synth new` proves seed.py, and names it in the account
            sentence(error)


@drawn(20)
@given(databases())
def test_a_live_database_makes_a_world(database: DrawnDatabase):
    with made(database) as (file, _):
        check_world(lambda: from_url(f"sqlite:///{file}", Extract(), secret=False), file)


@drawn(12)
@given(databases())
def test_a_script_makes_a_world(database: DrawnDatabase):
    with made(database) as (file, script):
        for part in (None, Extract(rows=10)):
            check_world(partial(from_files, [script], part), file)


@drawn(1)
@given(databases(most_tables=2))
def test_what_proved_itself_proves_itself_again(database: DrawnDatabase):
    """No draft stops the others, and `synth check` finds nothing in what was kept."""
    with made(database) as (file, _):
        source = made_or_refused(lambda: from_url(f"sqlite:///{file}", Extract(), secret=False))
    if source is None:
        return
    world = made_or_refused(partial(make_world, "drawn", source, print, proves=False))
    if world is None:
        return
    drafts, few = world.drafts[:: max(1, len(world.drafts) // 4)], Options(per_case=1)
    proofs = prove("drawn", world.files, drafts, TODAY, few, print)
    assert {*proofs.left_out, *(draft.id for draft in proofs.kept)} == {one.id for one in drafts}
    again = prove("drawn", world.files, proofs.kept, TODAY, few, print)
    assert again.left_out == {}
