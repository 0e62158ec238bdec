"""A world as bytes: the same files give the same archive, and an archive leads nowhere else."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
import zstandard

from envs.errors import WorldError
from envs.world.loader import world_digest
from synth.core.foundation.archive import pack_world, unpack_world


@pytest.fixture
def world(tmp_path: Path) -> Path:
    folder = tmp_path / "world"
    (folder / "more").mkdir(parents=True)
    (folder / "schema.sql").write_text("CREATE TABLE t (a);", "utf-8")
    (folder / "seed.sql").write_bytes(b"INSERT INTO t VALUES ('\xc3\xa9\r\n');")
    (folder / "more" / "tools.py").write_text("A = 1\n", "utf-8")
    return folder


def archive(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for entry, data in entries:
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return zstandard.ZstdCompressor().compress(buffer.getvalue())


def test_what_is_packed_comes_out_byte_by_byte(world: Path, tmp_path: Path):
    out = unpack_world(pack_world(world), tmp_path / "out")
    assert out == tmp_path / "out"
    for name in ("schema.sql", "seed.sql", "more/tools.py"):
        assert (out / name).read_bytes() == (world / name).read_bytes()
    assert world_digest(out) == world_digest(world)


def test_times_modes_and_places_do_not_count(world: Path, tmp_path: Path):
    first = pack_world(world)
    os.utime(world / "schema.sql", (1, 1))
    (world / "seed.sql").chmod(0o600)
    assert pack_world(world) == first
    assert pack_world(unpack_world(first, tmp_path / "elsewhere")) == first
    (world / "schema.sql").write_text("CREATE TABLE t (b);", "utf-8")
    assert pack_world(world) != first


def test_what_is_no_part_of_a_world_stays_at_home(world: Path, tmp_path: Path):
    """Databases, keys, hidden files, caches, and links that lead outside."""
    (world / "data.db").write_text("x", "utf-8")
    (world / ".env").write_text("KEY=secret", "utf-8")
    (world / ".git").mkdir()
    (world / ".git" / "config.md").write_text("x", "utf-8")
    (world / "__pycache__").mkdir()
    (world / "__pycache__" / "a.py").write_text("x", "utf-8")
    (tmp_path / "secret.txt").write_text("x", "utf-8")
    (world / "link.txt").symlink_to(tmp_path / "secret.txt")
    out = unpack_world(pack_world(world), tmp_path / "out")
    assert sorted(each.name for each in out.rglob("*") if each.is_file()) == [
        "schema.sql",
        "seed.sql",
        "tools.py",
    ]


@pytest.mark.parametrize("name", ["../escaped.sql", "/escaped.sql", "a/../../escaped.sql"])
def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, name: str):
    out = tmp_path / "deep" / "out"
    try:
        unpack_world(archive((tarfile.TarInfo(name), b"x")), out)
    except WorldError as error:
        assert "not an archive of a world" in str(error)  # noqa: PT017 - an absolute name is made relative instead
    outside = [each for each in tmp_path.rglob("escaped.sql") if not each.is_relative_to(out)]
    assert outside == []
    assert not Path("/escaped.sql").exists()


def test_a_link_that_leads_outside_is_refused(tmp_path: Path):
    link = tarfile.TarInfo("link.sql")
    link.type, link.linkname = tarfile.SYMTYPE, "../../secret"
    with pytest.raises(WorldError, match="not an archive of a world"):
        unpack_world(archive((link, b"")), tmp_path / "out")


@pytest.mark.parametrize(
    "data",
    [b"", b"nothing of ours", zstandard.ZstdCompressor().compress(b"no tar" * 200)],
    ids=["empty", "raw", "zst"],
)
def test_what_is_no_archive_is_said_so(tmp_path: Path, data: bytes):
    with pytest.raises(WorldError, match="not an archive of a world"):
        unpack_world(data, tmp_path / "out")


def test_a_torn_archive_is_no_archive(world: Path, tmp_path: Path):
    data = pack_world(world)
    with pytest.raises(WorldError, match="not an archive of a world"):
        unpack_world(data[: len(data) // 2], tmp_path / "out")


def test_a_key_in_a_world_is_refused_by_file_and_never_shown(
    world: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHOP_API_KEY", "correct-horse-battery")
    (world / "more" / "tools.py").write_text("KEY = 'correct-horse-battery'\n", "utf-8")
    with pytest.raises(WorldError, match=r"tools\.py.*SHOP_API_KEY") as raised:
        pack_world(world)
    assert "correct-horse" not in str(raised.value)
    (world / "more" / "tools.py").write_text("KEY = 'sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e'\n", "utf-8")
    with pytest.raises(WorldError, match="looks like a key") as raised:
        pack_world(world)
    assert "4f9a8b" not in str(raised.value)
