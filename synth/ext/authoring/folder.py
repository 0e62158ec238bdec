"""A world's folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from synth.errors import OperatorError

_LEFT = shutil.ignore_patterns("__pycache__", "*.pyc", ".tasks.schema.json", ".synth")


def refuse_existing(path: Path) -> None:
    """Raise OperatorError where something stands that a new world would overwrite."""
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise OperatorError(f"{path}: exists already; name a folder that does not")


@contextmanager
def writing(place: Path) -> Generator[None]:
    """Raise OperatorError for a disk that is full, or that cannot be written."""
    try:
        yield
    except OSError as error:  # copytree lists what it could not copy
        why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror or error
        raise OperatorError(f"{place}: cannot be written: {why}") from error


def refuse_unwritable(path: Path) -> None:
    """Raise OperatorError where no new world can be written, before the work begins."""
    refuse_existing(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent):
            pass


@contextmanager
def new_folder(path: Path) -> Generator[Path]:
    """A temporary folder beside ``path``, with its name, which takes its place at the end of the
    block; nothing is left of it after an error.
    """
    refuse_unwritable(path)
    holder = tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent)
    with writing(path), holder as temporary:
        folder = Path(temporary) / path.name
        folder.mkdir()
        yield folder
        for cache in folder.rglob("__pycache__"):
            shutil.rmtree(cache)
        if path.is_dir():
            path.rmdir()
        os.replace(folder, path)  # noqa: PTH105


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def copy_world(source: Path, path: Path) -> None:
    """Copy a world's folder to a new place."""
    with new_folder(path) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=_LEFT)
