"""The scan of what would be published: secrets, and personal data that is not the world's.

Secrets are found by detect-secrets' detectors of known formats, by the values of this machine's
own key variables, and by the prefixes of providers. Its detectors of entropy and of words like
"password" are left out: ids and texts of a dataset would drown what is real.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from detect_secrets import settings

from synth.core.dataset.texts import stored_texts
from synth.core.foundation.credentials import known_secrets, looks_secret
from synth.core.foundation.scrubber import Scrubber
from synth.ext.hub.facts import RunFacts
from synth.ext.hub.personal_scan import undeclared_in

DETECTORS = (
    *("AWSKeyDetector", "ArtifactoryDetector", "AzureStorageKeyDetector", "BasicAuthDetector"),
    *("CloudantDetector", "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector"),
    *("IbmCloudIamDetector", "IbmCosHmacDetector", "JwtTokenDetector", "MailchimpDetector"),
    *("NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector"),
    *("SendGridDetector", "SlackDetector", "SoftlayerDetector", "SquareOAuthDetector"),
    *("StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector"),
)


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
    for kind, place in undeclared_in(facts):
        found[ScanFinding(kind, place, personal=True)] = None
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
