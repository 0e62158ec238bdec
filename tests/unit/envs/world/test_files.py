"""A world that shares the database of a world beside it, by ``world.yaml``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs.errors import WorldError
from envs.reseed import reseed
from envs.types import Pins, ToolCall
from envs.world.loader import load_world, world_digest, world_files
from synth.core.foundation.archive import pack_world, unpack_world

pytestmark = pytest.mark.slow

SHOP = {
    "schema.sql": "CREATE TABLE goods (name TEXT PRIMARY KEY);",
    "schema.postgresql.sql": "CREATE TABLE goods (name text PRIMARY KEY);",
    "seed.sql": "INSERT INTO goods VALUES ('lamp');",
    "seed.py": "from .names import NAMES\n\n\ndef rows(universe, random):\n"
    "    for name in NAMES:\n        yield 'goods', {'name': f'{name} {universe}'}\n",
    "names.py": "from .lists.colours import COLOURS\n\nNAMES = [f'{c} lamp' for c in COLOURS]\n",
    "lists/__init__.py": "",
    "lists/colours.py": "COLOURS = ['red', 'blue']\n",
    "lists/unused.py": "",
    "sizes.csv": "S,M,L\n",
    "executors.py": "from envs import tool\n\n\n@tool\ndef own(db) -> dict:\n    '''Own.'''\n",
    "tools.yaml": "[]\n",
    "tasks.yaml": "families: []\n",
    "policy.md": "The shop's policy.\n",
    "README.md": "The shop.\n",
}
ASKING = {
    "world.yaml": "# Where the rows are.\ndatabase: ../shop\n",
    "tools.yaml": "- builtin: [list_tables, run_select_query]\n",
    "policy.md": "The questions' policy.\n",
}
SHARED = {
    "schema.sql",
    "schema.postgresql.sql",
    "seed.sql",
    "seed.py",
    "names.py",
    "lists/__init__.py",
    "lists/colours.py",
    "sizes.csv",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    write(tmp_path / "shop", SHOP)
    return write(tmp_path / "asking", ASKING)


def names_in(world_folder: Path, universe: int) -> list[str]:
    world = load_world(world_folder)
    template = world.template("sqlite", universe)
    try:
        with world.environment(template, Pins()) as environment:
            query = ToolCall.of("run_select_query", {"sql": "SELECT name FROM goods ORDER BY 1"})
            return [row[0] for row in environment.call(query).result.output["rows"]]
    finally:
        template.close()


def test_the_database_is_the_other_world_s_and_the_rest_its_own(asking: Path):
    world = load_world(asking)
    assert world.script("schema", "postgresql") == asking.parent / "shop" / "schema.postgresql.sql"
    assert world.policy == "The questions' policy."
    assert [tool.name for tool in world.tools] == ["list_tables", "run_select_query"]
    assert names_in(asking, 0) == ["lamp"]
    assert names_in(asking, 2) == ["blue lamp 2", "red lamp 2"]


def test_its_files_are_its_own_and_those_of_the_database(asking: Path):
    assert set(world_files(asking)) == SHARED | {"tools.yaml", "policy.md"}


def test_the_digest_covers_the_shared_files(asking: Path):
    digest = world_digest(asking)
    for name in sorted(SHARED - {"lists/__init__.py"}):
        file = asking.parent / "shop" / name
        text = file.read_text("utf-8")
        file.write_text(f"{text} ", "utf-8")
        assert world_digest(asking) != digest, name
        file.write_text(text, "utf-8")
    for name in SHOP.keys() - SHARED:
        (asking.parent / "shop" / name).write_text("# another\n", "utf-8")
    assert world_digest(asking) == digest


def test_an_archive_is_a_complete_world(asking: Path, tmp_path: Path):
    """Neither the folder beside it nor ``world.yaml`` is needed, and the digest is the same."""
    archive, digest = pack_world(asking), world_digest(asking)
    expected = names_in(asking, 1)
    shutil.rmtree(asking.parent / "shop")
    unpacked = unpack_world(archive, tmp_path / "elsewhere" / "asking")
    assert not (unpacked / "world.yaml").exists()
    assert load_world(unpacked).digest == digest
    assert names_in(unpacked, 0) == ["lamp"]
    assert names_in(unpacked, 1) == expected


def test_reseed_follows_it(asking: Path, tmp_path: Path):
    assert reseed(asking, out=tmp_path / "a.sqlite").rows == {"goods": 1}
    assert reseed(asking, out=tmp_path / "b.sqlite", universe=3).rows == {"goods": 2}


def test_a_world_may_share_what_another_one_shares(asking: Path, tmp_path: Path):
    third = write(tmp_path / "third", ASKING | {"world.yaml": "database: ../asking\n"})
    assert load_world(third).database == tmp_path / "shop"
    assert names_in(third, 0) == ["lamp"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("# one\n\ndatabase: ../shpo\n", 3, "folder not found"),
        ("database: ../shpo\n", 1, "did you mean ../shop?"),
        ("database: /etc\n", 1, "`database: /etc` is an absolute path"),
        ("database: ../../elsewhere\n", 1, "leads out of the folder"),
        ("database: ..\n", 1, "leads out of the folder"),
        ("database: .\n", 1, "goes round in a circle: asking -> asking"),
        ("\ndatabase: ../round\n", 2, "goes round in a circle: asking -> round -> asking"),
        ("database: ../empty\n", 1, "which has no schema.sql and seed.sql"),
        (
            "databse: ../shop\n",
            1,
            "unknown key 'databse'; the keys are `database`, `columns`, `environment` and `license`",
        ),
        ("database: ../shop\nname: x\n", 2, "unknown key 'name'"),
        ("database: ../shop\ndatabase: ../shop\n", 2, "the key `database` occurs twice"),
        ("database: 5\n", 1, "must be the folder of another world"),
        ("database: [../shop]\n", 1, "must be the folder of another world"),
        ("database:\n", 1, "must be the folder of another world"),
        ("", 1, "must hold the key `database`"),
        ("- ../shop\n", 1, "must hold the key `database`"),
        ("database: [\n", 2, "not valid YAML"),
    ],
)
def test_a_wrong_world_yaml_is_one_message_with_its_line(
    asking: Path, text: str, line: int, words: str
):
    (asking.parent / "empty").mkdir()
    write(asking.parent / "round", {"world.yaml": "database: ../asking\n"})
    (asking / "world.yaml").write_text(text, "utf-8")
    with pytest.raises(WorldError) as caught:
        load_world(asking)
    file = asking.parent / "round" / "world.yaml" if "round" in text else asking / "world.yaml"
    assert words in caught.value.message
    assert caught.value.file == str(file)
    assert caught.value.line == (1 if "round" in text else line)


@pytest.mark.parametrize("name", ["schema.sql", "names.py"])
def test_a_file_that_both_worlds_have_is_refused(asking: Path, name: str):
    (asking / name).write_text("", "utf-8")
    with pytest.raises(WorldError, match=f"{name} is in this world and in the world") as caught:
        load_world(asking)
    assert (caught.value.file, caught.value.line) == (str(asking / "world.yaml"), 2)


def test_a_seed_that_imports_the_other_world_s_tools_is_refused(asking: Path):
    """In an archive its executors.py would add tools that the world does not have."""
    (asking.parent / "shop" / "names.py").write_text("from . import executors\n", "utf-8")
    with pytest.raises(WorldError, match=r"seed\.py imports executors\.py"):
        load_world(asking)


def test_a_schema_file_that_is_missing_is_named(tmp_path: Path):
    write(
        tmp_path, {"schema.sql": "CREATE TABLE t (a);", "tools.yaml": "- builtin: [list_tables]\n"}
    )
    world = load_world(tmp_path)  # a world on an attached database has none
    with pytest.raises(WorldError, match=r"a world needs a seed\.sql"):
        world.template()
