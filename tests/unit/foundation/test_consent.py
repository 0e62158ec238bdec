"""Code of a run directory is executed where this machine made it, and asked about elsewhere."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest
import zstandard

from synth.core.foundation.archive import pack_world
from synth.core.foundation.consent import (
    CodePart,
    ForeignCode,
    agree,
    config_part,
    known_file,
    refuse,
    remember,
    require_consent,
    tasks_part,
    world_part,
)
from synth.core.foundation.shipped import examples_dir
from synth.errors import UntrustedCode
from tests.unit import small_world

PLAIN = "extensions/world"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def part_of(folder: Path) -> CodePart:
    return world_part(pack_world(folder))


def plain_with(tmp_path: Path, **files: str) -> CodePart:
    """A world without Python, with files added or replaced (``tools_yaml`` is tools.yaml)."""
    folder = Path(shutil.copytree(examples_dir() / PLAIN, tmp_path / "world"))
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return part_of(folder)


def ask(*parts: CodePart) -> list[str]:
    """What consent is asked for; empty where nobody is asked."""
    asked: list[ForeignCode] = []
    require_consent(Path("run"), parts, lambda foreign: asked.append(foreign) is None)
    return [name for foreign in asked for name in foreign.code]


def test_a_world_without_python_needs_no_consent(tmp_path: Path):
    part = plain_with(tmp_path)
    assert part.code == ()
    require_consent(tmp_path, [part, config_part(b"model: {kind: scripted}")], refuse)


def test_python_of_a_stranger_is_listed_and_refused(tmp_path: Path):
    part = part_of(small_world.make(tmp_path / "shop"))
    assert ask(part) == ["executors.py"]
    with pytest.raises(UntrustedCode, match=r"brings .*executors\.py.* --trust"):
        require_consent(tmp_path, [part], refuse)
    require_consent(tmp_path, [part], agree)


@pytest.mark.parametrize("name", ["helpers.PY", "lib/deep.py", "world.yaml"])
def test_python_is_found_under_every_name(tmp_path: Path, name: str):
    folder = Path(shutil.copytree(examples_dir() / PLAIN, tmp_path / "world"))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("", "utf-8")
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.*")}
    assert world_part(archive_of(files)).code == (name,)


def archive_of(files: dict[str, Path]) -> bytes:
    """An archive with files that :func:`pack_world` would not take."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, file in files.items():
            tar.add(file, name)
    return zstandard.ZstdCompressor().compress(buffer.getvalue())


@pytest.mark.parametrize(
    ("executor", "shown"),
    [
        ("shutil.rmtree", "tools.yaml: shutil.rmtree"),
        ("'shutil:rmtree'", "tools.yaml: shutil:rmtree"),
        ("*name", "tools.yaml: shutil.rmtree"),
        ('"shutil\\u002ermtree"', "tools.yaml: shutil.rmtree"),
    ],
)
def test_an_executor_outside_the_world_is_code(tmp_path: Path, executor: str, shown: str):
    tools = f"""\
- name: &name shutil.rmtree
  description: Removes.
  executor: {executor}
"""
    assert shown in plain_with(tmp_path, tools_yaml=tools).code


def test_an_extension_that_a_world_names_is_code(tmp_path: Path):
    part = plain_with(tmp_path, tools_yaml="- builtin: acme.weather:tools\n  unit: F\n")
    assert part.code == ("tools.yaml: acme.weather:tools",)


def test_a_world_that_ships_is_known_and_a_changed_one_is_not(tmp_path: Path):
    shop = examples_dir() / "shop"
    require_consent(tmp_path, [part_of(shop)], refuse)
    folder = Path(shutil.copytree(shop, tmp_path / "shop"))
    (folder / "executors.py").write_text("import os\n")
    with pytest.raises(UntrustedCode):
        require_consent(tmp_path, [part_of(folder)], refuse)


def test_what_was_made_here_is_known_by_its_content(tmp_path: Path):
    part = part_of(small_world.make(tmp_path / "shop"))
    remember([part])
    remember([part])
    require_consent(tmp_path, [part], refuse)
    file = known_file()
    assert file is not None
    assert file.read_text().splitlines() == [part.line]
    changed = small_world.make(tmp_path / "other", tasks=("in green.", "in GREEN."))
    assert ask(part_of(changed)) == ["executors.py"]


def test_a_yes_may_be_remembered(tmp_path: Path):
    part = part_of(small_world.make(tmp_path / "shop"))
    ForeignCode(tmp_path, [part]).remember()
    assert ask(part) == []


def test_a_config_of_a_stranger_is_code_where_it_names_an_extension_or_is_resumed():
    plain = b"model: {kind: openai, base_url: 'http://127.0.0.1:1/v1', api_key_env: MY_KEY}"
    assert config_part(plain).code == ()
    assert config_part(plain, resumes=True).code == (
        "config.yaml: base_url http://127.0.0.1:1/v1",
        "config.yaml: api_key_env MY_KEY",
    )
    assert config_part(b"seed: 1", resumes=True).code == ("config.yaml",)
    assert config_part(b"database: {engine: 'acme.db:STRICT'}").code == (
        "config.yaml: acme.db:STRICT",
    )


def test_gates_that_are_imported_by_path_are_code(tmp_path: Path):
    file = tmp_path / "tasks.parquet"
    file.write_bytes(b"PAR1")
    assert tasks_part(file, ["state", "answer"]).code == ()
    part = tasks_part(file, ["state", "acme:Gate"])
    assert ask(part) == ["tasks.parquet: acme:Gate"]
    remember([tasks_part(file, ())])
    assert ask(part) == []


def test_names_of_files_move_no_cursor(tmp_path: Path):
    part = CodePart("world", "0", ("a\x1b[2Jb\n.py",))
    assert ForeignCode(tmp_path, [part]).code == ["a?[2Jb?.py"]


def test_a_state_directory_that_cannot_be_written_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    part = part_of(small_world.make(tmp_path / "shop"))
    remember([part])
    assert ask(part) == ["executors.py"]


def test_a_relative_state_directory_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A run directory that one stands in cannot vouch for itself."""
    monkeypatch.setenv("XDG_STATE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert known_file() == tmp_path / ".local" / "state" / "synth" / "known_code"
