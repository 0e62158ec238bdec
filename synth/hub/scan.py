"""The scan of what would be published: secrets, and personal data that is not the world's.

Secrets are found by detect-secrets' detectors of known formats, by the values of this machine's
own key variables, and by the prefixes of providers. Its detectors of entropy and of words like
"password" are left out: ids and texts of a dataset would drown what is real.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from detect_secrets import settings

from synth.dataset.reader import Dataset
from synth.dataset.texts import stored_texts
from synth.foundation.credentials import known_secrets, looks_secret
from synth.foundation.scrubber import Scrubber
from synth.hub.facts import RunFacts

DETECTORS = (
    *("AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "BasicAuthDetector"),
    *("CloudantDetector", "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector"),
    *("IbmCloudIamDetector", "IbmCosHmacDetector", "JwtTokenDetector", "MailchimpDetector"),
    *("NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector"),
    *("SendGridDetector", "SlackDetector", "SoftlayerDetector", "SquareOAuthDetector"),
    *("StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
)

_PERSONAL = {
    "an e-mail address": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"),
    "a telephone number": re.compile(r"(?<![\w.-])\+\d{1,3}[ .()-]{0,2}(?:\d[ .()-]{0,2}){7,12}\b"),
    "a bank account (IBAN)": re.compile(
        r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
    ),
    "a card number": re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])"),
}
_RESERVED = re.compile(
    r"@(?:[\w.-]+\.)?(?:example(?:\.\w+)?|[\w-]+\.(?:test|invalid|example))$", re.IGNORECASE
)
"""Addresses that nobody has (RFC 2606)."""


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """A kind of finding in one place; the value itself is never shown."""

    kind: str
    place: str
    personal: bool = False


def scan(facts: RunFacts) -> list[ScanFinding]:
    """Every finding in rows, tasks, config, errors and the world's files, each once."""
    found: dict[ScanFinding, None] = {}
    own = Scrubber(known_secrets())
    with settings.transient_settings({"plugins_used": [{"name": name} for name in DETECTORS]}):
        detectors: list[Any] = list(cast("Any", settings).get_plugins())
        seen: set[int] = set()
        for place, text in _texts(facts):
            if hash(text) in seen:  # system prompts and tool lists repeat
                continue
            seen.add(hash(text))
            for kind in _secrets(text, detectors, own):
                found[ScanFinding(kind, place)] = None
    for finding in _personal(facts):
        found[finding] = None
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
    for file in _tables(facts.directory):
        place = file.relative_to(facts.directory).as_posix()
        for column, text in stored_texts(file):
            yield f"{place}, column {column}", text


def _tables(directory: Path) -> list[Path]:
    return sorted([*(directory / "data").glob("*.parquet"), *directory.glob("*.parquet")])


def _personal(facts: RunFacts) -> Iterator[ScanFinding]:
    """Personal data that the agent or a user said and that neither a tool result, nor the task,
    nor the world's files hold; and addresses in a world that declares no personal columns.
    """
    world = "\n".join(facts.world_text.values())
    if "pii:" not in facts.world_text.get("world.yaml", ""):
        seed = facts.world_text.get("seed.sql", "")
        for kind in sorted({kind for kind, _ in personal_values(seed)}):
            place = "world/seed.sql, whose world.yaml declares no personal columns"
            yield ScanFinding(kind, place, personal=True)
    with Dataset.open(facts.directory) as dataset:
        for row in dataset.rows(["trajectory_id", "messages"]):
            yield from _said(row, world)


def _said(row: Mapping[str, Any], world: str) -> Iterator[ScanFinding]:
    known: list[str] = [world]
    for number, message in enumerate(row["messages"]):
        text = message.get("content") or ""
        text += json.dumps(message.get("tool_calls") or (), ensure_ascii=False)
        given = message["role"] in {"system", "tool"} or number <= 1
        if given:
            known.append(text)
            continue
        for kind, value in personal_values(text):
            if not any(value in other for other in known):
                place = f"row {row['trajectory_id']}, message {number + 1}"
                yield ScanFinding(f"{kind} that nobody gave", place, personal=True)


def personal_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and value of personal data by its format; cards and accounts by their checksum."""
    for kind, pattern in _PERSONAL.items():
        for match in pattern.finditer(text):
            value = match[0]
            if _counts_as(kind, value):
                yield kind, value


def _counts_as(kind: str, value: str) -> bool:
    if kind == "an e-mail address":
        return _RESERVED.search(value) is None
    if kind == "a card number":
        return _luhn([int(digit) for digit in value if digit.isdigit()])
    if kind == "a bank account (IBAN)":
        plain = value.replace(" ", "")
        moved = "".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])
        return int(moved) % 97 == 1
    return True


def _luhn(digits: list[int]) -> bool:
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return any(digits) and (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
