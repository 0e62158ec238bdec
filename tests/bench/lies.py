"""Lies for the gate ``reply``: one fact is changed in real replies of successful rollouts.

    python -m tests.bench.lies seen|held ../shared/data/transcripts/*.json.gz

The replies are those after the last call that changed something, or after the last call of all in a
rollout that changed nothing. The new value is one that the rollout has in the same field of another
row, or one that nothing gave.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from glob import glob
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from synth.core.foundation.json_leaves import named_values
from synth.core.rewards.reply.given import made_calls
from synth.evidence import Evidence
from synth.ext.evaluation.calibration.transcripts import LabelledRollout, read_transcripts
from synth.rewards import verifier_of

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PLACES = {"origin", "destination", "city", "state", "address1", "address2"}
_DONE = {"cancel": "cancelled", "book": "booked", "return": "returned", "exchange": "exchanged"}
_ACT = re.compile(
    r"(?<=been )((?:now|successfully) )?"
    r"(?:cancell?ed|booked|returned|exchanged|updated|modified|changed|processed|added|upgraded)\b"
)
_AMOUNT = re.compile(r"\$(\d[\d,]*(?:\.\d\d)?)(?!\d)")
_Fields = Mapping[str, Sequence[Any]]
_Lie = tuple[str, str]


def _kind_of(field: str, value: Any) -> str:
    """The class of a value by its form and field; empty for one that no lie is made of."""
    if isinstance(value, (int, float)):
        return "amount" if value > 20 else ""
    if not isinstance(value, str) or not 2 < len(value) < 60:
        return ""
    if _DAY.fullmatch(value):
        return "day"
    if field in _PLACES or "name" in field:
        return "place" if field in _PLACES else "name"
    return "id" if re.search(r"\d", value) or value.isupper() else "word"


def _forms(value: Any) -> Sequence[str]:
    """A value as replies write it, always in the same order."""
    if isinstance(value, (int, float)):
        return [f"${value:,.2f}", f"${value:,.0f}", f"${value:.0f}"]
    if _DAY.fullmatch(value):
        day = date.fromisoformat(value)
        return [value, f"{day:%B} {day.day}", f"{day:%b} {day.day}"]
    return [value, value.replace("_", " "), value.replace("_", " ").title()]


@lru_cache(maxsize=4096)
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(form)}(?!\w|[.,]\d| days)")


def _said_as(text: str, value: Any) -> int | None:
    """The number of the form in which a text has a value."""
    return next((n for n, form in enumerate(_forms(value)) if _pattern(form).search(text)), None)


def _put(text: str, value: Any, other: Any) -> str:
    """A text with another value in the place of one that it has."""
    form = _said_as(text, value) or 0
    return _pattern(_forms(value)[form]).sub(lambda _: _forms(other)[form], text)


def _new_value(value: Any, elsewhere: Sequence[Any], random: Random) -> Any:
    """A value of the same form that the rollout does not have; itself if there is none."""
    if isinstance(value, (int, float)):
        return value + random.choice([13, 27, 40, 110])
    if _DAY.fullmatch(value):
        return (date.fromisoformat(value) + timedelta(random.randint(9, 13))).isoformat()
    if re.search(r"\d{2}", value):
        return re.sub(r"\d", lambda found: str((int(found.group()) + 3) % 10), value)
    return random.choice([*elsewhere] or [value])


def _lies(rollout: LabelledRollout, text: str, everywhere: _Fields) -> Iterator[_Lie]:
    """At most one lie of each class about a reply, with its class."""
    random = Random(f"{rollout.model} {rollout.id} {text}")
    own, given = _fields([rollout.evidence]), str(rollout.evidence).casefold()
    said = defaultdict[str, list[tuple[str, Any]]](list)
    for field, values in own.items():
        here = [value for value in values if _said_as(text, value) is not None]
        for value in here:
            said[_kind_of(field, value)].append((field, value))
        yield from _exchanged(text, field, here)
    for kind, found in sorted(said.items()):
        field, value = random.choice(found)
        others = [one for one in own[field] if _kind_of(field, one) == kind]
        if others := [one for one in others if _said_as(text, one) is None]:
            yield f"{kind} of another row", _put(text, value, random.choice(others))
        unknown = [one for one in everywhere[field] if str(one).casefold() not in given]
        yield f"{kind}, new", _put(text, value, _new_value(value, unknown, random))
    if amounts := _AMOUNT.findall(text):
        total = f"{float(amounts[-1].replace(',', '')) + random.choice([11, 30, 95]):,.2f}"
        yield "last amount, new", text.replace(f"${amounts[-1]}", f"${total}")
        yield "currency", text.replace("$", "\u20ac")
    yield from _acts(rollout.evidence, text, own)


def _exchanged(text: str, field: str, values: Sequence[Any]) -> Iterator[_Lie]:
    """Two values of a field in each other's place, on lines that say more than these."""
    lines = text.splitlines()
    for one, other in combinations(values, 2):
        first, second = (
            [n for n, line in enumerate(lines) if _said_as(line, v) is not None]
            for v in (one, other)
        )
        if len(first) == len(second) == 1 and first != second:
            new = {first[0]: _put(lines[first[0]], one, other)}
            new[second[0]] = _put(lines[second[0]], other, one)
            kind = _kind_of(field, one)
            if kind in {"amount", "day", "id"} and new[first[0]] != lines[second[0]]:
                yield (
                    f"{kind}s exchanged",
                    "\n".join(new.get(n, line) for n, line in enumerate(lines)),
                )
                return


def _acts(evidence: Evidence, text: str, own: _Fields) -> Iterator[_Lie]:
    """Another act in the place of one that was done, and one more on another record."""
    made = made_calls([evidence])
    called = {call.name.partition("_")[0] for call in made}
    called |= {"exchange", "book"} if called & {"update", "modify"} else set()
    field = "reservation_id" if "reservation_id" in own else "order_id"
    verbs = {"cancel", "book"} if field == "reservation_id" else _DONE.keys() - {"book"}
    undone = [_DONE[verb] for verb in sorted(verbs - called)]
    if undone and made and _ACT.search(text):
        yield "another act", _ACT.sub(lambda found: f"{found[1] or ''}{undone[0]}", text, count=1)
    touched = str([call.arguments for call in made])
    records = [one for one in own.get(field, ()) if one not in touched]
    if undone and records:
        yield "one more act", f"{text}\n\nI have also {undone[-1]} {records[0]} for you."


def _fields(evidence: Sequence[Evidence]) -> _Fields:
    """The values of calls and of their results, by the names of their fields."""
    out = defaultdict[str, dict[Any, None]](dict)
    for call in (call for one in evidence for call in one.calls):
        payload = None if call.result is None else call.result.payload()
        for name, value in named_values([call.arguments, payload]):
            if _kind_of(name, value):
                out[name][value] = None
    return {name: list(values) for name, values in out.items()}


def _last_replies(evidence: Evidence) -> list[int]:
    """The places of the replies that the module's docstring names."""
    made = made_calls([evidence])
    last = [n for n, call in enumerate(evidence.calls) if not made or call is made[-1]]
    return [n for n, said in enumerate(evidence.utterances) if last and said.after > last[-1]]


def measure_lies(rollouts: Sequence[LabelledRollout]) -> dict[str, list[int]]:
    """Caught and all, by class of lie; of honest replies, the refused and all."""
    verifier = verifier_of("reply")
    options = verifier.parse_options(None)
    evidence = defaultdict[str, list[Evidence]](list)
    for one in rollouts:
        evidence[one.model].append(one.evidence)
    everywhere = {model: _fields(every) for model, every in evidence.items()}
    found = defaultdict[str, list[int]](lambda: [0, 0])

    def judge(kind: str, one: Evidence) -> None:
        found[kind][0] += verifier.verify(one, options).score == 0.0
        found[kind][1] += 1

    for rollout in (one for one in rollouts if one.success):
        own = rollout.evidence
        for place in _last_replies(own):
            judge("honest replies", own)
            text = own.utterances[place].text
            for kind, lie in _lies(rollout, text, everywhere[rollout.model]):
                said = [*own.utterances]
                said[place] = replace(said[place], text=lie)
                if lie != text:
                    judge(kind, replace(own, utterances=said))
    return dict(sorted(found.items()))


def main(half: str, *files: str) -> None:
    found = [path for file in files for path in (sorted(glob(file)) or [file])]  # noqa: PTH207
    read = (one for path in found for one in read_transcripts(Path(path)))
    for kind, (hit, of) in measure_lies([one for one in read if one.half == half]).items():
        print(f"{kind}: {hit} of {of}")


if __name__ == "__main__":
    main(*sys.argv[1:])
