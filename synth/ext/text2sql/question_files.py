"""Files of questions in the layouts in which they are published, read into one form.

A field is known by the end of its name: `SQL`, `gold_sql` and `query` hold the query, `question`,
`utterance` and `nl` the question, `db_id`, `database` and `db_name` the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypedDict, TypeGuard, cast

from synth.core.foundation.entry_files import SEPARATED, raw_entries
from synth.core.tasks.yaml.words import DIFFICULTIES
from synth.errors import OperatorError

QUESTION_FILES = (
    "mini_dev_sqlite.json",
    "mini_dev.json",
    "dev.json",
    "train.json",
    "test.json",
    "questions.json",
)
"""Files that a folder means when it holds several, the first first."""

FORMS = (".json", ".jsonl", *SEPARATED)
"""The suffixes of files of questions."""

ENDINGS: Mapping[str, Sequence[str]] = {
    "sql": ("sql", "query", "answer"),
    "question": ("question", "utterance", "query", "prompt", "instruction", "text", "nl"),
    "db_id": ("db_id", "db", "db_name", "database", "database_id", "database_name"),
    "evidence": ("evidence", "hint", "knowledge", "instructions"),
}
"""The ends of the names of each part's field, the most telling first."""

IDS = ("question_id", "instance_id", "task_id", "query_id", "id")

FORM = (
    "an entry has `question`, `SQL` and `db_id`, or the like; `tasks.options.fields` names other"
    " fields, as in '+tasks.options.fields.question=QUERY_TEXT' (docs/guides/worlds/questions.md)"
)

MOST = 8
"""Reasons and files that a message names."""

_READS = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values)\b\s*\S", re.IGNORECASE | re.DOTALL
)
_WRITES = re.compile(
    r"\s*(?:insert\s+into|update\s+\S+\s+set|delete\s+from|replace\s+into|truncate"
    r"|(?:create|alter|drop)\s+(?:or\s|temp|table|view|index|trigger|unique|function))",
    re.IGNORECASE,
)

_NEXT = re.compile(r";\s*(?=(?:select|with)\b)", re.IGNORECASE)
"""The end of a query that another one follows."""

_DATABASE = re.compile(r"\w[\w .&'()-]{0,63}")
_DATABASE_IS = "must begin with a letter or digit, and have at most 64 of these, spaces, _.&'()-"

LeftOut = tuple[str, str]
"""The name of a part of the source, and the reason for which it is left out or changed."""


class PublishedQuestion(TypedDict):
    """One question of a questions.json. ``same`` are further queries for it, which have to give
    the same answer.
    """

    question_id: str
    db_id: str
    question: str
    evidence: str
    sql: str
    same: list[str]
    difficulty: str | None


@dataclass(frozen=True)
class _ReadQuestions:
    """The questions of a file in one form, and those that are left out or changed, with the
    reason.
    """

    questions: list[PublishedQuestion] = field(default_factory=list[PublishedQuestion])
    left_out: list[LeftOut] = field(default_factory=list["LeftOut"])
    changed: list[LeftOut] = field(default_factory=list["LeftOut"])


class _NoQuestion(ValueError):
    """An entry that is not a question. The text says why."""


def questions_file(path: Path) -> Path:
    """The file of questions at a path, which may be their folder, or the folder above.

    Raises :class:`OperatorError` if there is none, or several with equal right.
    """
    if path.is_file():
        return path
    if not path.is_dir():
        raise OperatorError(f"tasks.path: not found: {path}")
    places: list[Path] = []
    for home in ("", "*/"):
        there = [one for form in FORMS for one in sorted(path.glob(f"{home}*{form}"))]
        found = _best(there)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(str(one.relative_to(path)) for one in found[:MOST])
            raise OperatorError(f"tasks.path: {path} holds several files; name one: {names}")
        places += there
    if places:
        return places[0]  # to be told why it holds none
    raise OperatorError(
        f"tasks.path: {path} holds no file of questions, such as"
        f" {', '.join(QUESTION_FILES[:3])}; {FORM}"
    )


def _best(files: Sequence[Path]) -> list[Path]:
    """The files with the best known name of each folder, or else all that hold questions."""
    known = {one.parent: one for name in QUESTION_FILES[::-1] for one in files if one.name == name}
    return [*known.values()] or [one for one in files if _holds_questions(one)]


def _holds_questions(file: Path) -> bool:
    try:
        return bool(read_questions(file, "any").questions)
    except OperatorError as error:
        return "may each be its" in str(error)


def read_questions(
    file: Path, database: str | None = None, named: Mapping[str, str] = MappingProxyType({})
) -> _ReadQuestions:
    """Read a file of questions. Those without an id take their place in the file, from 1 on.
    ``database`` is the ``db_id`` of those that name none, ``named`` are the fields of parts.

    Raises :class:`OperatorError` for a file that holds no list, or no question that can be read.
    """
    if unknown := set(named) - set(ENDINGS):
        raise OperatorError(
            f"tasks.options.fields: {min(unknown)!r} is none of {', '.join(ENDINGS)}"
        )
    out, seen = _ReadQuestions(), set[tuple[str, str]]()
    entry: dict[str, Any] = {}
    for index, (_, item) in enumerate(raw_entries(file, "tasks.path", FORM, lenient=True), 1):
        entry = item if _is_entry(item) else {}
        own = _own_id(entry)
        for name, part in _parts(entry, own or str(index), named):
            number = _printable(name)
            try:
                asked = _question(part, number, database, named, _script(file, own))
            except _NoQuestion as error:
                out.left_out.append((number, str(error)))
                continue
            while (asked["db_id"], asked["question_id"]) in seen:
                asked["question_id"] += f"-{index}"
            seen.add((asked["db_id"], asked["question_id"]))
            if (odd := asked["difficulty"]) not in (None, *DIFFICULTIES):
                about = f"{asked['db_id']} {asked['question_id']}"
                why = f"{odd!r:.40}, which is none of {', '.join(DIFFICULTIES)}"
                out.changed.append((about, f"asked without its difficulty {why}"))
                asked["difficulty"] = None
            out.questions.append(asked)
    if not out.questions:
        reasons = list(dict.fromkeys(reason for _, reason in out.left_out))[:MOST]
        why = "; ".join(reasons) or "it is empty"
        has = f" (its fields: {', '.join(entry)})" if entry else ""
        raise OperatorError(f"{file}: no question can be read: {why}{has}; {FORM}")
    return out


def _own_id(entry: Mapping[str, Any]) -> str | None:
    ids = {_plain(key): entry[key] for key in entry if isinstance(entry[key], (str, int))}
    return next((str(ids[name]) for name in IDS if ids.get(name, "") != ""), None)


def _is_entry(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and value != {}


def _plain(key: str) -> str:
    """The words of a field's name: `SpiderSynQuestion` is spider_syn_question."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\W+", "_", key).lower()


def _fields(entry: Mapping[str, Any], named: Mapping[str, str]) -> dict[str, list[str]]:
    """The fields of each part: none, the one, or several between which nothing decides."""
    out: dict[str, list[str]] = {}
    for part in ENDINGS:
        names = {key: _plain(key) for key in entry if key not in out.get("sql", ())}
        fitting = {key: name for key, name in names.items() if _fits(part, name, entry[key])}
        if part in named:
            out[part] = [key for key in fitting if key == named[part]]
            continue
        empty = {name for key, name in names.items() if part == "sql" and entry[key] in ("", None)}
        out[part] = _telling(ENDINGS[part], fitting, empty)
    return out


def _telling(
    endings: Sequence[str], names: Mapping[str, str], empty: AbstractSet[str]
) -> list[str]:
    """The fields with the most telling end. No other stands in for one that is left ``empty``."""
    for ending in endings:
        keys = [key for key, name in names.items() if f"_{name}".endswith(f"_{ending}")]
        if keys or ending in empty:
            return [] if ending in empty else [k for k in keys if names[k] == ending] or keys
    return []


def _fits(part: str, name: str, value: Any) -> bool:
    if part == "sql":
        return bool(_queries(value))
    if part == "evidence":
        return bool(value)
    text = isinstance(value, str) and bool(value.strip())
    return text and not (part == "question" and name.endswith("query") and _READS.match(value))


def _queries(value: Any) -> list[str]:
    """The queries that a field holds: a text, or a list of them."""
    listed = cast("list[Any]", value if isinstance(value, list) else [value])
    texts = [
        text for one in listed if isinstance(one, str) for text in _NEXT.split(one.strip(" ;\n"))
    ]
    fine = [text.strip() for text in texts if _READS.match(text) or _WRITES.match(text)]
    return list(dict.fromkeys(fine)) if len(fine) >= len(listed) else []


def _parts(
    entry: dict[str, Any], number: str, named: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions of an entry, each with its name: the entry itself, and objects in it.

    Objects with a query of their own are turns: they go on from the entry, or from the first in
    their list. Those without one ask for the entry's query in other words, with other values.
    """
    found = _fields(entry, named)
    alone, count = bool(found["sql"] and found["question"]), 0
    for key, value in entry.items():
        listed = cast("list[Any]", value if isinstance(value, list) else [value])
        for at, item in enumerate(listed, 1):
            inner = _fields(item, named) if _is_entry(item) else {}
            if not inner.get("question") or not (inner["sql"] or (found["sql"] and not alone)):
                continue
            count += 1
            late = bool(inner["sql"]) and (alone or at > 1)
            name = f"{number}-{key}-{at}" if isinstance(value, list) else f"{number}-{key}"
            yield name, {**entry, **item, _LATE: late, _VALUES: entry.get("variables")}
    if alone or not count:
        yield number, entry


_LATE, _VALUES = ".late", ".values"
"""What a question in an entry has beside its fields: it goes on from another; its variables."""


def _script(file: Path, number: str | None) -> str | None:
    """The query that a folder `gold` keeps for a question, in a file of its own."""
    places = [*file.parent.glob("gold/**/*.sql"), *file.parent.glob("*/gold/**/*.sql")]
    found = [place for place in places if place.stem == number]
    text = found[0].read_text("utf-8", "replace") if len(found) == 1 else ""
    return text if _queries(text) else None


def _question(
    entry: Mapping[str, Any],
    number: str,
    database: str | None,
    named: Mapping[str, str],
    script: str | None,
) -> PublishedQuestion:
    """The question of an entry. Raises :class:`_NoQuestion`."""
    if not entry:
        raise _NoQuestion("it is not an object")
    if entry.get(_LATE):
        raise _NoQuestion("it goes on from another question of its entry")
    found = _fields(entry, named)
    given = {"sql": script, "db_id": database}
    if reason := _unclear(entry, found, {part for part in given if given[part]}):
        raise _NoQuestion(reason)
    held: dict[str, Any] = {
        part: entry[keys[0]] if keys else given.get(part) for part, keys in found.items()
    }
    queries = _queries(held["sql"])
    texts = {
        "question": held["question"].strip(),
        "db_id": held["db_id"],
        "evidence": _evidence(entry, found["evidence"]),
        "sql": "\n".join(queries),
    }
    for part, text in texts.items():
        if _printable(text) != text:
            raise _NoQuestion(f"its {part} is not valid UTF-8")
    if _DATABASE.fullmatch(texts["db_id"]) is None:
        raise _NoQuestion(f"its db_id {texts['db_id']!r:.60} {_DATABASE_IS}")
    values = _values(entry)
    asked, sql, *same = [_filled(text, values) for text in (texts["question"], *queries)]
    return {
        "question_id": number,
        "db_id": texts["db_id"],
        "question": asked,
        "evidence": texts["evidence"],
        "sql": sql,
        "same": same,
        "difficulty": entry.get("difficulty"),
    }


def _unclear(
    entry: Mapping[str, Any], found: Mapping[str, Sequence[str]], given: AbstractSet[str]
) -> str | None:
    """The reason for which the question, the query or the database of an entry is not known."""
    writers = [key for key in found["sql"] if _WRITES.match(_queries(entry[key])[0])]
    if writers and len(found["sql"]) > 1:
        return f"{writers[0]} changes the database first"
    for part, words in {"db_id": "db_id", "question": "question", "sql": "SQL or query"}.items():
        if len(found[part]) > 1:
            fields = " and ".join(found[part])
            return f"{fields} may each be its {part}; tasks.options.fields says which"
        if not found[part] and part not in given:
            odd = _unread(entry, found["question"]) if part == "sql" else None
            return f"its {odd} is not a query in SQL" if odd else f"it has no {words}"
    return None


def _unread(entry: Mapping[str, Any], question: Sequence[str]) -> str | None:
    """The field that should hold a query and holds something else."""
    held = [key for key in entry if _plain(key) in ("sql", "query") and key not in question]
    return next((key for key in held if entry[key]), None)


def _evidence(entry: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The texts that help with a question. Raises :class:`_NoQuestion` if they are elsewhere."""
    out: list[str] = []
    for key in keys:
        value = entry[key]
        listed = cast("list[Any]", value if isinstance(value, list) else [value])
        out += [one.strip() for one in listed if isinstance(one, str)]
        if len(out) < len(listed) or any(re.fullmatch(r"\S+\.\w{2,4}", one) for one in out):
            raise _NoQuestion(f"its {key} {value!r:.60} is kept elsewhere")
    return "\n".join(out)


def _values(entry: Mapping[str, Any]) -> dict[str, str]:
    """The values of an entry's variables: its own, or else the example of each."""
    listed = cast("list[Any]", entry.get(_VALUES) or [])
    known = [one for one in listed if _is_entry(one) and {"name", "example"} <= one.keys()]
    out = {one["name"]: one["example"] for one in known}
    own = entry.get("variables")
    return out | own if isinstance(own, dict) else {}


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name in sorted(values, key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(name)}\b", lambda _, name=name: str(values[name]), text)
    return text


def _printable(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")
