"""Schemata in the manner of public products: each makes a world that proves itself, and nothing of
it is lost unsaid.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from synth.ext.authoring.folder import write_files
from synth.ext.authoring.source import Extract, from_files, from_url
from synth.ext.authoring.world import make_world
from tests.drawn.account import catalog_counts, check_account

PRODUCTS = Path(__file__).parents[1] / "schemata" / "products"
NAMES = sorted(path.stem for path in PRODUCTS.glob("*.sql"))
ALL = ["look_up", "look_up_parent", "count_children", "not_found", "change", "create", "for_each"]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]


def test_nothing_of_a_mail_client_is_lost_unsaid(tmp_path: Path):
    check_product("mail_client", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_each_product_proves_itself(name: str, tmp_path: Path):
    check_product(name, tmp_path)
    prove_and_check(name, ALL, tmp_path / "world")


def check_product(name: str, folder: Path) -> None:
    """As a script and as a live database it makes a world, and its account is complete."""
    script, file = PRODUCTS / f"{name}.sql", folder / "live.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(script.read_text("utf-8"))
    live = from_url(f"sqlite:///{file}", Extract(rows=150), secret=False)
    for source in (from_files([script]), live):
        world = make_world(name, source, print, proves=False)
        assert len(world.drafts) > 5
        check_account(source.ledger, catalog_counts(file, source.ledger))


def prove_and_check(name: str, patterns: list[str], folder: Path) -> None:
    """What `synth new` keeps is what `synth check` finds right."""
    source = from_files([PRODUCTS / f"{name}.sql"])
    world = make_world(name, source, print, patterns=patterns)
    assert world.proofs.kept
    folder.mkdir()
    write_files(folder, world.files)
    options = Options(universes=2 if "seed.py" in world.files else 1)
    report = check_world(folder, options, print)
    assert report.seed is None
    assert [(one.family, one.problems) for one in report.families if not one.ok] == []
    assert len(report.families) == len(world.proofs.kept)
