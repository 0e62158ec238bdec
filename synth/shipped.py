"""Where the configs and worlds that ship are: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

from synth.errors import OperatorError
from synth.nearest import hint, nearest

DISTRIBUTION = "synth-worlds"

_PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    # Force-included files are missing from an editable install, so the checkout is asked first.
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    packed = _PACKAGE / "_shipped" / name
    if packed.is_dir():
        return packed
    raise OperatorError(
        f"this installation of {DISTRIBUTION} lacks its {name} folder ({packed}); install it again from the wheel"
    )


def configs_dir() -> Path:
    """The folder that holds run.yaml and the config groups."""
    return _shipped("configs")


def examples_dir() -> Path:
    """The folder that holds the worlds that ship."""
    return _shipped("examples")


def version() -> str:
    """The version of the distribution, also in a checkout that was never installed."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        pyproject = _PACKAGE.parent / "pyproject.toml"
        return str(tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["version"])


def is_world(folder: Path) -> bool:
    """Whether the folder holds a world: a schema of any engine, or tasks."""
    return folder.is_dir() and ((folder / "tasks.yaml").is_file() or any(folder.glob("schema*.sql")))


def world_names(root: Path | None = None) -> list[str]:
    """The names of the worlds under ``root``, by default of those that ship."""
    return sorted(folder.name for folder in (root or examples_dir()).iterdir() if is_world(folder))


def world_at(path: str | Path) -> Path:
    """The absolute path of a world's folder; OperatorError where there is no world."""
    try:
        folder = Path(path).expanduser().resolve()
    except RuntimeError as error:  # ~someone, who has no home here
        raise OperatorError(f"{path}: {error}") from error
    if is_world(folder):
        return folder
    if not folder.exists():
        raise OperatorError(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise OperatorError(f"{folder}: a world is a folder, and this is a file")
    raise OperatorError(f"{folder}: no world here: a world's folder holds schema.sql, seed.sql and tasks.yaml")


def find_world(name_or_path: str, root: Path | None = None) -> Path:
    """The absolute folder of a world, from a shipped world's name or from a path.

    A bare name that ships wins over a folder of the same name; ``./name`` says the folder.
    Raises OperatorError with the nearest name and the list of what ships.
    """
    shipped = root or examples_dir()
    names = world_names(shipped)
    if name_or_path in names:
        return (shipped / name_or_path).resolve()
    if name_or_path and (Path(name_or_path).name != name_or_path or Path(name_or_path).exists()):
        return world_at(name_or_path)
    ship = f"shipped worlds: {', '.join(names)}" if names else "no worlds ship with this installation"
    raise OperatorError(
        f"{name_or_path!r} is no shipped world and no folder{hint(nearest(name_or_path, names))} ({ship}; "
        "a world of your own is given by its path)"
    )
