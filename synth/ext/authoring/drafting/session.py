"""A job of drafts: a model is asked for families one after another, and what proves itself is kept.

An answer is kept in the journal before it is looked at. The same job goes on after any end: what
is in the journal is not asked again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from synth.core.tasks.yaml.source_map import Map, load_yaml
from synth.core.tasks.yaml.words import FAMILY_ID
from synth.errors import TaskError
from synth.ext.authoring.asking.budget import AskingBudget
from synth.ext.authoring.asking.journal import AskingJournal
from synth.ext.authoring.asking.questions import AskingSession, Refusal
from synth.ext.authoring.drafting.prompt import DraftOutcome, feedback, opening
from synth.ext.authoring.drafting.workbench import Workbench, numbered
from synth.model import Model
from synth.plugins import REWARDS

LONGEST = 16_000
"""The most characters of a family."""

_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:ya?ml)?[ \t]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL
)
_OWN_KEYS = {
    "source": "it is filled in for you",
    "honest": "a family that you write has to reward all honest agents",
}
_OWN_ID = "a family needs an `id` of letters, digits and _"


def _read_family(answer: str, scratch: Path, taken: Collection[str]) -> dict[str, Any]:
    """The family that an answer holds. ``scratch`` is a file for its YAML, ``taken`` are the ids
    that the world has.

    Raises :class:`Refusal`.
    """
    text = _yaml_of(answer)
    if len(text) > LONGEST:
        raise Refusal("too long", (f"the YAML has {len(text):,} characters, {LONGEST:,} may be",))
    _refuse_aliases(text)
    scratch.write_text(text, "utf-8")
    try:
        family = _one_family(load_yaml(scratch))
    except TaskError as error:
        line = f"line {error.line} of your YAML: " if error.line else ""
        raise Refusal("not YAML", (f"{line}{error.message}",)) from None
    _check_id(family.get("id"), taken)
    _refuse_own_keys(family)
    _check_gates(family.get("gates"))
    return dict(family)


def _yaml_of(answer: str) -> str:
    """The longest fenced block, or else the whole answer."""
    blocks = [found.group(1) for found in _FENCE.finditer(answer)]
    text = max(blocks, key=len) if blocks else answer
    return text.encode("utf-8", "replace").decode("utf-8")


def _refuse_aliases(text: str) -> None:
    """Refuse anchors and aliases, by which a short text may become an endless one."""
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise Refusal("not YAML", ("YAML aliases (`*name`) are not allowed: write it out",))
    except (yaml.YAMLError, RecursionError):
        return  # reading it reports the mistake with its line


def _one_family(root: object) -> Map:
    """The only family of a document: a list of one, a mapping with `families`, or itself."""
    if isinstance(root, Map) and "families" in root:
        root = root["families"]
    items = cast("list[object]", root) if isinstance(root, list) else [root]
    families = [item for item in items if isinstance(item, Map)]
    if not families or len(families) < len(items):
        message = "no family: answer with one ```yaml block that begins `- id: ...`"
        raise Refusal("no YAML", (message,))
    if len(families) > 1:
        raise Refusal("several families", (f"there are {len(families)} families: write one",))
    return families[0]


def _check_id(name: object, taken: Collection[str]) -> None:
    if not isinstance(name, str) or not FAMILY_ID.fullmatch(name):
        raise Refusal("notation", (f"{_OWN_ID}, not {str(name)[:80]!r}",))
    if name in taken:
        raise Refusal("duplicate", (f"the world has a family {name!r} already: write another",))


def _refuse_own_keys(family: Mapping[str, Any]) -> None:
    """Refuse keys by which a family would excuse itself from proofs."""
    for key, why in _OWN_KEYS.items():
        if key in family:
            raise Refusal("not allowed", (f"leave out `{key}`: {why}",))
    reply = family.get("reply")
    if isinstance(reply, Map) and "unjudged" in reply:
        raise Refusal("not allowed", ("leave out `unjudged`: replies are judged",))


def _check_gates(gates: object) -> None:
    """Refuse gates that do not ship: their names are paths of Python code."""
    for entry in cast("list[object]", gates) if isinstance(gates, list) else []:
        names = list(cast("Mapping[str, object]", entry)) if isinstance(entry, Map) else [entry]
        for name in names:
            if not isinstance(name, str) or name not in REWARDS.builtin:
                known = ", ".join(sorted(REWARDS.builtin))
                raise Refusal("not allowed", (f"no gate {str(name)[:80]!r} here: use {known}",))


@dataclass(frozen=True)
class DraftJob:
    """The parameters of a job of drafts. ``world`` is the text by which the model knows the world,
    ``tools`` are the names of the world's tools.
    """

    world: str
    tools: Sequence[str]
    count: int
    attempts: int
    seed: int
    budget: AskingBudget


class DraftSession(AskingSession[DraftOutcome]):
    """Makes the drafts of a job. Close it."""

    what = "a family"

    def __init__(
        self, job: DraftJob, model: Model, bench: Workbench, journal: AskingJournal[DraftOutcome]
    ) -> None:
        super().__init__(model, journal, job.seed, job.budget)
        self._job, self._bench = job, bench

    def run(self) -> Iterator[DraftOutcome]:
        """The outcome of each draft, earlier sessions first.

        Raises :class:`AskingStopped` where the budget is spent or the endpoint cannot be asked,
        and :class:`ModelRefusedRequest` where it never will answer.
        """
        for outcome in self._journal.ends.values():
            self._add(outcome)
        for number in range(self._job.count):
            outcome = self._journal.ends.get((number,)) or self._drafted(number)
            self._add(outcome)
            yield outcome

    def _add(self, outcome: DraftOutcome) -> None:
        """Add a family that was kept, unless that has been done; its author may delete it again."""
        if outcome.body is not None and str(outcome.draft) not in self._journal.added:
            self._bench.add(outcome.body)
            self._journal.has_added([str(outcome.draft)])

    def _drafted(self, number: int) -> DraftOutcome:
        """One draft, from the first request to the family or the last reason."""
        left_out = [outcome for outcome in self._journal.ends.values() if not outcome.kept]
        bench, job = self._bench, self._job
        known = bench.known.signatures
        messages = opening(job.world, job.tools, number, bench.bodies, known, left_out)
        refusal, family = Refusal("no attempt", ("nothing was asked",)), None
        for attempt in range(1, self._job.attempts + 1):
            answer = self._runner.run(self.answer((number, attempt), messages))
            body: dict[str, Any] | None = None
            try:
                if answer.problem:
                    raise Refusal("no answer", (answer.problem,))
                body = _read_family(answer.text, bench.scratch, bench.taken)
                family = str(body["id"])
                noted = {**body, "source": {"model": self._model.name, "attempts": attempt}}
                found = self._bench.prove(noted)
            except Refusal as error:
                refusal = error
                shown = "" if body is None else numbered(body)
                messages = [
                    *messages,
                    {"role": "assistant", "content": answer.text[:LONGEST] or "(no text)"},
                    {"role": "user", "content": feedback(error, shown)},
                ]
                continue
            self._bench.learn(found)
            outcome = DraftOutcome(number, family, attempt, capacity=found.capacity, body=noted)
            self._journal.ended((number,), outcome)
            return outcome
        outcome = DraftOutcome(number, family, self._job.attempts, refusal.cause, refusal.reason)
        self._journal.ended((number,), outcome)
        return outcome
