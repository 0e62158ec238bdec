"""``synth narrate``: a teacher writes reasoning and words into recorded rollouts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from synth.config import RunConfig, from_dict, to_dict
from synth.core.cli.command import Arguments, command
from synth.core.cli.consent_question import consent_by
from synth.core.cli.end_report import conclude, exit_code, to_json
from synth.core.cli.live_options import model_overrides
from synth.core.config.compose import compose
from synth.core.config.quoting import quoted_value
from synth.core.dataset.reader import Dataset
from synth.core.foundation.standard_output import say
from synth.core.runner.run_files import recorded_config
from synth.errors import OperatorError
from synth.ext.rationales import NarrateConfig
from synth.ext.rationales.narrate import NOTE
from synth.ext.rationales.plan import NarrationPlan, narration_plan
from synth.launch import launch
from synth.task import NarratedPart

HELP = """synth narrate

Have a teacher model write, in hindsight, the reasoning and the words of recorded rollouts that
succeeded. Makes a dataset whose rows name their source.

arguments:
  DIR                 a run directory
  [key=value...]      overrides of model, runtime, budget, output, telemetry, card, preflight
options:
  --model NAME        the model at the endpoint (required)
  --base-url URL      an OpenAI-compatible endpoint, by default without a key
  --api-key-env NAME  the environment variable that holds its key
  --write A,B         reasoning, words (beside calls), reply (at the end) [default: reasoning,words]
  --where SQL         rows to narrate (default: all)
  --limit N           the first N of them only
  --tries 1-10        attempts at one text; then the turn stays as it was [default: 3]
  --concurrency N     requests to the teacher at once, at most
  --out DIR           where the new dataset goes
  --dry-run           list the rows to narrate; ask nobody
  --trust             execute the Python of a run directory from another machine, unasked
  --json              print the report as JSON

examples:
  synth narrate out/ehr --model my-model --base-url http://localhost:8000/v1
  synth narrate out/ehr --model gpt-5 --api-key-env OPENAI_API_KEY --write reasoning,words,reply \\
      --where "num_tool_calls > 2" --out out/narrated budget.usd=5
  synth narrate out/ehr --model my-model --base-url http://localhost:8000/v1 --limit 8
  synth export out/narrated --to trl-sft --template qwen3-training --out train.parquet

Only rollouts that succeeded are narrated. Calls, results and the user's turns stay as they are; a
text that says what was not known at its place is asked for again, and every row is scored again. A
stopped run goes on with `synth run --resume OUT`; the recorded run has to be there for it.
"""

OWN = ("model", "runtime", "budget", "output", "telemetry", "card", "preflight")
"""Sections and keys that a run of narrations does not take from the recorded run."""

RULE_USERS = ("scripted", "none")
"""Users who can be asked how they take another last reply."""


@command(HELP)
def main(options: Arguments) -> int:
    """Narrate a run. Returns the new run's exit code.

    Raises OperatorError, ConfigProblems, DatasetError, UntrustedCode and the errors of worlds.
    """
    config = _config(options)
    if options.dry_run:
        _show(
            narration_plan(config.section(NarrateConfig), config.tasks, config.seed),
            as_json=options.json,
        )
        return 0
    console = Console(stderr=True, highlight=False)
    report = launch(config, console, consent=consent_by(options.trust))
    counts = _NarrationCounts()
    if report.totals.rows:
        with Dataset.open(report.directory) as dataset:
            counts = _NarrationCounts.of(dataset.rows(["provider_fields"]))
    if options.json:
        say(json.dumps(to_json(report) | {"narration": counts.to_json()}))
        return exit_code(report)
    for line in counts.lines():
        say(line)
    return conclude(report, as_json=False)


def _config(options: Arguments) -> RunConfig:
    """The recorded run's config, with the teacher as its model.

    Raises OperatorError for an option that makes no sense.
    """
    recorded = recorded_config(options.dir)
    (composed,) = compose(_overrides(options))
    if composed.config.model.kind in {"scripted", "replay"}:
        raise OperatorError(
            "narration takes a model that can write: name it with --model NAME, and --base-url URL"
            " for an endpoint of yours"
        )
    base, new = to_dict(recorded), to_dict(composed.config)
    raw = base | {name: new[name] for name in OWN}
    write = _parts(options.write)
    raw.pop("branch", None)
    raw["narrate"] = {
        "path": str(options.dir),
        "where": options.where,
        "write": write,
        "tries": options.tries,
    }
    raw["users"] = _users(base["users"], options.dir, write)
    raw["agent"] = base["agent"] | {
        # Nobody is asked for turns, so that no context has to be kept short.
        "middleware": [name for name in recorded.agent.middleware if name != "compaction"]
    }
    raw["tasks"] = base["tasks"] | {"samples": 1, "count": options.limit or 2**62}
    config = from_dict(raw)
    plan = narration_plan(config.section(NarrateConfig), config.tasks, config.seed)
    return from_dict(raw | {"tasks": raw["tasks"] | {"count": plan.tasks}})


def _overrides(options: Arguments) -> list[str]:
    """The overrides that Hydra composes.

    Raises OperatorError for an override of what the recorded run decides.
    """
    given: list[str] = []
    for text in options.overrides:
        section = text.lstrip("+~").partition("=")[0].partition(".")[0]
        if section not in OWN:
            raise OperatorError(
                f"{text}: a narrated rollout is played as its recorded run was; what can be set"
                f" here is {', '.join(OWN)}"
            )
        given.append(text)
    own = model_overrides(options)
    if options.concurrency is not None:
        own.append(f"model.max_concurrency={options.concurrency}")
    if options.out is not None:
        own.append(f"output.dir={quoted_value(str(options.out))}")
    return [*own, *given]


def _parts(names: list[str]) -> list[NarratedPart]:
    """The texts to write. Raises OperatorError for a name of none."""
    known: tuple[NarratedPart, ...] = get_args(NarratedPart)
    if wrong := [name for name in names if name not in known]:
        raise OperatorError(
            f"--write: {wrong[0]!r} is not a text that can be written; choose from"
            f" {', '.join(known)}"
        )
    return [part for part in known if part in names]


def _users(users: Mapping[str, Any], path: Path, write: list[NarratedPart]) -> Mapping[str, Any]:
    """The users section: a user whom a model played says again what it said.

    Raises OperatorError for a reply to such a user, who cannot be asked how it takes other words.
    """
    if users["kind"] in RULE_USERS:
        return users
    if "reply" in write:
        raise OperatorError(
            f"--write reply: the user of {path} is users={users['kind']}, who cannot be asked"
            " how it takes other last words; leave reply out"
        )
    if users["kind"] == "replay":
        return users
    return to_dict(RunConfig())["users"] | {"kind": "replay", "path": str(path.absolute())}


def _show(plan: NarrationPlan, *, as_json: bool) -> None:
    """Print the rows that would be narrated; nobody is asked."""
    rows = [{"trajectory_id": point.parent, "family": point.family} for point in plan.points]
    if as_json:
        say(json.dumps({"rows": rows, "notes": list(plan.notes)}))
        return
    for row in rows:
        say(f"{row['trajectory_id']}  {row['family']}")
    for note in plan.notes:
        say(f"note: {note}")
    say(f"{len(rows)} rollouts; nobody was asked")


@dataclass
class _NarrationCounts:
    """Texts by part, refused texts by their fault, and turns: ``asked`` are those that the teacher
    was asked about, ``narrated`` those into which it wrote, ``short`` those that lack a text which
    was asked for.
    """

    asked: int = 0
    narrated: int = 0
    short: int = 0
    wrote: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> _NarrationCounts:
        """The counts of rows, of which ``provider_fields`` is read."""
        counts = cls()
        for row in rows:
            for turn in row["provider_fields"]:
                if NOTE in turn:
                    counts.add(turn[NOTE])
        return counts

    def add(self, note: Mapping[str, Any]) -> None:
        """Count the note on one turn."""
        refused = [text["part"] for text in note["refused"]]
        self.asked += 1
        self.narrated += bool(note["wrote"])
        self.short += bool({*refused} - {*note["wrote"]})
        self.wrote.update(note["wrote"])
        self.refused.update(text["kind"] for text in note["refused"])

    def to_json(self) -> dict[str, Any]:
        return {
            "turns": self.asked,
            "narrated_turns": self.narrated,
            "turns_short_of_a_text": self.short,
            "wrote": dict(self.wrote),
            "refused": dict(self.refused.most_common()),
        }

    def lines(self) -> list[str]:
        """The counts for people."""
        wrote = ", ".join(f"{count:,} {part}" for part, count in sorted(self.wrote.items()))
        out = [f"narrated {self.narrated:,} of {self.asked:,} turns: {wrote or 'nothing'}"]
        if self.refused:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.refused.most_common())
            out.append(f"refused {self.refused.total():,} texts: {kinds}")
        if self.short:
            out.append(f"{self.short:,} turns lack a text: no attempt at it was good enough")
        return out
