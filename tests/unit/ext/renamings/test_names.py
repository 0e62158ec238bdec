"""Names of renamings: valid, distinct, the same in every run, and translated both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs.tools.tool import NAME, lint
from envs.world.loader import World, load_world
from synth.core.models.recap import GREP, READ
from synth.core.renaming.translator import Translator, added_tools, translator_of
from synth.core.types.renaming import Renaming
from synth.ext.renamings.making import MIDDLEWARE_TOOLS, RenamingMaker, database_names
from synth.ext.renamings.naming import Naming, word_lists
from tests.unit.ext.renamings import parcel_world

NUMBERS = range(1, 13)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return load_world(parcel_world.make(tmp_path_factory.mktemp("names") / "parcels"))


@pytest.fixture(scope="module")
def maker(world: World) -> RenamingMaker:
    with world.template() as template:
        return RenamingMaker(world, database_names(template))


@pytest.fixture(scope="module")
def translator() -> Translator:
    return translator_of(
        Renaming(
            1,
            {"find_parcel": "locateParcel"},
            {"number": "ref", "parcel_id": "parcelKey"},
            {"status": {"shipped": "dispatched", "active": "current", "in_transit": "UNDER_WAY"}},
            {"must not": "may not"},
        )
    )


def test_no_two_names_of_a_renaming_are_the_same(maker: RenamingMaker):
    for number in NUMBERS:
        renaming = maker.renaming(number)
        tools = [*renaming.tools.values(), *(tool.name for tool in renaming.added)]
        assert len({name.lower() for name in tools}) == len(tools)
        assert all(NAME.fullmatch(name) for name in tools)
        own = maker.own_names
        names = [renaming.names.get(name, name) for name in own]
        assert len({name.lower() for name in names}) == len(own)
        for words in renaming.values.values():
            assert len(set(words.values())) == len(words)


def test_variants_differ_from_the_world_and_from_one_another(world: World, maker: RenamingMaker):
    shown = [tuple(maker.renaming(number).tools.values()) for number in NUMBERS]
    assert len(set(shown)) == len(shown)
    for number in NUMBERS:
        renaming = maker.renaming(number)
        kept = [own for own, name in renaming.tools.items() if own == name]
        assert len(kept) < len(world.tools) / 2, f"variant {number} keeps {kept}"


def test_a_variant_is_the_same_whenever_it_is_made(maker: RenamingMaker):
    renaming = maker.renaming(3)
    assert renaming == maker.renaming(3)
    assert Renaming.from_json(json.loads(json.dumps(renaming.to_json()))) == renaming


def test_the_tools_that_renamings_add_are_valid():
    tools = added_tools(Renaming(1, added=word_lists().added))
    assert [line for tool in tools for line in lint(tool)] == []
    assert all((tool.refusal is None) != (tool.output is None) for tool in word_lists().added)


@pytest.mark.parametrize("number", NUMBERS)
def test_odd_names_get_names_too(number: int):
    """Names that differ in case only, that no endpoint takes, and that are taken elsewhere."""
    own = ["ID", "id", "a.b", "a_b", "aB", "x" * 64, "patient_" * 7 + "id", "_", "名"]
    found = Naming(number, "odd").names(own, ["ref", "no", "key", "a.b_2"])
    assert found.keys() == set(own)
    assert len({name.lower() for name in found.values()}) == len(own)
    taken = Naming(number, "odd").names(["name"], ["name", "full_name", "FullName", "label"])
    assert taken["name"].lower() not in {"name", "full_name", "fullname", "label"}


def test_names_of_the_middlewares_are_kept_free():
    assert {READ, GREP} == MIDDLEWARE_TOOLS


def test_a_synonym_that_the_world_uses_already_is_not_taken(tmp_path: Path):
    folder = parcel_world.make(tmp_path / "parcels")
    text = "We say dispatched and sent out of parcels that wait.\n"
    (folder / "policy.md").write_text(text, "utf-8")
    world = load_world(folder)
    for number in NUMBERS:
        shown = RenamingMaker(world, set()).renaming(number).values.get("status", {})
        assert shown.get("shipped", "shipped").lower() == "shipped"


def test_results_are_translated_both_ways(translator: Translator):
    own: Any = {
        "status": "shipped",
        "parcels": [{"number": "shipped", "parcel_id": 3, "status": ["active", "other"]}],
    }
    shown = translator.show_output(own)
    assert shown == {
        "status": "dispatched",
        "parcels": [{"ref": "shipped", "parcelKey": 3, "status": ["current", "other"]}],
    }
    assert translator.own_output(shown) == own


def test_a_key_that_the_renaming_does_not_know_is_not_lost(translator: Translator):
    own = {"number": "P-1", "ref": "P-2"}
    assert translator.own_output(translator.show_output(own)) == own


def test_text_names_what_the_model_is_shown(translator: Translator):
    text = "You must not call find_parcel with a `number` of an active, `shipped` one; number it."
    assert translator.show_text(text) == (
        "You may not call locateParcel with a `ref` of a current, `dispatched` one; number it."
    )


@pytest.mark.parametrize(
    ("shown", "own"),
    [
        ("It was dispatched.", "It was shipped."),
        ("Dispatched today.", "Shipped today."),
        ("a current order", "an active order"),
        ("It is UNDER_WAY, or under way.", "It is in_transit, or in transit."),
        ("The currents are undispatched.", "The currents are undispatched."),
        ("It was shipped.", "It was shipped."),
    ],
)
def test_words_of_the_agent_are_read_as_the_worlds(translator: Translator, shown: str, own: str):
    assert translator.own_text(shown) == own


def test_a_world_with_free_sql_keeps_its_words():
    world = load_world("examples/shop_sql")
    renaming = RenamingMaker(world, {"orders", "status"}).renaming(2)
    assert not renaming.results
    assert not renaming.values
    assert "orders" not in renaming.names
    rows = {"rows": [{"sql": 1, "table": "x"}]}
    assert translator_of(renaming).show_output(rows) == rows
