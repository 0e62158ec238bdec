"""``synth clean``: what dead runs left behind, on servers and in the temporary directory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from envs.connection import driver_of, parse_url
from envs.errors import DatabaseConfigError
from envs.sandboxes.base import DatabaseTarget, find_engine
from synth.core.cli.command import Arguments, command
from synth.core.foundation.standard_output import stdout
from synth.core.foundation.tempdirs import sweep

SERVERS = ("postgresql", "mariadb")
"""The engines whose servers on this machine are looked at unless a URL is given."""

HELP = """synth clean

Drop the databases, roles and files that dead runs left behind.

Only names that synth made, of processes that are gone, are touched: a process holds a lock as long
as it lives. Every run does the same when it starts.

options:
  --url URL           a server (default: all of this machine) (repeatable)
  --dry-run           list only
  --json              print the lists as JSON

examples:
  synth clean --dry-run                                lists, and changes nothing
  synth clean                                          the servers on this machine, temporary files
  synth clean --url postgresql://postgres@db:5432/postgres
"""


@dataclass(frozen=True)
class _Place:
    """A server or the temporary directory: what was found there, and what is left of it."""

    place: str
    found: Sequence[str]
    left: Sequence[str]
    problem: str = ""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0, or 1 where something stays or a given server cannot be used."""
    places = [_files(dry_run=options.dry_run)]
    targets = [(driver_of(parse_url(url)), url) for url in options.url]
    for engine, url in targets or [(engine, None) for engine in SERVERS]:
        places.append(_server(engine, url, dry_run=options.dry_run))
    if options.json:
        stdout().write(json.dumps([asdict(place) for place in places], indent=2) + "\n")
    else:
        stdout().write("".join(_words(place, dry_run=options.dry_run) for place in places))
    failed = any(place.problem for place in places) if options.url else False
    stays = any(place.left for place in places) and not options.dry_run
    return 1 if failed or stays else 0


def _files(*, dry_run: bool) -> _Place:
    found = sweep(remove=not dry_run)
    left = [path for path in found if path.exists()]
    return _Place("temporary files", [str(path) for path in found], [str(path) for path in left])


def _server(engine: str, url: str | None, *, dry_run: bool) -> _Place:
    target = DatabaseTarget(url)
    where = engine if url is None else parse_url(url).render_as_string(hide_password=True)
    try:
        found = find_engine(engine).leftovers(target)
        left = found if dry_run or not found else find_engine(engine).leftovers(target, remove=True)
    except DatabaseConfigError as error:
        return _Place(where, (), (), str(error))
    return _Place(where, found, [name for name in left if name in found])


def _words(place: _Place, *, dry_run: bool) -> str:
    if place.problem:
        return f"{place.place}: {place.problem}\n"
    if not place.found:
        return f"{place.place}: nothing\n"
    verb = "would be removed" if dry_run else "removed"
    lines = [f"{place.place}: {len(place.found)} {verb}"]
    for name in place.found:
        stays = not dry_run and name in place.left
        lines.append(f"  {name}{' stays: the server could not drop it yet' if stays else ''}")
    return "\n".join(lines) + "\n"
