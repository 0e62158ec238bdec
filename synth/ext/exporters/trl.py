"""Files for the trainers of TRL: SFTTrainer, KTOTrainer, DPOTrainer and GRPOTrainer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import PositiveInt

from synth.ext.exporters.base import (
    Example,
    Exporter,
    Message,
    Row,
    has_untrained,
    last_turn,
    prompt_part,
    row_key,
    trained_runs,
    without_marks,
)
from synth.ext.exporters.files import Columns
from synth.ext.exporters.prompts import PromptExporter, prompt_of, task_identity, tools_of
from synth.ext.exporters.row_policy import Unit
from synth.ext.exporters.siblings import (
    NO_SIBLING,
    SAME_REWARD,
    by_task,
    from_one_state,
    shared_start,
)


class TrlGrpo(PromptExporter):
    """Prompts for TRL.

    An environment of TRL gets every column as an argument of its ``reset``: ``task_id``, ``env``,
    ``universe`` and the rest say which task to set up. ``tools`` are the schemas of the task's
    tools.
    """

    name = "trl-grpo"
    description = "TRL GRPOTrainer: Parquet with a prompt of each task and the task's id"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "tools"), "list<json>"),
        **dict.fromkeys(("task_id", "env", "env_digest", "family", "case", "split"), "str"),
        **dict.fromkeys(("universe", "samples"), "int32"),
        "pass_rate": "float64",
    }

    def example(self, group: Sequence[Row], number: int) -> Example:
        return {"prompt": prompt_of(group), "tools": tools_of(group), **task_identity(group)}


class TrlSft(Exporter):
    """Files for supervised fine-tuning with TRL.

    Arguments stay objects and unused keys stay absent, as chat templates expect. ``datasets`` 5
    loads the file as it is: ``load_dataset("parquet", data_files=FILE)``.

    In this format TRL trains on every assistant turn; there is no mask per message, not even with a
    template that marks generation. Turns that must not be trained on (``train: false``, for
    instance a malformed call) are removed at the end of a conversation; a row with one before a
    turn to train on is left out as a whole and counted.

    The view ``segments`` and the unit ``turn`` write TRL's other format, ``prompt`` and
    ``completion`` beside ``tools``: one example for each run of turns to train on (for each turn),
    after the context that the model was sent. No row is left out for a turn that must not be
    trained on: it is part of a prompt. Train it with ``assistant_only_loss=True``, because
    completions contain tool results too; TRL then counts the loss where both masks agree.
    """

    name = "trl-sft"
    description = "TRL SFTTrainer: Parquet with messages and tools"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = dict.fromkeys(("messages", "tools"), "list<json>")
    length_limit = ("TRL", "SFTConfig(max_length=1024)")
    columns = ("messages", "segments", "tools")
    views = ("full", "segments")

    @property
    def _in_runs(self) -> bool:
        return self.view == "segments" or self.unit == "turn"

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            tools = list(row["tools"])
            if self._in_runs:
                for messages in self.trained(row):
                    for prompt, completion in trained_runs(messages):
                        self.exported(row, [*prompt, *completion], len(prompt))
                        yield {
                            "prompt": list(prompt),
                            "completion": list(completion),
                            "tools": tools,
                        }
            else:
                for messages in self.unmasked(row):
                    self.exported(row, messages)
                    yield {"messages": list(messages), "tools": tools}

    def write(self, examples: Iterable[Example], out: Path) -> int:
        names = ("prompt", "completion", "tools") if self._in_runs else tuple(self.parquet)
        return self.written(examples, out, dict.fromkeys(names, "list<json>"))


class TrlKto(Exporter):
    """Rollouts that are desirable or not, for TRL.

    Every scored row is an example; ``label`` is true for a success. The completion of a success is
    its last run of turns to train on, so that a turn that must not be trained on (and what leads to
    it) is part of the prompt. The completion of a failure is all that comes after the opening.
    """

    name = "trl-kto"
    description = "TRL KTOTrainer: Parquet with prompt, completion and label"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "completion", "tools"), "list<json>"),
        "label": "bool",
    }
    length_limit = ("TRL", "KTOConfig(max_length=1024)")
    columns = ("messages", "tools", "outcome")
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            messages, label = row["messages"], row["outcome"] == "success"
            cut = next(iter([*trained_runs(messages)][::-1]), None) if label else _bad(messages)
            if cut is None:
                self.leave_out(
                    row, "no turn that may be trained on" if label else "no turn of the assistant"
                )
                continue
            prompt, completion = cut
            self.exported(row, [*prompt, *completion], len(prompt))
            yield {
                "prompt": without_marks(prompt),
                "completion": without_marks(completion),
                "label": label,
                "tools": list(row["tools"]),
            }


_Cut = tuple[Sequence[Message], Sequence[Message]] | None


def _bad(messages: Sequence[Message]) -> _Cut:
    start, end = len(prompt_part(messages)), last_turn(messages)
    return (messages[:start], messages[start:end]) if end > start else None


_MORE = "not in one of the pairs of its task (--option pairs=N makes more)"


@dataclass(frozen=True)
class _PairOptions:
    """Options of ``trl-dpo``: the largest number of pairs of a task, and the end of an answer."""

    pairs: PositiveInt = 1
    completion: Literal["rollout", "turn"] = "turn"


class TrlDpo(Exporter):
    """Preference pairs for TRL.

    Pairs are made of the samples of one task: the best against the worst, the second best against
    the second worst, and so on, as long as their rewards differ. A sample that cannot be chosen
    uses up no other. Both samples share the prompt: everything before the first turn in which they
    differ. So a pair begins with the two ways to go on from the very same state.

    Branches (`synth branch`) of one turn are paired, with the rollout that they branch from where
    that is exported, too: their database was the same, and the pair says what the turn was worth.

    ``chosen`` and ``rejected`` go to the last turn of the assistant, or (``completion=turn``) hold
    only the first turn that differs: no result of a tool is in it, but the first difference need
    not be the decisive one. DPO has no loss masks, so a chosen sample with a turn that must not be
    trained on after the shared part makes no pair.
    """

    name = "trl-dpo"
    description = "TRL DPOTrainer: Parquet with prompt, chosen and rejected, of samples of one task"
    suffix = ".parquet"
    parquet: ClassVar[Columns] = {
        **dict.fromkeys(("prompt", "chosen", "rejected", "tools"), "list<json>"),
        "task_id": "str",
        **dict.fromkeys(("chosen_reward", "rejected_reward"), "float64"),
    }
    length_limit = ("TRL", "DPOConfig(max_length=1024)")
    columns = (
        *("task_id", "messages", "tools", "reward"),
        *("trajectory_id", "parent_id", "branch_step"),
    )
    min_reward = None
    units: ClassVar[tuple[Unit, ...]] = ("rollout",)
    by_task = True
    Options = _PairOptions

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for task in by_task(rows, self.task_sizes):
            paired: dict[object, list[tuple[Sequence[Message], int]]] = {}
            missing: dict[object, str] = {}
            for group in from_one_state(task):
                yield from self._pairs(group, paired, missing)
            for row in task:
                key = row_key(row)
                for messages, start in paired.get(key, ()):
                    self.exported(row, messages, start)
                if key not in paired:
                    self.leave_out(row, missing.get(key, _MORE))

    def _pairs(
        self,
        group: Sequence[Row],
        paired: dict[object, list[tuple[Sequence[Message], int]]],
        missing: dict[object, str],
    ) -> Iterator[Example]:
        """Yield the pairs of a group. Note the conversations of its rows that are in one and where
        their answers start, or why there is none.
        """
        ranked = sorted(group, key=lambda row: -row["reward"])
        if ranked[0]["reward"] == ranked[-1]["reward"]:
            reason = NO_SIBLING if len(group) == 1 else SAME_REWARD
            missing.update(dict.fromkeys(map(row_key, group), reason))
            return
        pairs = 0
        while len(ranked) > 1 and pairs < self.options.pairs:
            best = ranked.pop(0)
            for worst in reversed(ranked):
                if best["reward"] <= worst["reward"]:
                    break
                example = self._pair(best, worst)
                if isinstance(example, str):
                    missing.setdefault(row_key(best), example)
                    continue
                ranked = [row for row in ranked if row is not worst]
                start = len(example["prompt"])
                for row, side in ((best, "chosen"), (worst, "rejected")):
                    whole = row["messages"][: start + len(example[side])]
                    paired.setdefault(row_key(row), []).append((whole, start))
                pairs += 1
                yield example
                break

    def _pair(self, best: Row, worst: Row) -> Example | str:
        """Return the pair of two samples, or the reason why there is none."""
        chosen, rejected = best["messages"], worst["messages"]
        start = shared_start(chosen, rejected)
        good, bad = (messages[start : last_turn(messages)] for messages in (chosen, rejected))
        if self.options.completion == "turn":
            good, bad = good[:1], bad[:1]
        if not start:
            return "samples of one task that open differently"
        if not good or not bad or without_marks(good) == without_marks(bad):
            return "no turn that differs from another sample"
        if has_untrained(good):
            return "a chosen sample with a turn that must not be trained on"
        return {
            "prompt": without_marks(chosen[:start]),
            "chosen": without_marks(good),
            "rejected": without_marks(bad),
            "tools": list(best["tools"]),
            "task_id": best["task_id"],
            "chosen_reward": best["reward"],
            "rejected_reward": worst["reward"],
        }
