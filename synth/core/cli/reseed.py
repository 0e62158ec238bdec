"""``synth reseed``: (re)create a world's database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from envs.connection import driver_of, parse_url
from envs.reseed import ReseedReport, reseed
from synth.core.cli.command import Arguments, command
from synth.core.config.compose import compose
from synth.core.config.database import DatabaseConfig
from synth.core.config.database_target import configured_target
from synth.core.foundation.shipped import find_world
from synth.core.foundation.standard_output import stdout
from synth.errors import OperatorError
from synth.plugins import ENGINES

HELP = """synth reseed

(Re)create a world's database from its schema.sql and seed.sql (or seed.py).

Only what an earlier reseed made is replaced: a file that bears synth's application_id, or the
tables that _synth_reseed lists on a server. Other tables and other databases are never touched.

arguments:
  WORLD               a shipped world's name, or a world's folder
  [database.KEY=VALUE...]  a server as a run's config describes it
options:
  --force             also replace tables of the same name that synth did not make
  --universe N|0      the rows that seed.py makes for this number, as a file [default: 0]
  --json              print the report as JSON
options, one of these:
  --url URL           a database: postgresql://, mysql://, mariadb://, or sqlite:///FILE
  --out FILE          default: WORLD.sqlite, right here

examples:
  synth reseed ehr_db                                  builds ./ehr_db.sqlite
  synth reseed path/to/world --out /tmp/shop.sqlite
  synth reseed shop --universe 3                       builds ./shop_3.sqlite from its seed.py
  synth reseed ehr_db --url postgresql://me@localhost/scratch
  synth reseed ehr_db database=postgres database.dsn_env_var=MY_DATABASE_URL
  synth reseed ehr_db database=mariadb database.connection.host=db.example \\
    database.connection.username=me database.connection.password_env_var=DB_PASSWORD \\
    database.connection.database=scratch
"""


@command(HELP)
def main(options: Arguments) -> int:
    """Run the command; returns 0. Raises OperatorError or EnvsError."""
    report = reseed(
        find_world(options.world),
        url=_url(options),
        out=options.out,
        force=options.force,
        universe=options.universe,
    )
    stdout().write(json.dumps(asdict(report), indent=2) + "\n" if options.json else _words(report))
    return 0


def _url(options: Arguments) -> str | None:
    """The server's URL: of ``--url``, or of the overrides of a run's section ``database``."""
    if not options.overrides:
        return options.url
    if options.url or options.out:
        raise OperatorError("give --url, --out or overrides of `database`, as `synth run` does")
    database = database_section(options.overrides, "reseed")
    url = configured_target(database).url
    if url is None:
        raise OperatorError(
            "database: which server? set database.dsn_env_var, or database.connection.host and"
            " .database; a SQLite file is named with --out"
        )
    if driver_of(parse_url(url)) != getattr(ENGINES.load(database.engine), "driver", None):
        raise OperatorError(f"database.dsn_env_var: the URL is not one of {database.engine}")
    return url


def database_section(overrides: Sequence[str], command: str) -> DatabaseConfig:
    """The section ``database`` of a run with these overrides, which concern nothing else."""
    other = [word for word in overrides if not word.startswith(("database=", "database."))]
    if other:
        words = f"{other[0]}: {command} takes overrides of `database`, as `synth run` does"
        raise OperatorError(words)
    return compose(overrides)[0].config.database


def _words(report: ReseedReport) -> str:
    width = max(len(name) for name in report.rows) if report.rows else 0
    lines = [f"{'replaced' if report.replaced else 'created'} {report.world} in {report.where}"]
    lines += [
        f"  {name:<{width}}  {count:>7,} row{'' if count == 1 else 's'}"
        for name, count in report.rows.items()
    ]
    total = sum(report.rows.values())
    lines += [f"{len(report.rows)} tables, {total:,} rows. Open it with: {report.open_with}"]
    return "\n".join(lines) + "\n"
