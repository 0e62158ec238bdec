"""Objects that a script creates, and those it only changes: parsed from its statements, not run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from envs.scripts.lexis import Dialect, Lexis, code_only
from envs.scripts.policy import Policy
from envs.scripts.run import walk

_I = re.IGNORECASE
_PART = r"""(?:`(?:[^`]|``)+`|"(?:[^"]|"")+"|[\w$]+)"""
_NAME = rf"{_PART}(?: ?\. ?{_PART})?"
_KIND = r"(?P<kind>TABLE|(?:MATERIALIZED )?VIEW|SEQUENCE|TYPE|DOMAIN|FUNCTION|PROCEDURE|EVENT)"
_CREATE = re.compile(
    rf"CREATE (?:OR REPLACE )?(?:(?!TEMP)[\w=@`'().%]+ )*?{_KIND} (?:IF NOT EXISTS"
    rf" )?(?P<name>{_NAME})",
    _I,
)
_DROP = re.compile(rf"DROP {_KIND} (?:IF EXISTS )?(?P<names>{_NAME}(?: ?, ?{_NAME})*)", _I)
_CHANGES = (
    re.compile(rf"(?:INSERT|REPLACE) (?:\w+ )*?INTO (?P<names>{_NAME})", _I),
    re.compile(rf"UPDATE (?:ONLY |IGNORE |LOW_PRIORITY )*(?P<names>{_NAME})", _I),
    re.compile(rf"DELETE (?:\w+ )*?FROM (?:ONLY )?(?P<names>{_NAME})", _I),
    re.compile(rf"TRUNCATE (?:TABLE )?(?:ONLY )?(?P<names>{_NAME}(?: ?, ?{_NAME})*)", _I),
    re.compile(
        rf"ALTER (?:IGNORE )?(?:TABLE|VIEW) (?:IF EXISTS )?(?:ONLY )?(?P<names>{_NAME})", _I
    ),
    re.compile(rf"COPY (?P<names>(?!\(){_NAME})", _I),
    re.compile(rf"CREATE (?:\w+ )*?INDEX .*?\bON (?:ONLY )?(?P<names>{_NAME})", _I),
    re.compile(rf"CREATE (?:\w+ )*?TRIGGER .*?\bON (?P<names>{_NAME})", _I),
    re.compile(rf"RENAME TABLE (?P<names>{_NAME})", _I),
)
_QUALIFIED = re.compile(rf"({_PART})\s*\.\s*({_PART})")
_DATABASE = re.compile(
    rf"\b(?:CREATE|DROP|ALTER)\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?({_PART})", _I
)
_ROWS = re.compile(r"(?:INSERT|REPLACE)\b[^'\"]*?\bVALUES?\b", _I)
_HEAD = 2_000


@dataclass(frozen=True, slots=True)
class Touch:
    """An object that a statement creates, or that it needs to be there already. Names are folded as
    the engine does; ``schema`` is None where the statement names none.
    """

    action: Literal["create", "change"]
    kind: str
    schema: str | None
    name: str
    file: str
    line: int

    @property
    def shown(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema else self.name


def touches(path: Path, dialect: Dialect, database: str | None = None) -> list[Touch]:
    """Objects that the statements of a script and its includes create and change, in order."""
    lexis = Lexis.of(dialect)
    out: list[Touch] = []
    for file, line, text in _statements(path, dialect, database):
        code = code_only(text[:_HEAD], lexis).removeprefix("\\")
        created = _CREATE.match(code)
        if created is not None:
            out.append(
                _touch("create", created["kind"].upper(), created["name"], dialect, file, line)
            )
            continue
        for pattern in (_DROP, *_CHANGES):
            found = pattern.match(code)
            if found is not None:
                kind = found["kind"].upper() if pattern is _DROP else "TABLE"
                out += [
                    _touch("change", kind, name, dialect, file, line)
                    for name in re.findall(_NAME, found["names"])
                ]
                break
    return out


def qualified_names(path: Path, dialect: Dialect, database: str) -> set[tuple[str, str]]:
    """Every ``a.b`` in a script, in lower case: names of tables, columns and what only looks like
    it. A database that is created or dropped comes as ``(a, "")``.

    Literals count, since a statement may be put together of them; the rows of an INSERT do not.
    """
    out: set[tuple[str, str]] = set()
    for _, _, text in _statements(path, dialect, database):
        rows = _ROWS.match(text)
        statement = text if rows is None else rows.group()
        out |= {
            (_folded(first, dialect).lower(), _folded(second, dialect).lower())
            for first, second in _QUALIFIED.findall(statement)
        }
        out |= {(_folded(name, dialect).lower(), "") for name in _DATABASE.findall(statement)}
    return out


def _statements(
    path: Path, dialect: Dialect, database: str | None
) -> Iterator[tuple[Path, int, str]]:
    """File, line and text of each statement that would run."""
    for file, statement, verdict in walk(path, Policy(dialect, database)):
        if verdict.action in {"run", "copy"}:
            yield file, statement.line, verdict.text


def _touch(
    action: Literal["create", "change"],
    kind: str,
    name: str,
    dialect: Dialect,
    path: Path,
    line: int,
) -> Touch:
    parts = [_folded(part, dialect) for part in re.findall(_PART, name)]
    return Touch(action, kind, parts[0] if len(parts) > 1 else None, parts[-1], str(path), line)


def _folded(part: str, dialect: Dialect) -> str:
    if part[0] in {'"', "`"}:
        return part[1:-1].replace(part[0] * 2, part[0])
    return part.lower() if dialect == "postgresql" else part
