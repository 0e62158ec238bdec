"""The shape of a database: kinds, choices and bounds, links, roles and handles."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from synth.ext.authoring import english, names, shape
from synth.ext.authoring.checks import read_checks
from synth.ext.authoring.names import noun_of, parameter, quoted, snake
from synth.ext.authoring.patterns.values import domain_of
from synth.ext.authoring.reflect import reflect
from synth.ext.authoring.shape import ColumnShape, Shape, TableShape
from synth.ext.authoring.source import from_files
from synth.ext.authoring.toolset import closed, tools_of

SCHEMATA = Path(__file__).parents[3] / "schemata"


def shape_of(name: str) -> Shape:
    return reflect(from_files([SCHEMATA / f"{name}.sql"]).engine)


@pytest.fixture(scope="module")
def media() -> Shape:
    return shape_of("media_shop")


def test_a_row_is_named_by_what_people_say(media: Shape):
    handles = {name: table.handle for name, table in media.tables.items()}
    assert handles["artists"] == ("name",)
    assert (handles["albums"], handles["customers"]) == (("title",), ("first_name", "last_name"))
    assert handles["invoices"] == handles["playlist_tracks"] == ()


def test_checks_become_choices_and_bounds(media: Shape):
    status = media.tables["invoices"].column("status")
    assert status.choices == ("open", "paid", "overdue", "cancelled")
    found = closed(media.tables["invoices"])
    assert found is not None
    assert found[1] == ["paid", "cancelled"]
    stock = media.tables["albums"].column("stock")
    assert (stock.low, stock.high) == (0, 500)
    rules = read_checks(["status IS NULL OR status IN ('a', 'b')", "a < b AND c > -3", "(((d = 1"])
    assert rules["status"].choices == ("a", "b")
    assert rules["c"].low == -2


def test_names_are_words_and_identifiers():
    assert [doctest.testmod(one).failed for one in (english, names, shape)] == [0, 0, 0]
    assert noun_of("media").many == "media_files"
    assert snake("AlbumId") == "album_id"
    details = noun_of("order_details")
    assert (details.one, details.many) == ("order_detail", "order_details")
    assert (noun_of("Category").one, noun_of("Category").many) == ("category", "categories")
    assert noun_of("status").one == "status"
    assert parameter("class") == "class_value"
    assert parameter("limit") == "limit_value"
    assert ColumnShape("home_phone", "text").words == "home phone number"
    assert quoted("order") == '"order"'
    assert quoted("AlbumId") == '"AlbumId"'
    assert quoted("album_id") == "album_id"


def test_what_has_been_done_is_not_dated_ahead():
    given, due = (ColumnShape(name, "date") for name in ("given_on", "due_on"))
    table, now = TableShape("doses", (given, due)), "2026-03-02T09:00:00"
    assert domain_of(table, given, now) == {"date": ["2026-02-10", "2026-03-01"]}
    assert domain_of(table, due, now) == {"date": ["2026-03-23", "2026-04-11"]}


def test_traps_have_the_tools_that_make_sense():
    traps = shape_of("traps")
    tools = tools_of(traps)
    assert tools["log"].get is None
    assert tools["log"].update is None
    assert tools["stock_levels"].update == "update_stock_level"
    assert not tools["order"].moves  # who sold to whom stays
    assert traps.tables["order"].column("float").kind == "number"
