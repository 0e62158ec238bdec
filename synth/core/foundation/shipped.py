"""The configs and worlds that ship: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import contextlib
import importlib.metadata
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError
from synth.plugins import WORLD_PLACES, WORLDS, Extension, PluginError, find_module

DISTRIBUTION = "synth-worlds"

_PACKAGE = Path(__file__).resolve().parents[2]


def _shipped(name: str) -> Path:
    # Force-included files are missing from an editable install, so the checkout is asked first.
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).is_dir():
        return checkout / name
    packed = _PACKAGE / "_shipped" / name
    if packed.is_dir():
        return packed
    raise OperatorError(
        f"this installation of {DISTRIBUTION} lacks its {name} folder ({packed}); install it again"
        " from the wheel"
    )


def config_groups(folders: Iterable[Path]) -> dict[str, list[str]]:
    """The config groups in folders, each with its choices: the YAML files of a subfolder."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for file in folder.glob("*/**/*.yaml"):
            found.setdefault(file.parent.relative_to(folder).as_posix(), set()).add(file.stem)
    return {group: sorted(names) for group, names in found.items()}


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


def _is_world(folder: Path) -> bool:
    """True if the folder holds a world: a schema of any engine, or tasks."""
    return folder.is_dir() and (
        (folder / "tasks.yaml").is_file() or any(folder.glob("schema*.sql"))
    )


def world_names(root: Path | None = None) -> list[str]:
    """The names of the worlds under ``root``, by default of those that ship."""
    return sorted(folder.name for folder in (root or examples_dir()).iterdir() if _is_world(folder))


def world_at(path: str | Path) -> Path:
    """The absolute path of a world's folder; OperatorError where there is no world."""
    try:
        folder = Path(path).expanduser().resolve()
    except RuntimeError as error:  # ~someone, who has no home here
        raise OperatorError(f"{path}: {error}") from error
    if _is_world(folder):
        return folder
    if not folder.exists():
        raise OperatorError(f"folder not found: {folder}")
    if not folder.is_dir():
        raise OperatorError(f"{folder}: a world is a folder, and this is a file")
    raise OperatorError(
        f"{folder}: no world here: a world's folder holds schema.sql, seed.sql and tasks.yaml"
    )


def place_and_name(name: str) -> tuple[str, str] | None:
    """The parts of a name such as ``hf:org/name``; None for a world of this machine."""
    place, colon, rest = name.partition(":")
    return (place, rest) if colon and place in WORLD_PLACES.builtin else None


def find_world(name_or_path: str, root: Path | None = None) -> Path:
    """The absolute folder of a world, from its name or from a path.

    A bare name is looked up among the worlds that ship, then among folders, then among the entry
    points of the group ``synth.worlds``; ``./name`` means the folder, ``hf:org/name`` a world on
    the Hub. Raises OperatorError with the nearest name and the list of the worlds that ship.
    """
    if (elsewhere := place_and_name(name_or_path)) is not None:
        place, name = elsewhere
        return world_at(WORLD_PLACES.load(place)(name))
    shipped = root or examples_dir()
    names = world_names(shipped)
    if name_or_path in names:
        return (shipped / name_or_path).resolve()
    if name_or_path and (Path(name_or_path).name != name_or_path or Path(name_or_path).exists()):
        return world_at(name_or_path)
    installed = _installed_world(name_or_path) if name_or_path else None
    if installed is not None:
        return installed
    ship = (
        f"shipped worlds: {', '.join(names)}" if names else "no worlds ship with this installation"
    )
    raise OperatorError(
        f"unknown world {name_or_path!r}{hint(nearest(name_or_path, names))}"
        f" ({ship}; "
        "a world of your own is given by its path)"
    )


def installed_worlds() -> Iterator[Path]:
    """The folders of the worlds that ship and of those that installed distributions offer.

    An entry point that names no world is left out.
    """
    shipped = examples_dir()
    yield from (shipped / name for name in world_names(shipped))
    with contextlib.suppress(PluginError):
        for extension in WORLDS.all():
            with contextlib.suppress(OperatorError):
                yield _world_of(extension)


def _installed_world(name: str) -> Path | None:
    """The folder of the package that an entry point of the group ``synth.worlds`` names.

    None if there is no such entry point. Raises OperatorError if two distributions claim the name,
    and for a package that cannot be found or holds no world.
    """
    extension = world_extension(name)
    return None if extension is None else _world_of(extension)


def world_extension(name: str) -> Extension | None:
    """The entry point of the group ``synth.worlds`` with that name, if there is one.

    Raises OperatorError if two distributions claim the name.
    """
    try:
        return next((world for world in WORLDS.all() if world.name == name), None)
    except PluginError as error:
        raise OperatorError(str(error)) from error


def _world_of(extension: Extension) -> Path:
    package = extension.target.partition(":")[0]
    try:
        spec = find_module(package)
    except PluginError as error:
        raise OperatorError(
            f"the world {extension.name!r} of {extension.distribution}: {error}"
        ) from error
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    if not folders:
        raise OperatorError(
            f"the world {extension.name!r} of {extension.distribution} names {package}, which is"
            " not a package with files"
        )
    return world_at(folders[0])
