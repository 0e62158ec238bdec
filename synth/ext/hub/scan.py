"""The scan of what would be published: secrets, and personal data that is not the world's.

Secrets are found by detect-secrets' detectors of known formats, by the values of this machine's
own key variables, and by the prefixes of providers. Its detectors of entropy and of words like
"password" are left out: ids and texts of a dataset would drown what is real.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml
from detect_secrets import settings

from envs.quoting import quoted
from synth.core.dataset.reader import Dataset
from synth.core.dataset.texts import stored_texts
from synth.core.foundation.credentials import known_secrets, looks_secret
from synth.core.foundation.json_leaves import named_values, parsed
from synth.core.foundation.scrubber import Scrubber
from synth.core.personal.formats import personal_values
from synth.ext.hub.facts import RunFacts

DETECTORS = (
    *("AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "BasicAuthDetector"),
    *("CloudantDetector", "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector"),
    *("IbmCloudIamDetector", "IbmCosHmacDetector", "JwtTokenDetector", "MailchimpDetector"),
    *("NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector"),
    *("SendGridDetector", "SlackDetector", "SoftlayerDetector", "SquareOAuthDetector"),
    *("StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
)


@dataclass(frozen=True, slots=True)
class _ScanFinding:
    """A kind of finding in one place; the value itself is never shown."""

    kind: str
    place: str
    personal: bool = False


def scan(facts: RunFacts) -> list[_ScanFinding]:
    """Every finding in rows, tasks, config, errors and the world's files, each once."""
    found: dict[_ScanFinding, None] = {}
    own = Scrubber(known_secrets())
    with settings.transient_settings({"plugins_used": [{"name": name} for name in DETECTORS]}):
        detectors: list[Any] = list(cast("Any", settings).get_plugins())
        seen: set[int] = set()
        for place, text in _texts(facts):
            if hash(text) in seen:  # system prompts and tool lists repeat
                continue
            seen.add(hash(text))
            for kind in _secrets(text, detectors, own):
                found[_ScanFinding(kind, place)] = None
    for kind, place in _undeclared_in(facts):
        found[_ScanFinding(kind, place, personal=True)] = None
    return list(found)


def _secrets(text: str, detectors: Iterable[Any], own: Scrubber) -> Iterator[str]:
    if own.in_bytes(text.encode("utf-8", "surrogatepass")):
        yield "the value of a key variable of this machine"
    elif looks_secret(text):
        yield "what looks like a provider's key"
    for detector in detectors:
        if any(detector.analyze_string(text)):
            yield str(detector.secret_type)


def _texts(facts: RunFacts) -> Iterator[tuple[str, str]]:
    """Every text that would be published, with its place. JSON columns are texts as they are."""
    for name in ("config.yaml", "manifest.json"):
        yield name, (facts.directory / name).read_text("utf-8", "replace")
    for name, text in facts.world_text.items():
        yield f"world/{name}", text
    for file in sorted(
        [*facts.directory.glob("data/*.parquet"), *facts.directory.glob("*.parquet")]
    ):
        place = file.relative_to(facts.directory).as_posix()
        for column, text in stored_texts(file):
            yield f"{place}, column {column}", text


Finding = tuple[str, str]
"""A kind of finding, and its place."""


def _undeclared_in(facts: RunFacts) -> Iterator[Finding]:
    """Personal data of columns that world.yaml does not declare, in the seed and in the rows, and
    personal data that an agent or a user said and nobody gave them.
    """
    columns = _declared_columns(facts.world_text.get("world.yaml", ""))
    declared = _values_of(columns, facts.world_text)
    place = "world/seed.sql, " + (
        "in a column that world.yaml does not declare as personal"
        if columns
        else "whose world.yaml declares no personal columns"
    )
    for kind, value in personal_values(facts.world_text.get("seed.sql", "")):
        if value not in declared:
            yield kind, place
    fields = {column for _, column in columns}
    world = "\n".join(facts.world_text.values())
    with Dataset.open(facts.directory) as dataset:
        for row in dataset.rows(["trajectory_id", "messages"]):
            name, messages = f"row {row['trajectory_id']}", row["messages"]
            yield from _given(name, messages, fields, declared)
            yield from _said(name, messages, world)


def _declared_columns(text: str) -> set[tuple[str, str]]:
    """The columns that a world.yaml declares, as personal or as not."""
    try:
        read: Any = yaml.safe_load(text)
    except yaml.YAMLError:  # the scan goes on, and nothing is declared
        return set()
    columns: Any = cast("dict[str, Any]", read).get("columns") if isinstance(read, dict) else None
    names = [str(name).partition(".") for name in cast("Mapping[Any, Any]", columns or {})]
    return {(table, column) for table, _, column in names}


def _values_of(columns: set[tuple[str, str]], world: Mapping[str, str]) -> str:
    """The values of the columns in universe 0, one on a line.

    Empty for a schema that SQLite does not load, so that all its values are findings.
    """
    found = list[str]()
    db = sqlite3.connect(":memory:")
    db.set_authorizer(_no_files)
    try:
        db.executescript(world.get("schema.sql", "") + "\n;\n" + world.get("seed.sql", ""))
        for table, column in sorted(columns):
            rows = db.execute(f"SELECT {quoted(column)} FROM {quoted(table)}")
            found += [str(value) for (value,) in rows if value is not None]
    except sqlite3.Error:
        return ""
    finally:
        db.close()
    return "\n".join(found)


def _no_files(action: int, *_: object) -> int:
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def _given(
    row: str, messages: Sequence[Mapping[str, Any]], fields: set[str], declared: str
) -> Iterator[Finding]:
    """Personal data that the task or a tool gave, and that no declared column holds."""
    data = [_data_of(message) for message in messages]
    pairs = [pair for one in data for pair in _leaves(one)]
    known = "\n".join([declared, *(value for name, value in pairs if name in fields)])
    for number, message in enumerate(messages):
        if not _is_given(number, message):
            continue
        for kind, value in personal_values(message.get("content") or ""):
            if value not in known:
                holding = (name for name, text in _leaves(data[number]) if name and value in text)
                field = next(holding, "")
                place = (
                    f"results of tools, field {field}" if field else f"{row}, message {number + 1}"
                )
                yield f"{kind} that the world does not declare", place


def _data_of(message: Mapping[str, Any]) -> object:
    """The result of a tool, or the arguments of calls; None for words."""
    if message["role"] == "tool":
        return parsed(message.get("content"))
    calls: Sequence[Any] = message.get("tool_calls") or ()
    return [parsed(call.get("function", call).get("arguments")) for call in calls]


def _leaves(value: object) -> Iterator[tuple[str, str]]:
    """The texts in some data, each with the name of its field."""
    return ((name, text) for name, text in named_values(value) if isinstance(text, str))


def _is_given(number: int, message: Mapping[str, Any]) -> bool:
    return message["role"] in {"system", "tool"} or number <= 1


def _said(row: str, messages: Sequence[Mapping[str, Any]], world: str) -> Iterator[Finding]:
    """Personal data that the agent or a user said and that neither a tool result, nor the task,
    nor the world's files hold.
    """
    known: list[str] = [world]
    for number, message in enumerate(messages):
        text = message.get("content") or ""
        text += json.dumps(message.get("tool_calls") or (), ensure_ascii=False)
        if _is_given(number, message):
            known.append(text)
            continue
        for kind, value in personal_values(text):
            if not any(value in other for other in known):
                yield f"{kind} that nobody gave", f"{row}, message {number + 1}"
