"""A run's files on another filesystem: Arrow's local one, and fsspec's in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from synth.__main__ import main
from synth.core.dataset.reader import Dataset
from synth.core.dataset.store.run_info import RunIdentity
from synth.core.dataset.upload import (
    RECORD,
    Uploaded,
    check_target,
    is_uploaded,
    published_files,
    upload,
)
from synth.errors import OperatorError
from tests.sample_rows import row, write_run


class Breaking(MemoryFileSystem):
    """A filesystem that loses its connection at the file whose name ends so; bytes before it
    arrive.
    """

    protocol = "breaking"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    at: ClassVar[str | None] = None

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(path.removeprefix("breaking://"))

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "wb" and self.at is not None and path.endswith(self.at):
            raise OSError("connection reset by peer")
        return super()._open(path, mode=mode, **options)


fsspec.register_implementation("breaking", Breaking, clobber=True)


@pytest.fixture(autouse=True)
def empty_memory() -> Iterator[None]:
    yield
    for kind in (MemoryFileSystem, Breaking):
        kind.store.clear()
        kind.pseudo_dirs[:] = [""]
    Breaking.at = None


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = write_run(tmp_path / "run", [row(0), row(1)])
    (run / "world").mkdir(exist_ok=True)
    (run / "world" / "ab.tar.zst").write_bytes(b"which Arrow would compress once more")
    return run


def identity(run: Path) -> RunIdentity:
    return RunIdentity(**json.loads((run / "manifest.json").read_text())["identity"])


def send(run: Path, url: str) -> Uploaded:
    return upload(run, url, identity(run), lambda _: None)


def names(run: Path) -> list[str]:
    return sorted(published_files(run))


@pytest.mark.parametrize("kind", ["memory", "file", "path"])
def test_the_files_arrive_and_are_a_dataset(run: Path, tmp_path: Path, kind: str) -> None:
    place = {
        "memory": "memory://runs/one",
        "file": (tmp_path / "far").as_uri(),
        "path": str(tmp_path / "far"),
    }[kind]
    done = send(run, place)
    assert (done.sent, done.unchanged, done.removed) == (len(names(run)), 0, 0)
    assert is_uploaded(run, place)
    if kind == "memory":
        fsspec.filesystem("memory").get("runs/one", str(tmp_path / "far"), recursive=True)
    far = tmp_path / "far"
    assert names(far) == names(run)
    assert all((far / name).read_bytes() == (run / name).read_bytes() for name in names(run))
    Dataset.open(far).verify()
    assert send(run, place).sent == 0


def test_an_upload_that_broke_goes_on_and_the_manifest_is_last(run: Path) -> None:
    Breaking.at = "README.md" if (run / "README.md").is_file() else "manifest.json"
    with pytest.raises(OperatorError, match="breaking://runs: connection reset by peer"):
        send(run, "breaking://runs")
    assert not is_uploaded(run, "breaking://runs")
    arrived = json.loads(Breaking.store[f"/runs/{RECORD}"].getvalue())["files"]
    assert "manifest.json" not in arrived
    assert "/runs/manifest.json" not in Breaking.store
    Breaking.at = None
    done = send(run, "breaking://runs")
    assert done.unchanged == len(arrived) > 0
    assert done.sent == len(names(run)) - len(arrived)
    assert is_uploaded(run, "breaking://runs")


def test_what_has_changed_is_sent_and_what_is_gone_is_removed(run: Path) -> None:
    (run / "errors.parquet").write_bytes(b"of an earlier session")
    send(run, "memory://runs")
    (run / "errors.parquet").unlink()
    (shard,) = (run / "data").glob("*.parquet")
    shard.write_bytes(shard.read_bytes() + b"more")
    done = send(run, "memory://runs")
    assert (done.sent, done.removed) == (2, 1), "the shard, and the manifest after it"
    store = MemoryFileSystem.store
    assert "/runs/errors.parquet" not in store
    assert store[f"/runs/data/{shard.name}"].getvalue() == shard.read_bytes()


def test_a_file_that_was_torn_at_the_target_is_sent_again(run: Path, tmp_path: Path) -> None:
    send(run, str(tmp_path / "far"))
    (shard,) = (tmp_path / "far" / "data").glob("*.parquet")
    shard.write_bytes(b"torn")
    assert send(run, str(tmp_path / "far")).sent == 2
    Dataset.open(tmp_path / "far").verify()


def test_no_other_files_are_touched(run: Path, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "thesis.tex").write_text("")
    with pytest.raises(OperatorError, match=r"is not empty \(it has thesis.tex\)"):
        send(run, str(far))
    assert [path.name for path in far.iterdir()] == ["thesis.tex"]
    with pytest.raises(OperatorError, match="is a file"):
        send(run, str(far / "thesis.tex"))
    other = RunIdentity("other", "other", "other", "shop", "m")
    send(run, "memory://runs")
    with pytest.raises(OperatorError, match="holds another run"):
        check_target("memory://runs", other)


@pytest.mark.parametrize(
    ("url", "words"),
    [("runs/here", "neither a URL nor an absolute path"), ("nowhere://runs", "nowhere")],
)
def test_an_address_that_is_none(run: Path, url: str, words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        check_target(url, identity(run))


JOB = ("run", "env=library", "tasks.count=6", "runtime=inline", "output.rows_per_shard=2")


def test_a_run_uploads_when_it_ends_and_a_resume_sends_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, url = tmp_path / "out", "breaking://bucket/runs"
    Breaking.at = "train-00001-of-00003.parquet"
    assert main([*JOB, f"output.dir={out}", f"output.upload={url}"]) == 3
    said = capsys.readouterr().out
    assert "complete: 6 of 6 rollouts" in said
    assert "not uploaded, and whole in" in said
    assert "connection reset by peer" in said
    assert "next: synth run --resume" in said
    Breaking.at = None
    assert main(["run", "--resume", str(out)]) == 0
    said = capsys.readouterr()
    assert f"uploaded to {url}: " in said.out
    assert "train-00000" not in said.err, "it is there already"
    assert main(["run", "--resume", str(out)]) == 0
    assert capsys.readouterr().out.startswith("complete already")
    fsspec.filesystem("breaking").get("bucket/runs", str(tmp_path / "back"), recursive=True)
    with Dataset.open(tmp_path / "back") as dataset:
        dataset.verify()
        assert dataset.count == 6


def test_a_place_that_cannot_be_used_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "thesis.tex").write_text("")
    out = tmp_path / "out"
    assert main([*JOB, f"output.dir={out}", f"output.upload={tmp_path / 'far'}"]) == 2
    assert "is not empty" in capsys.readouterr().err
    Breaking.at = RECORD
    assert main([*JOB, f"output.dir={out}", "output.upload=breaking://runs"]) == 2
    assert "connection reset by peer" in capsys.readouterr().err
    assert not out.exists()
    assert main([*JOB, f"output.dir={out}", "output.upload=s3://me:secret@bucket/runs"]) == 2
    assert "the URL holds a user, a password or a key" in capsys.readouterr().err
