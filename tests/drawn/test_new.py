"""`synth new` on drawn databases: a world that loads, or one sentence; nothing is lost unsaid."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given

from envs.errors import WorldError
from envs.world.loader import load_world
from synth.errors import OperatorError
from synth.generation.folder import write_files
from synth.generation.prove import prove
from synth.generation.source import Extract, Source, from_files, from_url
from synth.generation.world import DEFAULT_NOW, NewWorld, make_world
from synth.validation.check import Options
from tests.drawn.databases import DrawnDatabase, databases, make_sqlite
from tests.drawn.running import drawn, sentence

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]

NOTHING = ("has no rows", "has no tables")
"""Why a database makes no world at all."""


@contextmanager
def made(database: DrawnDatabase) -> Iterator[tuple[Path, Path]]:
    """The database as a file, and as a script."""
    with tempfile.TemporaryDirectory() as home:
        file, script = Path(home) / "live.db", Path(home) / "script.sql"
        taken = make_sqlite(database, file)
        script.write_text("".join(f"{one};\n" for one in taken), "utf-8")
        yield file, script


def world_of(source: Source) -> NewWorld | None:
    """The drafted world of a source; None where it has nothing to make one of."""
    try:
        return make_world("drawn", source, print, proves=False)
    except OperatorError as error:
        message = sentence(error)
        assert any(reason in message for reason in NOTHING), message
        return None


def check_loads(world: NewWorld) -> None:
    """The world's files make its database, in each universe, and its tools."""
    with tempfile.TemporaryDirectory() as home:
        write_files(Path(home), world.files)
        loaded = load_world(Path(home))
        with loaded.template() as template:
            assert set(template.tables) == set(world.shape.tables)
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
        source = from_url(f"sqlite:///{file}", Extract(), secret=False)
        if world := world_of(source):
            check_loads(world)
        source.ledger.check()


@drawn(12)
@given(databases())
def test_a_script_makes_a_world(database: DrawnDatabase):
    with made(database) as (_, script):
        for part in (None, Extract(rows=10)):
            source = from_files([script], part)
            if world := world_of(source):
                check_loads(world)
            source.ledger.check()


@drawn(1)
@given(databases(most_tables=2))
def test_what_proved_itself_proves_itself_again(database: DrawnDatabase):
    """No draft stops the others, and `synth check` finds nothing in what was kept."""
    with made(database) as (file, _):
        world = world_of(from_url(f"sqlite:///{file}", Extract(), secret=False))
    if world is None:
        return
    drafts, few = world.drafts[:: max(1, len(world.drafts) // 4)], Options(per_case=1)
    proofs = prove(world.files, drafts, DEFAULT_NOW, few, print)
    assert {*proofs.left_out, *(draft.id for draft in proofs.kept)} == {one.id for one in drafts}
    again = prove(world.files, proofs.kept, DEFAULT_NOW, few, print)
    assert again.left_out == {}
