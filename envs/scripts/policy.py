"""Rules for the statements of a script: run, leave out or refuse.

A dump is written for a server of its own. Loaded into one database, some of it is harmless to leave
out (its own CREATE DATABASE and USE, owners, grants, the client's display settings), and some is
refused by name (another database, files of the server, shell commands). Everything else runs as it
is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from envs.errors import ScriptError
from envs.plugins import resolve
from envs.scripts.lexis import Dialect, Lexis, Statement, code_only, rewrite_code

_I = re.IGNORECASE
_NAME = r"""(?:`(?:[^`]|``)+`|"(?:[^"]|"")+"|[\w$]+)"""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), _I)


_SKIPPED: dict[Dialect, re.Pattern[str]] = {
    "sqlite": _any(
        r"(?:CREATE|DROP) TABLE (?:IF (?:NOT )?EXISTS )?[\"'`\[]?sqlite_sequence\b",
        r"VACUUM$",
        r"VACUUM (?!.*\bINTO\b)",
        r"PRAGMA (?:\w+\.)?(?:journal_mode|locking_mode|synchronous|wal_|mmap)",
    ),
    "postgresql": _any(
        r"(?:GRANT|REVOKE)\b",
        r"(?:CREATE|ALTER|DROP) (?:ROLE|GROUP|USER(?! MAPPING))\b",
        r"ALTER (?:DEFAULT PRIVILEGES|DATABASE)\b",
        r"ALTER \w+.* OWNER TO ",
        r"(?:REASSIGN|DROP) OWNED\b",
        r"(?:SET|RESET) (?:SESSION |LOCAL )?(?:ROLE|AUTHORIZATION|SESSION AUTHORIZATION)\b",
        r"SET (?:SESSION |LOCAL"
        r" )?(?:client_encoding|NAMES|\w+_timeout|log_\w+|track_\w+|temp_file_limit|lc_messages"
        r"|\w+_preload_libraries)\b",
        r"COMMENT ON (?:DATABASE|EXTENSION|ROLE|TABLESPACE|(?:PROCEDURAL )?LANGUAGE|SCHEMA"
        r" \"?public\"? )",
        r"CREATE (?:OR REPLACE )?(?:TRUSTED )?(?:PROCEDURAL )?LANGUAGE '?\"?plpgsql\b",
        r"DROP SCHEMA (?:IF EXISTS )?\"?public\"?(?: |$)",
        r"VACUUM\b",
        r"ANALY[ZS]E(?: VERBOSE)?$",  # of the whole database
        r"(?:SECURITY LABEL|CHECKPOINT)\b",
        # what watches the server or the schema, and is a superuser's to make: no row depends on it
        r"(?:CREATE|ALTER|DROP|COMMENT ON) EVENT TRIGGER\b",
        r"CREATE EXTENSION (?:IF NOT EXISTS"
        r" )?\"?(?:pg_stat_statements|pg_buffercache|pgstattuple|pg_cron|pgaudit|adminpack"
        r"|pageinspect|pg_prewarm|pg_freespacemap|pg_visibility|pg_walinspect|pg_surgery"
        r"|pgrowlocks|amcheck|sslinfo)\b",
        r"(?:CREATE|ALTER|DROP|COMMENT ON) PUBLICATION\b",
        r"UPDATE (?:pg_catalog ?\. ?)?pg_database\b",
        r"COPY\b.* TO STDOUT\b",
    ),
    "mysql": _any(
        r"(?:GRANT|REVOKE|FLUSH|RESET)\b",
        r"(?:CREATE|ALTER|DROP|RENAME) (?:OR REPLACE )?(?:USER|ROLE)\b",
        r"SET (?:PASSWORD|(?:DEFAULT )?ROLE)\b",
        r"SET (?:GLOBAL|PERSIST|PERSIST_ONLY)\b",
        r"SET @@(?:GLOBAL|PERSIST)\.",
        r"SET (?:@@)?(?:SESSION[ .])?SQL_LOG_BIN\b",
        r"ALTER (?:DATABASE|SCHEMA)\b",
        # the text is decoded already: the server must not decode it again
        r"SET (?:NAMES|CHARACTER SET|CHARSET|character_set_client ?=) ?(?!'?@|utf8|'')",
    ),
}
_REFUSED: dict[Dialect, dict[str, re.Pattern[str]]] = {
    "sqlite": {
        "a script may not open another database file": _any(r"(?:ATTACH|DETACH)\b"),
        "a script may not write another file": _any(r"VACUUM .*\bINTO\b"),
        "extensions are not loaded from scripts": _any(r"SELECT load_extension\b"),
    },
    "postgresql": {
        "a script may not read or write files of the server; use COPY ... FROM stdin": _any(
            r"COPY (?:[^(]|\([^)]*\))*? (?:FROM|TO) (?:''|PROGRAM\b)"
        ),
        "a script may not reach beyond its database": _any(
            r"CREATE (?:TABLESPACE|SERVER|USER MAPPING|SUBSCRIPTION)\b",
            r"(?:DROP|ALTER) TABLESPACE\b",
            r"ALTER SYSTEM\b",
            r"CREATE EXTENSION (?:IF NOT EXISTS )?\"?(?:dblink|postgres_fdw|file_fdw|pl\w+u)\b",
        ),
        "a script is loaded as a whole and cannot be rolled back in parts": _any(
            r"PREPARE TRANSACTION\b"
        ),
    },
    "mysql": {
        "a script may not read or write files of the server": _any(
            r"LOAD (?:DATA|XML)\b", r"SELECT .* INTO (?:OUT|DUMP)FILE\b"
        ),
        "a script may not change the server": _any(
            r"(?:INSTALL|UNINSTALL|SHUTDOWN|KILL|PURGE)\b",
            r"(?:CHANGE|START|STOP) (?:MASTER|REPLICA|SLAVE)\b",
        ),
    },
}
_DATABASE: dict[Dialect, re.Pattern[str]] = {
    "postgresql": re.compile(rf"(?:CREATE|DROP) DATABASE (?:IF (?:NOT )?EXISTS )?({_NAME})", _I),
    "mysql": re.compile(
        rf"(?:CREATE (?:OR REPLACE )?|DROP )(?:DATABASE|SCHEMA) (?:IF (?:NOT )?EXISTS )?({_NAME})",
        _I,
    ),
}
_TARGET = re.compile(
    r"(?:INSERT|REPLACE|UPDATE|DELETE|TRUNCATE|ALTER|DROP|CREATE|LOCK|RENAME)\b(?:(?!"
    r" SELECT\b)[^(,.])*?"
    rf" ({_NAME}) ?\. ?{_NAME}",
    _I,
)
_ALL_TARGETS = re.compile(
    r"(?:DROP (?:TEMPORARY )?(?:TABLE|VIEW|SEQUENCE)|RENAME TABLE|ALTER TABLE .*\bRENAME)\b", _I
)
_QUALIFIER = re.compile(rf"({_NAME}) ?\. ?{_NAME}")
_SYSTEM = frozenset({
    "mysql", "information_schema", "performance_schema", "sys", "postgres", "template0",
    "template1",
})  # fmt: skip
_DEFINER = re.compile(
    rf"\bDEFINER\s*=\s*(?:CURRENT_USER(?:\s*\(\s*\))?|''|{_NAME}(?:\s*@\s*(?:''|{_NAME}))?)", _I
)
_DEFINER_QUOTED = re.compile(r"\bDEFINER\s*=\s*'[^']*'\s*@\s*'[^']*'", _I)
_BEGIN = re.compile(r"(?:BEGIN(?! NOT ATOMIC)|START TRANSACTION)\b", _I)
_COMMIT = re.compile(r"(?:COMMIT|END)\b", _I)
_ROLLBACK = re.compile(r"(?:ROLLBACK(?! .*\bTO\b)|ABORT)\b", _I)
_VALUES = re.compile(r"(?:INSERT|REPLACE)\b[^'\"]*?\bVALUES?\b", _I)
_WITHOUT_TRIGGERS = re.compile(
    r"ALTER TABLE .*?\b(?P<verb>DISABLE|ENABLE) TRIGGER ALL\b"
    r"|SET (?:SESSION )?session_replication_role\b",
    _I,
)
_REPLICA = re.compile(r"\bsession_replication_role\s*(?:=|TO\b)\s*'?replica\b", _I)
_AS_REPLICA = """DO $envs_script$ BEGIN
  EXECUTE {statement};
EXCEPTION WHEN insufficient_privilege THEN
  IF to_regprocedure('envs_load.replica(text)') IS NULL THEN RAISE; END IF;
  PERFORM envs_load.replica('{role}');
END $envs_script$"""
"""Rows in any order, as dumps of data alone load them, are a superuser's right. Where a sandbox's
template is loaded by somebody less, a function stands ready that does this and nothing else
(:mod:`envs.sandboxes.postgres.template_objects`).
"""
_EXTENSION = re.compile(
    rf"CREATE EXTENSION (?:IF NOT EXISTS )?(?P<name>{_NAME})(?: WITH)?(?: SCHEMA"
    rf" (?P<place>{_NAME}))?(?: |$)",
    _I,
)
_WITH_EXTENSION = """DO $envs_script$ BEGIN
  EXECUTE {statement};
EXCEPTION WHEN insufficient_privilege THEN
  IF to_regprocedure('envs_load.extension(text, text)') IS NULL THEN RAISE; END IF;
  PERFORM envs_load.extension({name}, {place});
END $envs_script$"""
"""Likewise for some extensions, which only a superuser may make."""
_HEAD = 2_000
"""Characters of a long statement that are looked at: an INSERT of megabytes shows it at once."""

_PSQL_SILENT = _any(
    r"\\(?:restrict|unrestrict|echo|qecho|warn|timing|pset|encoding|x|t|a|f|H|h|\?|l|d\w*|sf|sv|z"
    r"|o|prompt|conninfo|errverbose|C|T|gx|crosstabview|setenv)\b",
    r"\\copy\b.* to\b",
    r"\\(?:un)?set (?-i:[A-Z][A-Z_0-9]*)\b",
)
_SQLITE_SILENT = _any(
    r"\.(?:headers?|mode|echo|bail|timer|print|width|nullvalue|separator|changes|stats|eqp|explain"
    r"|prompt|tables?|schema|"
    r"show|help|log"
    r" off|indexes|indices|databases|timeout|once|output|dbconfig|dbinfo|limit|version|fullschema"
    r"|lint|auth|trace"
    r"|progress|scanstats|parameter (?:init|list|clear))\b"
)
_MYSQL_SILENT = _any(
    r"(?:tee|notee|pager|nopager|prompt|rehash|status|warnings|nowarning|charset)\b",
    r"\\[tTnPRsWwC#?hpc-]",
)
_QUIT = _any(r"(?:exit|quit)\b", r"\\q\b", r"\.(?:quit|exit)\b")
_INCLUDE = _any(r"(?:source\s+|\\\.\s*|\\ir?\s+|\\include(?:_relative)?\s+|\.read\s+)(?P<file>.+)")
_MAKES_DATABASE = re.compile(r"SELECT\s+'CREATE DATABASE\b", _I)
"""A query whose result psql runs by ``\\gexec``: no statement makes a database if it is missing."""
_CLIENTS: dict[Dialect, tuple[str, str]] = {
    "sqlite": ("sqlite3", "sqlite3 FILE .dump"),
    "postgresql": ("psql", "pg_dump --no-owner DATABASE"),
    "mysql": ("mysql", "mysqldump --routines DATABASE"),
}
"""Each dialect's client, and the command that writes a database as a script."""
_COPY_PROGRAM = re.compile(r"\\copy\b.*\bfrom\s+program\b", _I)
_OPEN = re.compile(r"\.open\b(?:\s+--?\w+)*(?P<rest>.*)")
_CONNECT = re.compile(r"(?:\\c(?:onnect)?\b|(?i:connect|use)\b|\\u\b)(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class StatementAction:
    r"""Action for a statement; ``text``: what to run, the file to include or the ``\copy`` line."""

    action: Literal["run", "skip", "begin", "commit", "rollback", "include", "copy", "quit"]
    text: str = ""
    relative: bool = False
    """Whether included files are looked for beside the including file, not the script's folder."""


class Policy:
    """Judges one script's statements in order. ``own`` is the database it takes for its own."""

    def __init__(self, dialect: Dialect, current: str | None = None) -> None:
        self.dialect: Dialect = dialect
        self.current = current
        self.own: str | None = None
        # whether anything has been put into the database that is taken for the script's own
        self._filled = False
        self._lexis = Lexis.of(dialect)
        self._makes_database = False

    def judge(self, statement: Statement) -> StatementAction:
        """ScriptError (without a file) for what is refused by name."""
        if statement.kind == "command":
            return self._command(statement)
        self._makes_database = _MAKES_DATABASE.match(statement.text) is not None
        if statement.kind == "copy":
            return StatementAction("run", statement.text)
        code = code_only(statement.text[:_HEAD], self._lexis)
        if _SKIPPED[self.dialect].match(code):
            return StatementAction("skip")
        for reason, pattern in _REFUSED[self.dialect].items():
            if pattern.match(code):
                raise ScriptError(f"{reason}: {code[:60]}", None, statement.line)
        if self.dialect in _DATABASE:
            database = _DATABASE[self.dialect].match(code)
            if database is not None:
                if self.own is None and code[:4].upper() != "DROP":
                    self._adopt(_bare(database.group(1)), statement)
                    self._filled = False
                return StatementAction("skip")
        if _BEGIN.match(code):
            return StatementAction("begin", statement.text)
        if _COMMIT.match(code):
            return StatementAction("commit", statement.text)
        if _ROLLBACK.match(code):
            return StatementAction("rollback", statement.text)
        return StatementAction("run", self._rewritten(statement, code))

    def _rewritten(self, statement: Statement, code: str) -> str:
        if self.dialect == "postgresql" and (found := _WITHOUT_TRIGGERS.match(code)) is not None:
            off = (
                _REPLICA.search(statement.text) is not None
                or (found["verb"] or "").upper() == "DISABLE"
            )
            role = "replica" if off else "origin"
            return _AS_REPLICA.format(statement=_literal(statement.text), role=role)
        if self.dialect == "postgresql" and (found := _EXTENSION.match(code)) is not None:
            place = (
                "current_schema()" if found["place"] is None else _literal(_bare(found["place"]))
            )
            return _WITH_EXTENSION.format(
                statement=_literal(statement.text), name=_literal(_bare(found["name"])), place=place
            )
        if self.dialect == "postgresql":
            without_roles = resolve("envs.scripts.roles:without_roles")
            return without_roles(statement.text, self._lexis)
        if self.dialect != "mysql":
            return statement.text
        text = statement.text
        if "DEFINER" in code.upper():
            text = rewrite_code(
                _DEFINER_QUOTED.sub("", text), self._lexis, lambda run: _DEFINER.sub("", run)
            )
        self._filled = self._filled or code[:4].upper() not in {"SET ", "SELE"}
        if self.own is not None:
            text = self._without_own_name(text)
        self._refuse_other_database(code, statement)
        return text

    def _without_own_name(self, text: str) -> str:
        """``northwind`.`customers`` means the table, whatever the database it is loaded into is
        called.

        A table may bear the database's name (employees.employees): a qualified column of it is told
        from a table by the word before it.
        """
        values = _VALUES.match(text)  # the rows of an INSERT name no table, and may be megabytes
        if values is not None:
            return self._strip(values.group()) + text[values.end() :]
        return self._strip(text)

    def _strip(self, text: str) -> str:
        name = re.escape(self.own or "")
        if self.own is None or self.own.lower() not in text.lower():
            return text
        three_parts = rf"(?<![\w$.`])(?:`{name}`|{name})\s*\.\s*(?={_NAME}\s*\.)"
        after_word = (
            r"(?P<before>\b(?:FROM|JOIN|INTO|TABLE|EXISTS|REFERENCES|UPDATE|VIEW|TRIGGER|PROCEDURE"
            r"|FUNCTION|EVENT|TABLES|ON|CALL"
            rf"|IGNORE|TRUNCATE|LIKE|,)\s*)(?:`{name}`|(?<![\w$]){name})\s*\.\s*(?=`|\w)"
        )
        table_too = re.search(
            rf"\b(?:TABLE|FROM|JOIN|INTO)\s+(?:IF\s+NOT\s+EXISTS\s+)?`?{name}`?(?!\s*\.|[\w`])",
            text,
            _I,
        )
        plain = rf"(?<![\w$.`])(?:`{name}`|{name})\s*\.\s*(?=`|\w)"

        def change(run: str) -> str:
            run = re.sub(three_parts, "", run, flags=_I)
            if table_too:
                return re.sub(after_word, lambda found: found.group("before"), run, flags=_I)
            return re.sub(plain, "", run, flags=_I)

        return rewrite_code(text, self._lexis, change)

    def _refuse_other_database(self, code: str, statement: Statement) -> None:
        if self.current is None:
            return
        target = _TARGET.match(code)
        names = [] if target is None or _CLAUSE.search(target.group()) else [target.group(1)]
        if _ALL_TARGETS.match(code):
            names += _QUALIFIER.findall(code)
        for name in map(_bare, names):
            if name.lower() not in {
                self.current.lower(),
                (self.own or self.current).lower(),
                "new",
                "old",
            }:
                raise ScriptError(
                    f"a script may not change another database ({name})", None, statement.line
                )

    def _command(self, statement: Statement) -> StatementAction:
        words = statement.text
        silent = {"sqlite": _SQLITE_SILENT, "postgresql": _PSQL_SILENT, "mysql": _MYSQL_SILENT}[
            self.dialect
        ]
        if _QUIT.match(words):
            return StatementAction("quit")
        include = _INCLUDE.match(words)
        if include is not None and not (self.dialect == "postgresql" and words.startswith("\\.")):
            name = include.group("file").strip(" \t;'\"")
            return StatementAction(
                "include", name, words.startswith(("\\ir", "\\include_relative"))
            )
        if silent.match(words) or (words == "\\gexec" and self._makes_database):
            return StatementAction("skip")
        if _COPY_PROGRAM.match(words):
            raise ScriptError(f"a script may not run a program: {words[:60]}", None, statement.line)
        if words.lower().startswith("\\copy"):
            return StatementAction("copy", words)
        connect = (_OPEN if self.dialect == "sqlite" else _CONNECT).match(words)
        if connect is not None:
            self._adopt(_database_of(connect.group("rest")), statement)
            return StatementAction("skip")
        if self.dialect == "postgresql" and re.match(r"\\(?:g|p|r)?(?:\s|$)", words):
            return StatementAction("skip")  # \g only ends the query before it
        word = words.split(maxsplit=1)[0]
        client, dump = _CLIENTS[self.dialect]
        raise ScriptError(
            f"{word} is a command of {client}, which runs programs: run this script there, and load"
            f" what `{dump}` writes",
            None,
            statement.line,
        )

    def _adopt(self, name: str, statement: Statement) -> None:
        """Take a name for the script's own database, which stands for the one that is loaded."""
        if not name or name == "-" or (self.dialect == "postgresql" and name.lower() in _SYSTEM):
            return
        if name.lower() in _SYSTEM:
            raise ScriptError(
                f"a script may not use the server's own database {name}", None, statement.line
            )
        if self.own is None or (not self._filled and self.dialect == "mysql"):
            self.own = name
        elif self.own.lower() != name.lower():
            raise ScriptError(
                f"a script may fill one database, and this one names two: {self.own} and {name}",
                None,
                statement.line,
            )


_CLAUSE = re.compile(
    r"\b(?:JOIN|USING|LIKE|SET|WHERE|VALUES?|ON"
    r" (?:DUPLICATE|UPDATE|DELETE)|AS|BEGIN|SELECT|CALL|EXECUTE)\b",
    _I,
)


def _bare(name: str) -> str:
    return name[1:-1] if name[:1] in {'"', "`", "'"} else name


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _database_of(rest: str) -> str:
    r"""The database of a ``\\connect`` or USE: a name, or a connection string that has dbname=."""
    named = re.search(r"dbname\s*=\s*'?([^'\"\s]+)", rest)
    if named is not None:
        return named.group(1)
    words = [word for word in rest.replace(";", " ").split() if not word.startswith("-reuse")]
    return _bare(words[0]) if words else ""
