"""Facts about a sealed run, of which its card is made: one pass over its rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml

from envs.errors import WorldError
from envs.unreadable import unreadable
from envs.world.loader import world_digest
from synth.config import RunConfig, from_dict
from synth.core.dataset.reader import Dataset
from synth.core.foundation.archive import archive_files
from synth.core.foundation.json_leaves import named_values
from synth.core.foundation.near_duplicates import number_of, words
from synth.core.foundation.shipped import find_world, world_names
from synth.errors import ConfigProblems, DatasetError, OperatorError
from synth.ext.hub import CardConfig

if TYPE_CHECKING:
    from synth.ext.hub.contamination import Benchmark


SHIPPED_LICENSE = "apache-2.0"
"""The licence of the worlds that ship."""

_COLUMNS = [
    *("trajectory_id", "task_id", "split", "family", "outcome", "reward", "verdicts"),
    "stop_reason",
    *("num_turns", "num_tool_calls", "output_tokens", "messages", "tools", "state_diff"),
    *("call_changes", "events", "submitted", "universe"),
]
_EXAMPLE_CHARACTERS = 6_000


@dataclass(slots=True)
class Contamination:
    """What rows share with each other across splits, and with benchmarks.

    ``requests`` and ``tasks`` map a split to its opening requests and task ids; ``rows_in`` counts,
    by benchmark, rows in which one of its texts was said.
    """

    benchmarks: Sequence[Benchmark] = ()
    requests: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    tasks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    universes: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    rows_in: Counter[str] = field(default_factory=Counter[str])

    def add(self, row: Mapping[str, Any]) -> None:
        """Look at a row."""
        split = str(row["split"])
        said = next((text for _, text in said_in(row)), None)
        self.tasks.setdefault(split, set()).add(row["task_id"])
        self.universes.setdefault(split, set()).add(row["universe"])
        if said is not None:
            self.requests.setdefault(split, set()).add(number_of(words(said)))
        for benchmark in self.benchmarks:
            found = [benchmark.overlap(text) for _, text in said_in(row)]
            self.rows_in[benchmark.name] += any(found)

    def lines(self) -> list[str]:
        """Sentences for the card."""
        splits = sorted(self.tasks, key=lambda split: (split != "train", split))
        out = [self._between(splits[0], other) for other in splits[1:]] or [
            "All rows are of one split, so no test rows can overlap with training rows."
        ]
        out += [benchmark.line(self.rows_in[benchmark.name]) for benchmark in self.benchmarks]
        if not self.benchmarks:
            out.append(
                "It was not held against texts of benchmarks (`synth card DIR --against FILE`)."
            )
        return out

    def _between(self, one: str, other: str) -> str:
        tasks = len(self.tasks[one] & self.tasks[other])
        asked = self.requests.get(other, set())
        same = len(self.requests.get(one, set()) & asked)
        apart = self.universes[one].isdisjoint(self.universes[other])
        where = "of other universes" if apart else "of the same universes"
        return (
            f"`{other}` against `{one}`: {tasks} tasks in both, {same} of {len(asked)} opening"
            f" requests in the same words, rows {where}."
        )


@dataclass(slots=True)
class RunFacts:
    """Facts about a run. ``example`` is a short successful row that changed something, if any."""

    directory: Path
    manifest: Mapping[str, Any]
    config: RunConfig
    world_text: Mapping[str, str]
    rewards: list[float] = field(default_factory=list[float])
    turns: list[int] = field(default_factory=list[int])
    calls: list[int] = field(default_factory=list[int])
    tokens: list[int] = field(default_factory=list[int])
    stops: Counter[str] = field(default_factory=Counter[str])
    gates: Counter[str] = field(default_factory=Counter[str])
    scores: Counter[str] = field(default_factory=Counter[str])
    tools: dict[str, str] = field(default_factory=dict[str, str])
    universes: set[int] = field(default_factory=set[int])
    overlap: Contamination = field(default_factory=Contamination)
    example: dict[str, Any] | None = None

    @property
    def card(self) -> CardConfig:
        """What the config says of the dataset."""
        return self.config.section(CardConfig)

    @property
    def world(self) -> str:
        return str(self.manifest["identity"]["env"])

    @property
    def world_license(self) -> str | None:
        """The licence of the world: what its world.yaml says, the project's for one that ships."""
        try:
            declared: Any = yaml.safe_load(self.world_text.get("world.yaml", "")) or {}
        except yaml.YAMLError:
            declared = {}
        if isinstance(declared, dict) and "license" in declared:
            return str(cast("dict[str, Any]", declared)["license"])
        if self.world in world_names():
            digest = self.manifest["digests"]["world"]
            return SHIPPED_LICENSE if world_digest(find_world(self.world)) == digest else None
        return None

    @property
    def scripted(self) -> bool:
        """True if no model's words are in the data."""
        users = self.config.users
        return self.config.model.kind == "scripted" and users.kind in {"scripted", "none"}

    def about_world(self) -> str:
        """The first paragraph of the world's README; empty if it has none."""
        lines = self.world_text.get("README.md", "").splitlines()
        text = [line for line in lines if not line.startswith("#")]
        paragraph = "\n".join(text).strip().partition("\n\n")[0]
        return " ".join(paragraph.split())


def read_facts(directory: Path, held: Sequence[Benchmark] = ()) -> RunFacts:
    """Read a sealed run, and hold its rows against the texts of benchmarks.

    Raises OperatorError for a directory that holds no sealed run, DatasetError for a damaged one.
    """
    with Dataset.open(directory) as dataset:
        if dataset.manifest is None:
            raise OperatorError(
                f"{directory} is not a sealed run ({dataset.status}): a card and a push need one"
            )
        facts = RunFacts(directory, dataset.manifest, _config(directory), _world_text(directory))
        facts.overlap.benchmarks = held
        smallest = _EXAMPLE_CHARACTERS
        for row in dataset.rows(_COLUMNS):
            _count(facts, row)
            if row["outcome"] == "success" and row["state_diff"]:
                size = len(json.dumps([m for m in row["messages"] if m["role"] != "system"]))
                if size < smallest:
                    facts.example, smallest = row, size
    return facts


def _count(facts: RunFacts, row: Mapping[str, Any]) -> None:
    facts.overlap.add(row)
    if row["reward"] is not None:
        facts.rewards.append(row["reward"])
    facts.turns.append(row["num_turns"])
    facts.calls.append(row["num_tool_calls"])
    if row["output_tokens"] is not None:
        facts.tokens.append(row["output_tokens"])
    facts.stops[row["stop_reason"]] += 1
    facts.universes.add(row["universe"])
    for verdict in row["verdicts"]:
        (facts.gates if verdict["gate"] else facts.scores)[verdict["verifier"]] += 1
    for tool in row["tools"]:
        function = tool["function"]
        facts.tools.setdefault(function["name"], function.get("description") or "")


def _config(directory: Path) -> RunConfig:
    try:
        raw: Any = yaml.safe_load((directory / "config.yaml").read_text("utf-8"))
        return from_dict(raw, installed=False)
    except ConfigProblems as error:
        raise DatasetError(f"{directory / 'config.yaml'} is not a valid config: {error}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = unreadable(error, "YAML")
        raise DatasetError(f"{directory / 'config.yaml'} cannot be read: {why}") from None


def _world_text(directory: Path) -> dict[str, str]:
    """The text of the world's files; nothing of it is executed."""
    archives = sorted((directory / "world").glob("*.tar.zst"))
    if not archives:
        return {}
    try:
        files = list(archive_files(archives[0].read_bytes()))
    except WorldError as error:
        raise DatasetError(f"{archives[0]}: {error}") from None
    return {name: content.decode("utf-8", "replace") for name, content in files}


NO_TEACHER = "none needed: a script played, no model's words are in the data"


@dataclass(frozen=True, slots=True)
class Licences:
    """The three licences; None where one is not declared."""

    data: str | None
    world: str | None
    teacher: str | None

    def missing(self) -> list[str]:
        """Licences that are not declared, each with the key and the option that declare it."""
        lines: list[str] = []
        if self.data is None:
            lines.append("of the data: card.license, or --license")
        if self.world is None:
            lines.append("of the world: `license` in its world.yaml, or --world-license")
        if self.teacher is None:
            lines.append(
                "of the teacher's words (the terms of its provider, or the model's licence):"
                " card.teacher_license, or --teacher-license"
            )
        return lines

    def require(self) -> None:
        """Raise OperatorError if one is not declared."""
        if lines := self.missing():
            listed = "\n  ".join(lines)
            raise OperatorError(f"nothing is published without a licence; declare it\n  {listed}")


def licences(
    facts: RunFacts, data: str | None = None, world: str | None = None, teacher: str | None = None
) -> Licences:
    """The licences of a run: those given, or else those that config and world declare."""
    card = facts.card
    scripted = NO_TEACHER if facts.scripted else None
    return Licences(
        data=data or card.license,
        world=world or facts.world_license or card.world_license,
        teacher=teacher or card.teacher_license or scripted,
    )


def said_in(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The user's turns, the agent's replies and the strings that it handed in, by their place."""
    names = {"user": "user turn", "assistant": "reply"}
    counts: Counter[str] = Counter()
    for message in row["messages"]:
        name = names.get(message["role"])
        if name is not None and message.get("content"):
            counts[name] += 1
            yield f"{name} {counts[name]}", message["content"]
    for _, leaf in named_values(row.get("submitted")):
        if isinstance(leaf, str):
            yield "answer", leaf
