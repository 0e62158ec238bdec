"""How the scripted user answers what real models said: the recorded conversations of tau-bench and
tau2-bench, turn by turn.

    python -m tests.bench.real_users ../shared/data/transcripts [--half seen|unseen] [--show KIND]

A *right* proposal is a turn of the agent to which the recorded user agreed, and after which the
agent made calls that the task expects. A *wrong* one is a right one with one thing changed (another
id, amount or payment, the other direction, another act, a denial), or one after which the agent
called something that the task does not expect and that its words show. The user's script is made of
the task: it agrees to the expected calls, and each value of theirs that it said is a fact that it
wants to hear. An *early end* is one on a question, or before the last expected call.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from synth.core.users.scripted.user import ScriptedUser
from synth.ext.action_lists.entries import Scenario
from synth.ext.action_lists.script import script_of
from synth.ext.action_lists.wording import consent
from synth.user import Consent, Topic, UserRole, UserTurn

FILES = {
    "gpt-4o_airline_200.json.gz": ("gpt-4o", "airline"),
    "gpt-4.1_retail.json.gz": ("gpt-4.1", "retail"),
    "claude-opus-4.6_airline.json.gz": ("opus-4.6", "airline"),
    "qwen2.5-7b_airline.json.gz": ("qwen2.5-7b", "airline"),
}
WRITES = re.compile(r"^(?:cancel|book|update|modify|exchange|return|send)_")
AGREES = re.compile(
    r"^(?:yes|yeah|sure|okay|ok|great|perfect|that's (?:correct|right|fine)|that (?:is|sounds|works)"
    r"|go ahead|please (?:go ahead|proceed|do|cancel|book|change|make|confirm|process)|i confirm"
    r"|confirmed|correct|absolutely|let's (?:go|proceed)|sounds good)\b",
    re.IGNORECASE,
)
PROPOSES = re.compile(r"\?|\b(?:confirm|proceed|go ahead|reply)\b", re.IGNORECASE)
IDENTITY = (
    "name", "user id", "email", "zip code", "identity", "verify", "date of birth", "account",
)  # fmt: skip
Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Said:
    """A message: of the user, or of the agent with its calls, or a tool's result."""

    role: str
    text: str
    calls: Sequence[Call] = ()


@dataclass(frozen=True)
class Talk:
    model: str
    domain: str
    task: str
    won: bool
    script: str
    expected: Sequence[Call]
    said: Sequence[Said]

    @property
    def unseen(self) -> bool:
        """True for the tasks that nobody looks at while rules are written: a quarter."""
        hashed = sha256(f"{self.domain} {self.task}".encode()).digest()[0]
        return hashed % 2 == 1 and int(self.task) % 2 == 1


@dataclass(eq=False)
class Turn:
    """A turn of the agent to the user, with what came of it."""

    talk: Talk
    index: int
    text: str
    reply: str = ""
    writes: list[Call] = field(default_factory=list[Call])

    @property
    def agreed(self) -> bool:
        proposed = PROPOSES.search(self.text) and AGREES.match(self.reply)
        return bool(self.writes and proposed)

    @property
    def right(self) -> bool:
        return self.agreed and all(call in self.talk.expected for call in self.writes)

    @property
    def wrong(self) -> Sequence[Call]:
        """The calls that nobody expects and that the words show."""
        return [call for call in self.writes if self.agreed and self._shows(call)]

    def _shows(self, call: Call) -> bool:
        expected = [own for name, own in self.talk.expected if name == call[0]]
        if not expected:
            return True
        known = {str(leaf).casefold() for own in expected for leaf in leaves(own)}
        new = {str(leaf).casefold() for leaf in leaves(call[1])} - known
        text = self.text.casefold()
        return any(
            len(leaf) > 3 and leaf.replace("_", " ") in text.replace("_", " ") for leaf in new
        )


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def plain(value: Any) -> Any:
    """Arguments in a form that can be compared: 5.0 is 5, and the order of items counts for nothing."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in sorted(value.items())}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value == int(value) else value


def read(folder: Path) -> Iterator[Talk]:
    for name, (model, domain) in FILES.items():
        raw = json.loads(gzip.decompress((folder / name).read_bytes()))
        if isinstance(raw, list):
            for run in raw:
                task = run["info"]["task"]
                yield Talk(
                    model,
                    domain,
                    str(run["task_id"]),
                    run["reward"] == 1,
                    task["instruction"],
                    writes((call["name"], call["kwargs"]) for call in task["actions"]),
                    [said(message) for message in run["traj"] if message["role"] != "system"],
                )
            continue
        tasks = {task["id"]: task for task in raw["tasks"]}
        for run in raw["simulations"]:
            task = tasks[run["task_id"]]
            told = task["user_scenario"]["instructions"]
            keys = ("reason_for_call", "known_info", "task_instructions")
            actions = task["evaluation_criteria"]["actions"] or ()
            yield Talk(
                model,
                domain,
                run["task_id"],
                run["reward_info"]["reward"] == 1,
                " ".join(told[key] or "" for key in keys),
                writes((call["name"], call["arguments"]) for call in actions),
                [said(message) for message in run["messages"]],
            )


def writes(calls: Any) -> list[Call]:
    return [(name, plain(arguments)) for name, arguments in calls if WRITES.match(name)]


def said(message: Mapping[str, Any]) -> Said:
    calls: list[Call] = []
    for call in message.get("tool_calls") or ():
        if "function" in call:
            arguments = json.loads(call["function"]["arguments"])
            calls.append((call["function"]["name"], plain(arguments)))
        else:
            calls.append((call["name"], plain(call["arguments"])))
    return Said(message["role"], message.get("content") or "", calls)


def turns(talk: Talk) -> list[Turn]:
    out: list[Turn] = []
    for index, message in enumerate(talk.said):
        if message.role == "assistant" and not message.calls and message.text.strip():
            out.append(Turn(talk, index, message.text))
        elif out and message.role == "user" and not out[-1].reply:
            out[-1].reply = message.text
        elif out and message.calls:
            out[-1].writes += writes(message.calls)
    return [turn for turn in out if turn.reply and turn.index]


@lru_cache(maxsize=1)
def role(turn: Turn) -> UserRole:
    """The script of the task's user: what it wants, knows, and wants to hear before it agrees."""
    talk = turn.talk
    opening = next(message.text for message in talk.said if message.role == "user")
    script = script_of(Scenario(talk.script))
    results = [json_of(message.text) for message in talk.said if message.role == "tool"]
    consents = [
        consent_to(name, arguments, script.wants, results) for name, arguments in talk.expected
    ]
    return UserRole(
        opening,
        {
            name: Topic(text, IDENTITY if name == "identity" else ("prefer", "preference"))
            for name, text in script.topics.items()
        },
        consents[0] if consents else Consent(act=["nothing"], mentions=["-"], covers=["none"]),
        others=consents[1:],
    )


def consent_to(tool: str, arguments: Mapping[str, Any], told: str, results: list[Any]) -> Consent:
    """The condition for a call, as an action list makes it; the user knows its own payments."""
    known = {name: value for name, value in arguments.items() if name != "user_id"}
    made = consent(tool, known, SCHEMA, told, results).realised({}, None, lambda *_: "Yes.", "")
    facts = (*made.mentions, *made.if_named)
    kinds = {
        fact: [other for other in KINDS if other != kind]
        for fact in facts
        for kind in KINDS
        if fact.startswith(kind.replace(" ", "_"))
    }
    return replace(made, rivals={**made.rivals, **kinds})


SCHEMA = {
    "properties": {
        "cabin": {"enum": ["basic_economy", "economy", "business"]},
        "flight_type": {"enum": ["one_way", "round_trip"]},
        "insurance": {"enum": ["yes", "no"]},
        "reason": {"enum": ["no longer needed", "ordered by mistake"]},
    }
}
KINDS = ("gift card", "credit card", "paypal", "certificate")
"""The kinds of payment that users of both worlds have."""
CABINS: Mapping[str, Sequence[str]] = {"economy": ["business"], "business": ["economy"]}


def json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def asked(turn: Turn, text: str) -> UserTurn:
    """What our user answers after the recorded conversation so far."""
    own = role(turn)
    user = ScriptedUser().start(own, 1)
    settled: list[Consent] = []
    for earlier in turns(turn.talk):
        if earlier.index >= turn.index:
            break
        wanted = zip(turn.talk.expected, own.consents, strict=False)
        settled += [consent for call, consent in wanted if call in earlier.writes]
        user.recall(earlier.text, earlier.reply, settled)
    return user.decide(text)


Mutation = Callable[[Turn], Iterator[str]]


def other_id(turn: Turn) -> Iterator[str]:
    """Another id of the same form in the place of an expected one."""
    ids = {
        str(leaf).removeprefix("#")
        for _, arguments in turn.writes
        for leaf in leaves(arguments)
        if re.fullmatch(r"#?(?=\w*\d)[A-Z0-9]{6,}", str(leaf))
    }
    for own in sorted(ids):
        if own in turn.text:
            other = re.sub(r"\d", lambda found: str((int(found.group()) + 3) % 10), own)
            yield turn.text.replace(own, other)


def other_amount(turn: Turn) -> Iterator[str]:
    """Another sum in the place of an expected one."""
    for _, arguments in turn.writes:
        for own in {leaf for leaf in leaves(arguments) if isinstance(leaf, int) and leaf > 20}:
            pattern = rf"\${own}(?![\d,])(?:\.00)?"
            if re.search(pattern, turn.text):
                yield re.sub(pattern, f"${own * 2 + 7}", turn.text)


def other_cabin(turn: Turn) -> Iterator[str]:
    """The other direction: business for economy, and economy for business."""
    cabins = {arguments.get("cabin") for _, arguments in turn.writes} & {"economy", "business"}
    pattern = re.compile(r"\b(?<!basic )(economy|business)\b", re.IGNORECASE)
    if cabins and any(found.group().casefold() in cabins for found in pattern.finditer(turn.text)):
        other = {"economy": "business", "business": "economy"}
        yield pattern.sub(lambda found: other[found.group().casefold()], turn.text)


def other_payment(turn: Turn) -> Iterator[str]:
    """Another kind of payment in the place of an expected one, or another card."""
    kinds = {
        kind
        for _, arguments in turn.writes
        for leaf in leaves(arguments)
        for kind in KINDS
        if str(leaf).startswith(kind.replace(" ", "_"))
    }
    other = {"gift card": "PayPal account", "paypal": "gift card"}
    for own in kinds & other.keys():
        pattern = own.replace(" ", "[ _]") + r"s?(?:_\d+| account)?"
        yield re.sub(pattern, other[own], turn.text, flags=re.IGNORECASE)
    if "credit card" in kinds:
        yield re.sub(r"(end(?:ing|s) in) \d{4}", r"\1 0192", turn.text)


def other_act(turn: Turn) -> Iterator[str]:
    tools = {name.split("_")[0] for name, _ in turn.writes}
    if tools == {"cancel"} and re.search(r"cancel", turn.text, re.IGNORECASE):
        text = re.sub(r"cancell?ation", "exchange", turn.text, flags=re.IGNORECASE)
        text = re.sub(r"cancell?ing", "exchanging", text, flags=re.IGNORECASE)
        yield re.sub(r"cancel(?!l?ed)", "exchange", text, flags=re.IGNORECASE)
    for own, other in (("return", "exchange"), ("exchange", "cancel")):
        if tools == {own} and re.search(rf"\b{own}\b", turn.text, re.IGNORECASE):
            text = re.sub(rf"\b{own}ing\b", f"{other}ing", turn.text, flags=re.IGNORECASE)
            yield re.sub(rf"\b{own}\b", other, text, flags=re.IGNORECASE)


def denied(turn: Turn) -> Iterator[str]:
    last = re.split(r"(?<=[.!?:])\s+", turn.text.strip())
    kept = " ".join(part for part in last if "?" not in part and "onfirm" not in part)
    yield f"I will not change anything for now, I only read out what I have: {kept} Right?"


MUTATIONS: Mapping[str, Mutation] = {
    "other id": other_id,
    "other amount": other_amount,
    "other direction": other_cabin,
    "other payment": other_payment,
    "other act": other_act,
    "denied": denied,
}


def agrees_to(turn: UserTurn, calls: Sequence[Call]) -> bool:
    return turn.consents and not {name for name, _ in calls}.isdisjoint(turn.covers)


@dataclass
class Figures:
    """Counts of one model: of how many."""

    hits: Counter[str] = field(default_factory=Counter[str])
    of: Counter[str] = field(default_factory=Counter[str])

    def add(self, kind: str, hit: bool) -> bool:
        self.of[kind] += 1
        self.hits[kind] += hit
        return hit


def measure(talks: Sequence[Talk], show: str = "") -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for talk in talks:
        figures = found.setdefault(f"{talk.model} {talk.domain}", Figures())
        own = turns(talk)
        for position, turn in enumerate(own):
            answer = asked(turn, turn.text)
            if turn.right:
                shown(
                    show,
                    "right",
                    turn,
                    turn.text,
                    answer,
                    bad=not figures.add("right", agrees_to(answer, turn.writes)),
                )
                for kind, mutate in MUTATIONS.items():
                    for text in mutate(turn):
                        if text != turn.text:
                            bad = figures.add("wrong", agrees_to(asked(turn, text), turn.writes))
                            figures.add(f"wrong: {kind}", bad)
                            shown(show, kind, turn, text, answer, bad=bad)
            elif wrong := turn.wrong:
                bad = figures.add("wrong", agrees_to(answer, wrong))
                figures.add("wrong: as recorded", bad)
                shown(show, "recorded", turn, turn.text, answer, bad=bad)
            later = [
                call for other in own[position:] for call in other.writes if call in talk.expected
            ]
            open_part = bool(later) or asks(turn)
            bad = figures.add("early end", answer.ends and open_part)
            shown(show, "ends", turn, turn.text, answer, bad=bad)
    return found


def asks(turn: Turn) -> bool:
    """True for a question after which the recorded user went on."""
    goes_on = not re.search(r"#{3}(?:STOP|TRANSFER)", turn.reply)
    last = turn.text.strip().splitlines()[-1]
    closing = re.search(r"\belse\b|\bfurther\b|\bmore\b|\bother\b|\bassist|\bhelp\b", last)
    return goes_on and "?" in turn.text and not closing


def shown(show: str, kind: str, turn: Turn, text: str, answer: UserTurn, *, bad: bool) -> None:
    if bad and kind in show.split(","):
        talk = turn.talk
        print(
            f"== {kind}: {talk.model} {talk.domain} {talk.task}\nAGENT: {text}\nRECORDED: {turn.reply}"
        )
        print(f"OURS: {answer.text} {answer.covers}\nCALLS: {json.dumps(turn.writes)}")
        print(
            f"CONSENTS: {[(c.mentions, c.forms, c.never, c.covers) for c in role(turn).consents]}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("seen", "unseen"))
    parser.add_argument("--show", default="", help="print the misses of these kinds, by commas")
    given = parser.parse_args()
    talks = [
        talk
        for talk in read(given.folder)
        if given.half is None or talk.unseen is (given.half == "unseen")
    ]
    for name, figures in measure(talks, given.show).items():
        for kind, count in sorted(figures.of.items()):
            share = 100 * figures.hits[kind] / count
            print(f"{name:20} {kind:24} {figures.hits[kind]:4} of {count:4}  {share:5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
