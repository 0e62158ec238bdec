"""What the agent's words ask the user to do with its own tools, and what the user says of it.

A clause is about the tool of whose name and description it holds most, in words that few tools
have, if it holds most of the name or says little else. One that asks how something is can only mean
tools that change nothing. English.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from envs.types import ToolCall, ToolResult
from synth.core.language.wording import fold, stem
from synth.core.types.reply import Act
from synth.core.users.scripted.hearing import Sentence, sentences
from synth.core.users.scripted.topics import about
from synth.user import UserRole, UserTurn

Json = Any
_AND = re.compile(r",? (?:and|then) (?:then )?(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)")
_DIRECTS = re.compile(
    r"\b(?:please|kindly|(?:can|could|would|will) you(?! (?:like|want|prefer))"
    r"|i(?:'d like| need| want) you to|you (?:need to|have to|should|can)|go ahead and|try)\b"
)
_LOOKS = re.compile(r"\b(?:if|whether|see|check|look)\b")
_DENIES = re.compile(r"\b(?:not|never|without|no need)\b|n't\b")
_ON = re.compile(
    r"\b(?:(?:turn|switch) on|on(?! (?:your|the|my|this)\b)|true|yes|enabled?|activated?)\b"
)
_OFF = re.compile(r"\b(?:off|false|disabled?|deactivated?)\b")
_LEAD = re.compile(r"^\W*(?:\d+[.)]\s*)?(?:(?:now|next|first|then|finally),? )?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class UserTools:
    """The tools of a user's role, found by the words of the agent."""

    def __init__(self, role: UserRole) -> None:
        self._role = role
        self._words = [
            (tool, _words(tool["name"]), _words(tool["description"])) for tool in role.tools
        ]
        self._things = {  # the check of deposit_check
            word for tool, name, _ in self._words if not tool["read_only"] for word in name
        }
        self._common = Counter(word for _, name, said in self._words for word in {*name, *said})

    def asked(self, text: str, acts: Sequence[Act], turn: int) -> UserTurn | None:
        """Return the calls that a turn of this number asks for, by its acts or its words, or the
        user's question where it is not clear which. None: it asks for none.
        """
        question, own = "", {tool["name"] for tool, _, _ in self._words}
        asked = [act for act in acts if act.kind == "instruct" and own.issuperset(act.tools)]
        if not acts:
            asked, question = self._instructed(text)
        if question:
            return UserTurn(question)
        calls = [(tool, act.arguments or {}) for act in asked for tool in act.tools]
        made = [
            ToolCall.of(tool, arguments, f"user_{turn}_{number}")
            for number, (tool, arguments) in enumerate(calls)
        ]
        return UserTurn(calls=made) if made else None

    def _instructed(self, text: str) -> tuple[list[Act], str]:
        """The acts of a turn, and the user's question where they are unclear."""
        acts: list[Act] = []
        for sentence in sentences(text):
            for clause in self._clauses(sentence):
                if sentence.for_information and about(clause, self._role.knows):
                    continue
                found = self._meant(clause, directs=_DIRECTS.search(sentence.text) is not None)
                if acts and self._goes_on(clause, found, acts[-1].tools[0]):
                    continue
                if len(found) > 1:
                    names = " or ".join(_plain(tool["name"]) for tool in found)
                    return [], f"Which one do you mean: {names}?"
                for tool in found:
                    arguments, lacking = _arguments(clause, text, tool)
                    if lacking:  # it may stand behind an "and"
                        arguments, lacking = _arguments(sentence.text, text, tool)
                    if lacking:
                        return [], f'I can {_plain(tool["name"])}. What should "{lacking}" be?'
                    acts.append(Act("instruct", tools=(tool["name"],), arguments=arguments))
        return acts, ""

    def _clauses(self, sentence: Sentence) -> Iterator[str]:
        """The clauses of a sentence that may direct. Words of a tool's name ask for no leave."""
        named = {word for _, name, _ in self._words for word in name}
        rest = (
            re.sub(r"[a-z0-9]+", lambda at: "" if stem(at[0]) in named else at[0], part)
            for part in sentence.parts
        )
        if not (sentence.put_off or Sentence(tuple(rest)).acts):
            for part in sentence.parts:
                clauses = _AND.split(_LEAD.sub("", part))
                yield from (clause for clause in clauses if not _DENIES.search(clause))

    def _goes_on(self, clause: str, found: Sequence[Mapping[str, Json]], before: str) -> bool:
        """Tell whether a clause says more about the tool of the clause before."""
        first = _words(clause)[:1]
        return any(tool["name"] == before for tool in found) and not any(
            first in (name[:1], described[:1])
            for tool, name, described in self._words
            if tool in found
        )

    def report(self, results: Sequence[ToolResult]) -> str:
        """What the user says about what its calls came to."""
        return " ".join(map(_reported, results))

    def _meant(self, clause: str, *, directs: bool) -> list[Mapping[str, Json]]:
        """The tool that a clause asks the user to use; several where it fits them alike."""
        looks = not self._things.issuperset(_LOOKS.findall(clause))
        asks = Sentence((clause,)).for_information
        if looks and about(clause, self._role.knows):
            return []
        said = _words(_DIRECTS.sub(" ", clause))
        weights: list[tuple[tuple[float, float], Mapping[str, Json]]] = []
        for tool, name, described in self._words:
            held = {*name, *described}.intersection(said)
            reads = tool["read_only"] if looks or (asks and described[0] not in said) else None
            if _fits(said, name, held, reads) and (
                directs or said[:1] in (name[:1], described[:1])
            ):
                whole = len(held.intersection(name)) / len(name)
                weights.append(((sum(1 / self._common[word] for word in held), whole), tool))
        best = max((weight for weight, _ in weights), default=(0, 0))
        return [tool for weight, tool in weights if weight == best]


def _fits(said: Sequence[str], name: Sequence[str], held: set[str], reads: bool | None) -> bool:
    """Tell whether a clause holds most of a tool's name, or little beside the tool's words; where
    it asks how something is, whether the tool ``reads``.
    """
    if reads is not None:
        return reads and len(held) > 1
    named = len(held.intersection(name))
    return named >= len(name) * 2 / 3 or (named > 0 and len(held) >= len(said) / 2)


def _reported(result: ToolResult) -> str:
    if not result.ok:
        return f"That did not work. It says: {(result.message or 'an error').rstrip('.')}."
    said = _said(result.output)
    return f"Done. It says: {said.rstrip('.')}." if said else "Done."


def _said(value: Json) -> str:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Json]", value).items()
        return ", ".join(f"{_plain(name)} {_said(item)}" for name, item in items)
    if isinstance(value, list):
        return "; ".join(map(_said, cast("list[Json]", value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _words(text: str) -> list[str]:
    return [stem(word) for word in re.findall(r"[a-z0-9]+", fold(_plain(text)))]


def _arguments(
    clause: str, text: str, tool: Mapping[str, Json]
) -> tuple[dict[str, Json], str | None]:
    """The arguments in a clause of a text, and the name of a required one that it lacks. A value
    without its parameter's name is taken where no other parameter takes such values.
    """
    found: dict[str, Json] = {}
    fields = tool["parameters"].get("properties", {})
    beside = re.sub(tool["name"].replace("_", "[ _]"), "", clause, count=1)
    for name, schema in fields.items():
        parts = _named(beside, name)
        if [_kind(other) for other in fields.values()].count(_kind(schema)) == 1:
            parts += [*_named(clause, name), *_unnamed(clause, schema)]
        value = next((one for part in parts if (one := _value(part, schema)) is not None), None)
        if isinstance(value, str) and "enum" not in schema:  # as it was written
            found_in = re.search(re.escape(value), text, re.IGNORECASE)
            value = found_in.group() if found_in else value
        if value is not None:
            found[name] = value
        elif name in tool["parameters"].get("required", ()):
            return found, name
    return found, None


def _kind(schema: Mapping[str, Json]) -> str:
    return str(schema.get("enum", schema.get("type")))


def _named(clause: str, name: str) -> list[str]:
    """What stands behind a parameter's name, quoted texts first."""
    pattern = name.replace("_", "[ _]")
    found = re.findall(rf'\b{pattern}\b(?: to| is| as)?\W{{0,3}}?("[^"]*"|[\w.-]+)', clause)
    return sorted(found, key=lambda part: not part.startswith('"'))


def _unnamed(clause: str, schema: Mapping[str, Json]) -> list[str]:
    """The whole clause; for a free text its only quoted one."""
    quoted = re.findall(r'"[^"]*"', clause)
    free = _kind(schema) == "string"
    return [clause] if not free else quoted if len(quoted) == 1 else []


def _value(part: str, schema: Mapping[str, Json]) -> Json:
    """The value of a kind in a part of a clause; None unless it holds exactly one."""
    if "enum" in schema:
        held = [item for item in schema["enum"] if _holds(part, str(item))]
        longer = {one: fold(str(one)) for one in held}
        values = [
            item
            for item in held
            if not any(_holds(text, str(item)) for one, text in longer.items() if one != item)
        ]
    elif schema.get("type") == "boolean":
        values = [True] * bool(_ON.search(part)) + [False] * bool(_OFF.search(part))
    elif schema.get("type") in ("integer", "number"):
        numbers = [float(number) for number in _NUMBER.findall(part)]
        values = [int(number) if number.is_integer() else number for number in numbers]
    else:
        values = [part.strip('"')]
    return values[0] if len(values) == 1 else None


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(value))}(?!\w)", text) is not None
