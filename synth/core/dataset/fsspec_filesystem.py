"""Filesystems of fsspec, as Arrow's."""

from __future__ import annotations

from fsspec.core import url_to_fs
from pyarrow.fs import FSSpecHandler, PyFileSystem


def open_url(url: str) -> tuple[PyFileSystem, str]:
    """The filesystem of a URL, and the path in it. Raises ValueError for an unknown scheme, and
    ImportError for one whose package is not installed.
    """
    filesystem, path = url_to_fs(url)
    return PyFileSystem(FSSpecHandler(filesystem)), path
