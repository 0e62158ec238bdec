"""``synth list``: the extensions that are installed, by kind."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import examples_dir, version, world_names
from synth.core.foundation.standard_output import say
from synth.core.foundation.suggestions import hint, nearest
from synth.errors import OperatorError
from synth.plugins import (
    EXTENSION_POINTS,
    WORLDS,
    Extension,
    ExtensionPoint,
    PluginError,
    find_module,
)

HELP = """synth list

List worlds, models, users and every other kind of extension.

arguments:
  [KIND]              one kind only, such as models
options:
  --json              print JSON

examples:
  synth list
  synth list models
  synth list worlds --json

An extension of your own is named package.module:attribute, or by an entry point.
"""

LONGEST = 100
"""Characters of a description that are shown."""


@dataclass(frozen=True)
class Row:
    """One extension as the command shows it."""

    kind: str
    name: str
    source: str
    description: str


@command(HELP)
def main(options: Arguments) -> int:
    """List the extensions; 0, or 1 if two distributions claim one name."""
    points = _points(options.kind)
    rows: list[Row] = []
    errors: list[str] = []
    for point in points:
        try:
            rows += _rows(point)
        except PluginError as error:
            errors.append(str(error))
    if options.json:
        document = {"extensions": [asdict(row) for row in rows], "errors": errors}
        say(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        _print(points, rows)
        for error in errors:
            print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


def _plural(point: ExtensionPoint) -> str:
    """The name of a kind on the command line: ``models``, ``task-sources``."""
    return f"{point.kind}s".replace(" ", "-")


def _points(kind: str | None) -> Sequence[ExtensionPoint]:
    known = {_plural(point): point for point in EXTENSION_POINTS}
    if kind is None:
        return EXTENSION_POINTS
    if kind not in known:
        near = hint(nearest(kind, known))
        raise OperatorError(f"unknown kind {kind!r}{near} (kinds: {', '.join(known)})")
    return [known[kind]]


def _rows(point: ExtensionPoint) -> Iterator[Row]:
    if point is WORLDS:
        for name in world_names():
            yield Row(point.kind, name, f"synth {version()}", _summary(examples_dir() / name))
    for extension in point.all():
        yield Row(point.kind, extension.name, _source(extension), describe(extension))


def _source(extension: Extension) -> str:
    if not extension.distribution:
        return f"synth {version()}"
    return f"{extension.distribution} {extension.version}".strip()


def describe(extension: Extension) -> str:
    """The first line of the extension's docstring, read without importing its module."""
    module, _, attribute = extension.target.partition(":")
    try:
        spec = find_module(module)
        if spec is None or spec.origin is None:
            return ""
        tree = ast.parse(Path(spec.origin).read_text("utf-8"))
    except (PluginError, OSError, SyntaxError, ValueError):
        return ""
    documented = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == attribute
    ]
    texts = [ast.get_docstring(node) for node in (*documented, tree)]
    return next((_shortened(text) for text in texts if text), "")


def _summary(folder: Path) -> str:
    """The first sentence of a world's README."""
    readme = folder / "README.md"
    lines = readme.read_text("utf-8").splitlines() if readme.is_file() else []
    return next((_shortened(line) for line in lines if line and not line.startswith("#")), "")


def _shortened(text: str) -> str:
    line = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."


def _print(points: Sequence[ExtensionPoint], rows: Sequence[Row]) -> None:
    name_width = max((len(row.name) for row in rows), default=0)
    source_width = max((len(row.source) for row in rows), default=0)
    for point in points:
        own = [row for row in rows if row.kind == point.kind]
        say(f"{_plural(point)}:" + ("" if own else " none"))
        for row in own:
            line = f"  {row.name:<{name_width}}  {row.source:<{source_width}}  {row.description}"
            say(line.rstrip())
