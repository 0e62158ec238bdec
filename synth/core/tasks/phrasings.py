"""Other words for the users of a world's families: ``phrasings.jsonl`` beside its tasks.yaml.

A line is a JSON object with the ``texts`` of one user of one family, by their places: ``says`` is
the request, ``knows.NAME`` what is told about a topic, ``agrees.0`` the words of the first consent,
``then.0`` the first follow-up, and ``then.0.knows.NAME`` what is told from then on. A text has the
slots of the author's text in its place, in braces. ``of`` is the digest of the author's texts: when
these change, the line is left out until somebody looks at it again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from envs.world.files import PHRASINGS
from synth.core.foundation.hashing import digest
from synth.core.tasks.yaml.family import Family
from synth.core.tasks.yaml.scope import nearest
from synth.core.tasks.yaml.template import Unknown, compile_value
from synth.core.tasks.yaml.user import ConsentText, TopicText, UserText
from synth.errors import TaskError, raise_task_errors
from synth.source import TaskFamily

REQUEST = "says"
"""The place of the request, which every phrasing has."""

Texts = Mapping[str, str]
"""Texts by their places, with slots in braces."""


@dataclass(frozen=True)
class UserPhrasing:
    """One line of the file. ``source`` says who wrote it, ``line`` where it stands."""

    family: str
    texts: Texts
    persona: str = ""
    of: str = ""
    source: Mapping[str, object] = field(default_factory=dict[str, object])
    line: int = 0

    @property
    def name(self) -> str:
        """The name of these words, the same in every run."""
        return name_of(dict(self.texts), self.persona)

    def to_json(self) -> dict[str, object]:
        own: dict[str, object] = {"family": self.family, "of": self.of}
        own |= {"persona": self.persona} if self.persona else {}
        own |= {"texts": dict(self.texts)}
        return own | ({"source": dict(self.source)} if self.source else {})


def name_of(*texts: object) -> str:
    """The name of a wording: a digest of its texts."""
    return digest(*texts, length=8)


def places_of(user: UserText) -> dict[str, Sequence[object]]:
    """The author's compiled texts at each place that may have other words."""
    found: dict[str, Sequence[object]] = {REQUEST: user.says}
    found |= {f"knows.{name}": topic.says for name, topic in user.knows.items()}
    found |= {f"agrees.{index}": one.says for index, one in enumerate(user.consents)}
    for number, follow_up in enumerate(user.then):
        found[f"then.{number}"] = follow_up.says
        found |= {f"then.{number}.knows.{name}": one.says for name, one in follow_up.knows.items()}
        found |= {
            f"then.{number}.agrees.{at}": one.says for at, one in enumerate(follow_up.consents)
        }
    return found


def digest_of(user: UserText) -> str:
    """The digest of the texts that phrasings stand for."""
    return digest({place: list(texts) for place, texts in places_of(user).items()}, length=12)


def reworded_user(user: UserText, phrasing: UserPhrasing, slots: frozenset[str]) -> UserText:
    """The user in the words of a phrasing; at a place that it leaves out, the author's stay.

    Raises ValueError for a place that the user does not have, for braces that are not slots, and
    for slots that the author's texts in that place do not have.
    """
    places = places_of(user)
    if REQUEST not in phrasing.texts:
        raise ValueError(f"needs the text {REQUEST!r}, the request")
    own: dict[str, Sequence[object]] = {}
    for place, text in phrasing.texts.items():
        if place not in places:
            raise ValueError(f"its user has no text {place!r}; {nearest(place, places)}")
        try:
            compiled = compile_value(text, slots, frozenset())
        except Unknown as error:
            message = f"{place}: unknown slot {error.name!r}; {nearest(error.name, slots)}"
            raise ValueError(message) from None
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        wanted = [slots_in(original) for original in places[place]]
        if slots_in(compiled) not in wanted:
            known = " or ".join(_named(names) for names in dict.fromkeys(wanted))
            raise ValueError(f"{place}: names {_named(slots_in(compiled))}, and needs {known}")
        own[place] = [compiled]
    return _with_texts(user, own, phrasing.persona)


def slots_in(compiled: object) -> frozenset[str]:
    """The slots of a compiled text as they stand in braces: ``name`` or ``name.field``."""
    found: set[str] = set()
    waiting = [compiled]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            node = cast("Mapping[str, Any]", value)
            if "$slot" in node:
                found.add(".".join([node["$slot"], *node.get("path", ())]))
            else:
                waiting += node.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
    return frozenset(found)


def as_written(compiled: object) -> str:
    """A compiled text as an author writes it, with slots in braces."""
    if isinstance(compiled, Mapping):
        node = cast("Mapping[str, Any]", compiled)
        if "$text" in node:
            return "".join(map(as_written, node["$text"]))
        return f"{{{'.'.join([node['$slot'], *node.get('path', ())])}}}"
    return str(compiled).replace("{", "{{").replace("}", "}}")


def _named(names: frozenset[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names)) or "no slot"


def _with_texts(user: UserText, own: Mapping[str, Sequence[object]], persona: str) -> UserText:
    def topics(known: Mapping[str, TopicText], place: str) -> dict[str, TopicText]:
        return {
            name: replace(topic, says=own.get(f"{place}knows.{name}", topic.says))
            for name, topic in known.items()
        }

    def consents(known: Sequence[ConsentText], place: str) -> list[ConsentText]:
        return [
            replace(one, says=own.get(f"{place}agrees.{index}", one.says))
            for index, one in enumerate(known)
        ]

    return replace(
        user,
        says=own[REQUEST],
        persona=[persona] if persona and user.answers else user.persona,
        knows=topics(user.knows, ""),
        consents=consents(user.consents, ""),
        then=[
            replace(
                follow_up,
                says=own.get(f"then.{number}", follow_up.says),
                knows=topics(follow_up.knows, f"then.{number}."),
                consents=consents(follow_up.consents, f"then.{number}."),
            )
            for number, follow_up in enumerate(user.then)
        ],
    )


def read_phrasings(folder: Path) -> list[UserPhrasing]:
    """The lines of a world's file; empty without one.

    Raises :class:`~synth.errors.TaskError` with the line of each that cannot be read.
    """
    file = folder / PHRASINGS
    if not file.is_file():
        return []
    found: list[UserPhrasing] = []
    errors: list[TaskError] = []
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(_read_line(line, number))
        except ValueError as error:
            errors.append(TaskError(str(error), str(file), number))
    raise_task_errors(errors)
    return found


_KEYS = ("family", "of", "persona", "texts", "source")


def _read_line(line: bytes, number: int) -> UserPhrasing:
    try:
        raw: object = json.loads(line)
    except (ValueError, RecursionError):
        raw = None
    entry = cast("dict[str, object]", raw) if isinstance(raw, dict) else None
    if entry is None:
        raise ValueError("is not a JSON object on one line")
    if unknown := [key for key in entry if key not in _KEYS]:
        raise ValueError(f"unknown key {unknown[0]!r}; {nearest(unknown[0], _KEYS)}")
    words = _texts({key: entry.get(key, "") for key in ("family", "of", "persona")})
    if words is None or not words["family"]:
        raise ValueError("needs `family`, the id of a family; `of` and `persona` are texts")
    texts = _texts(entry.get("texts"))
    if not texts or not all(text.strip() for text in texts.values()):
        raise ValueError('needs `texts`, such as {"says": "A request with {name}."}')
    source = entry.get("source", {})
    own = cast("dict[str, object]", source) if isinstance(source, dict) else None
    if own is None:
        raise ValueError('`source` is an object, such as {"model": "NAME"}')
    return UserPhrasing(texts=texts, source=own, line=number, **words)


def _texts(value: object) -> dict[str, str] | None:
    """A mapping of texts; None for anything else."""
    found = cast("dict[str, object]", value) if isinstance(value, dict) else None
    if found is None or not all(isinstance(text, str) for text in found.values()):
        return None
    return cast("dict[str, str]", found)


@dataclass(frozen=True)
class _WorldPhrasings:
    """The phrasings of a world: by family the users in other words, each with its phrasing.
    ``notes`` has a line for each family of which some are left out.
    """

    users: Mapping[str, Sequence[tuple[UserPhrasing, UserText]]]
    notes: Sequence[str] = ()


def world_phrasings(
    folder: Path, families: Sequence[TaskFamily], known: Collection[str]
) -> _WorldPhrasings:
    """The phrasings of a world's folder for some of its families; ``known`` are the names of all,
    empty if they are not known.

    Raises :class:`~synth.errors.TaskError` with the line of each that does not fit.
    """
    by_id = {family.id: family for family in families}
    users: dict[str, list[tuple[UserPhrasing, UserText]]] = {}
    stale: dict[str, int] = {}
    unknown: dict[str, int] = {}
    errors: list[TaskError] = []
    for phrasing in read_phrasings(folder):
        name = phrasing.family
        family = by_id.get(name)
        where = TaskError("", str(folder / PHRASINGS), phrasing.line, name)
        if family is None:
            unknown[name] = unknown.get(name, 0) + (name not in known)
            continue
        if not isinstance(family, Family):
            message = "its words are in Python; other words are for families of tasks.yaml"
            errors.append(TaskError(message, where.file, where.line, name))
            continue
        if phrasing.of and phrasing.of != digest_of(family.body.user):
            stale[name] = stale.get(name, 0) + 1
            continue
        try:
            user = reworded_user(family.body.user, phrasing, slots_of(family))
            users.setdefault(name, []).append((phrasing, user))
        except ValueError as error:
            errors.append(TaskError(str(error), where.file, where.line, name))
    raise_task_errors(errors)
    notes = [
        f"{PHRASINGS}: {count} of {name} left out: the family's own words have changed since;"
        " `synth rephrase` writes new ones"
        for name, count in stale.items()
    ]
    if known:
        notes += [
            f"{PHRASINGS}: {count} of {name} left out: unknown family; {nearest(name, known)}"
            for name, count in unknown.items()
            if count
        ]
    return _WorldPhrasings(users, notes)


def slots_of(family: Family) -> frozenset[str]:
    """The slots that texts of a family may name: the slots of its author's texts."""
    texts = [text for found in places_of(family.body.user).values() for text in found]
    return frozenset(name.partition(".")[0] for text in texts for name in slots_in(text))
