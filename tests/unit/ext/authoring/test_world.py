"""Worlds made from databases: tools that load, drafts that can be read, folders that appear whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from envs.world.loader import load_world
from synth.errors import OperatorError
from synth.ext.authoring.folder import new_folder, write_files
from synth.ext.authoring.prove import _brief
from synth.ext.authoring.source import from_files
from synth.ext.authoring.world import make_world

pytestmark = pytest.mark.slow

SCHEMATA = Path(__file__).parents[3] / "schemata"
NAMES = sorted(path.stem for path in SCHEMATA.glob("*.sql"))


@pytest.mark.parametrize("name", NAMES)
def test_the_tools_load_and_the_families_are_yaml(name: str, tmp_path: Path):
    made = make_world(name, from_files([SCHEMATA / f"{name}.sql"]), print, proves=False)
    write_files(tmp_path, made.files)
    tools = {tool.name: tool for tool in load_world(tmp_path).tools}
    assert tools
    for tool in tools.values():
        assert tool.read_only is tool.name.startswith(("find_", "get_", "list_"))
    tasks = yaml.safe_load(made.files["tasks.yaml"])
    updates = {name for name in tools if name.startswith("update_")}
    assert tasks.get("read_before", {}).keys() == updates
    families = tasks["families"]
    assert [family["id"] for family in families] == [draft.id for draft in made.drafts]
    assert not re.findall(r'"say": \[(?:"[^"]*", )*"[a-z][^"]*|, i see', json.dumps(families))
    assert max(map(len, made.files["tasks.yaml"].splitlines())) < 2000


def test_a_row_is_read_before_it_is_changed():
    source = from_files([SCHEMATA / "bank.sql"])
    made = make_world("bank", source, print, patterns=["change", "refuse_check"])
    assert len(made.proofs.kept) >= 5
    assert not made.proofs.left_out  # neither by a snoop without reads, nor by another look-up
    reads = yaml.safe_load(made.files["tasks.yaml"])["read_before"]
    assert reads["update_card"] == [["get_card", {"list_cards": "card_id"}]]
    families = yaml.safe_load(made.files["tasks.yaml"])["families"]
    gold = next(one["gold"] for one in families if one["id"] == "change_card_daily_limit")
    assert " ".join(next(iter(step)) for step in gold) == "get_card get_account update_card say"


def test_most_patterns_find_work_in_a_media_shop():
    source = from_files([SCHEMATA / "media_shop.sql"])
    made = make_world("media_shop", source, print, proves=False)
    patterns = {draft.pattern for draft in made.drafts}
    assert len(patterns) >= 15
    assert len(made.drafts) >= 40


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE t (", "SQLite cannot run this script"),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY);", "has no rows"),
        ("", "has no tables"),
    ],
)
def test_a_database_that_makes_no_world_is_refused(script: str, message: str, tmp_path: Path):
    file = tmp_path / "schema.sql"
    file.write_text(script)
    with pytest.raises(OperatorError, match=message):
        make_world("x", from_files([file]), print, proves=False)


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path):
    target = tmp_path / "world"
    with pytest.raises(ZeroDivisionError), new_folder(target) as folder:
        write_files(folder, {"a.txt": "a"})
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    with new_folder(target) as folder:
        write_files(folder, {"a.txt": "a"})
        assert not target.exists()
    assert (target / "a.txt").read_text() == "a"
    with pytest.raises(OperatorError, match="exists already"), new_folder(target):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["world"]


def test_a_reason_does_not_name_a_file_that_is_gone():
    place = "/tmp/synth-new-x1/shop/tasks.yaml:1077: family consent_price: "
    assert _brief(f"{place}it fails") == "it fails"
    assert _brief(f"universe 1: {place}it fails") == "universe 1: it fails"
    assert _brief("gold " * 100).endswith("gold ...")
