"""The requests of a composed task: what was done and said for each, and the verdicts on all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from envs.sandboxes.row_changes import joined_changes
from synth.core.foundation.hashing import canonical
from synth.evidence import Evidence
from synth.verdict import Verdict


def evidence_of_requests(evidence: Evidence) -> list[Evidence | None]:
    """The evidence of each part of a composed task; None for a request that never came.

    A request lasts until the next one comes. Its changes are the net changes of its
    own calls, the agent's and the user's.
    """
    out: list[Evidence | None] = []
    starts = [0, *(index + 1 for index in _arrivals(evidence))]
    for number, part in enumerate(evidence.task.parts):
        if number >= len(starts):
            out.append(None)
            continue
        first, end = starts[number], [*starts, len(evidence.turns) + 1][number + 1]
        request = _request(evidence, number, first, end)
        out.append(replace(request, task=part, before=out[-1] if out else None))
    return out


def _arrivals(evidence: Evidence) -> list[int]:
    """The turns that bring a new request."""
    fresh = set(evidence.task.role.requests)
    return [index for index, turn in enumerate(evidence.turns) if turn.then in fresh]


def _request(evidence: Evidence, number: int, first: int, end: int) -> Evidence:
    """The part of a rollout about a request. It comes before the turn ``first``; the turn
    ``end - 1``, if there is one, brings the next.
    """
    turns = evidence.turns
    start = turns[first - 1].after if first else 0
    stop = turns[end - 1].after if end <= len(turns) else len(evidence.calls)
    calls, own = evidence.calls[start:stop], turns[first : end - 1]
    made = [(turn.after - start, 0, call) for turn in own for call in turn.calls]
    made += [(index, 1, call) for index, call in enumerate(calls)]
    said = [
        replace(words, after=words.after - start, turns=words.turns - first)
        for words in evidence.utterances
        if first <= words.turns < end
    ]
    answers: dict[str, Any] = dict(evidence.submitted or {})
    return replace(
        evidence,
        changes=joined_changes(
            change for *_, call in sorted(made, key=lambda one: one[:2]) for change in call.changes
        ),
        calls=calls,
        submitted=answers.get(str(number + 1)),
        turns=[replace(turn, after=turn.after - start) for turn in own],
        utterances=said,
        said=said[-1].text if said else "",
    )


def shared_row(evidence: Evidence) -> str | None:
    """A row that is changed for two requests of a composed task, as text; None if there is none."""
    owners: dict[tuple[str, str], int] = {}
    for number, request in enumerate(evidence_of_requests(evidence)):
        for change in () if request is None else request.changes:
            row = change.table, canonical(dict(change.key))
            if owners.setdefault(row, number) != number:
                return f"{row[0]} {row[1]}"
    return None


def combined(evidence: Evidence, judged: Sequence[Sequence[Verdict] | None]) -> list[Verdict]:
    """One verdict for each gate and score, on all requests.

    A gate passes if it passes for each of them; a score is their mean. The detail describes the
    first request that fails, with the findings and notes of all.
    """
    places = _places(evidence)
    found: dict[str, list[tuple[int, Verdict]]] = {}
    for number, part in enumerate(evidence.task.parts):
        verdicts = judged[number]
        if verdicts is None:
            never = "never came: the conversation ended before"
            verdicts = [Verdict(gate.name, 0.0, never) for gate in part.gates]
        for verdict in verdicts:
            found.setdefault(verdict.verifier, []).append((number, verdict))
    return [_of_all(parts, places) for parts in found.values()]


def _places(evidence: Evidence) -> Sequence[Sequence[int]]:
    """The places among all calls of the calls of each request that came."""
    starts = [0, *(evidence.turns[index].after for index in _arrivals(evidence))]
    ends = [*starts[1:], len(evidence.calls)]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def _of_all(parts: Sequence[tuple[int, Verdict]], places: Sequence[Sequence[int]]) -> Verdict:
    number, worst = min(parts, key=lambda part: 1.0 if part[1].score is None else part[1].score)
    shown = [(index, item) for index, item in parts if item.score != 1.0] or parts
    reason = "; ".join(f"request {index + 1}: {item.reason}" for index, item in shown)
    detail = {**worst.detail, "request": number + 1}
    for name in {"findings", "notes"} & worst.detail.keys():
        detail[name] = [one for _, item in parts for one in item.detail.get(name, ())]
    wrong = worst.detail.get("first_wrong")
    if wrong is not None and number < len(places):
        detail["first_wrong"] = {**wrong, "call": places[number][wrong["call"]]}
    return replace(
        worst, score=_score([item for _, item in parts]), reason=reason[:2000], detail=detail
    )


def _score(verdicts: Sequence[Verdict]) -> float | None:
    """0 if a gate fails; else None if something could not be judged; else 1 or the mean."""
    scores = [verdict.score for verdict in verdicts]
    if verdicts[0].gate and 0.0 in scores:
        return 0.0
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if len(known) == len(scores) else None
