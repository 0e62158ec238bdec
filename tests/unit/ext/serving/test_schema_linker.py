"""The schema linker: which tables a question is about, by words and rows, without a model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs.types import Column, Pins, Table
from envs.world.loader import load_world
from synth.core.foundation.shipped import find_world
from synth.ext.serving.questions.schema_linker import SchemaLinker, sampled_texts
from tests.bench.schema_linking import gathered
from tests.documents import ROOT


def table(name: str, *columns: str, **references: str) -> Table:
    own = [Column(column, "TEXT") for column in columns]
    own += [Column(f"{key}_id", "INTEGER", references=(to, "id")) for key, to in references.items()]
    return Table(name, tuple(own))


def tables(*given: Table) -> dict[str, Table]:
    return {one.name: one for one in given}


@pytest.fixture
def linker() -> Iterator[SchemaLinker]:
    with SchemaLinker() as opened:
        opened.add(
            "music",
            tables(
                table("Artist", "Name"),
                table("InvoiceLine", "UnitPrice", "Quantity"),
                table("PlaylistTrack", playlist="Playlist", track="Track"),
                table("Playlist", "Name"),
                table("Track", "Name", "Composer"),
            ),
        )
        opened.add("club", tables(table("members", "name"), table("events", "title", "held_on")))
        yield opened


def names(linker: SchemaLinker, question: str) -> list[str]:
    return [f"{found.database}.{found.table}" for found in linker.tables(question)]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which artists are there?", "music.Artist"),
        ("the lines of each invoice", "music.InvoiceLine"),
        ("How many members has the club?", "club.members"),
        ("WHEN WAS THE EVENT HELD", "club.events"),
        ("quel compositeur? composer, s'il vous plaît", "music.Track"),
    ],
)
def test_a_table_is_found_by_the_words_of_its_names(
    linker: SchemaLinker, question: str, first: str
):
    assert names(linker, question)[0] == first


def test_a_table_behind_a_foreign_key_is_found_with_those_that_are_named(linker: SchemaLinker):
    assert "music.PlaylistTrack" in names(linker, "Which tracks?")[:3]


def test_a_text_of_a_row_leads_to_its_table():
    with SchemaLinker() as linker:
        people = tables(table("a", "x"), table("b", "x"))
        linker.add("one", people, {"b": ["Ada Lovelace"]})
        assert names(linker, "Where does Lovelace live?") == ["one.b"]


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?!",
        '"',
        "'; DROP TABLE tables; --",
        'artist" OR "x',
        "NEAR(artist, 2) AND NOT database : music *",
        "{artist name} : (^artist + track)",
        "artist\x00track",
        "🎸🎷 artist 🎺",
        "\ud800 artist",
        "artist " * 15_000,
        " ".join(f"word{number}" for number in range(20_000)),
        "(" * 100_000,
    ],
)
def test_no_question_is_a_query_of_the_search(linker: SchemaLinker, question: str):
    assert names(linker, question)[:1] == (["music.Artist"] if "rtist" in question else [])
    assert linker.databases(question)[:1] == (["music"] if "rtist" in question else [])


def test_two_databases_may_have_tables_of_the_same_names():
    with SchemaLinker() as linker:
        linker.add("north", tables(table("orders", "total")), {"orders": ["Oslo"]})
        linker.add("south", tables(table("orders", "total")), {"orders": ["Palermo"]})
        assert names(linker, "orders to Palermo")[0] == "south.orders"
        assert names(linker, "all orders") == ["north.orders", "south.orders"]
        assert linker.databases("orders to Palermo") == ["south", "north"]
        (found,) = linker.tables("orders to Palermo", database="north")
        assert found.database == "north"


def test_a_question_about_a_world_is_linked_to_its_tables():
    world = load_world(find_world("library"))
    with world.template() as template, template.open(Pins("2026-01-01T09:00:00", 0)) as sandbox:
        texts = sampled_texts(sandbox, template.tables)
        with SchemaLinker() as linker:
            linker.add("library", template.tables, texts)
            asked = linker.tables("Ada Kern would like to borrow Walden.")
    assert {found.table for found in asked} == {"books", "members", "loans"}


@pytest.mark.slow
def test_most_tables_of_the_expert_are_among_the_first_five():
    """A sample of what docs/guides/serve-agent.md measures."""
    linker, asked, _ = gathered({"shop_sql": 16, "ehr_db": 16}, [str(ROOT / "tests" / "schemata")])
    with linker:
        found = [{one.table for one in linker.tables(q.text, database=q.database)} for q in asked]
        first = [linker.databases(q.text)[0] == q.database for q in asked]
    inside = [
        len(q.tables & tables) / len(q.tables) for q, tables in zip(asked, found, strict=True)
    ]
    assert sum(inside) > 26, "83 percent of the tables of 32 requests"
    assert inside.count(1.0) > 20, "all of them for two thirds of the requests"
    assert sum(first) > 26, "the right database for 84 percent"
