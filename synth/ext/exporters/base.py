"""The contract of an exporter.

One object serves one export: it turns the rows of the dataset into examples
(:meth:`Exporter.rows`), accounts for each row, and writes the examples
(:meth:`Exporter.write`). The selection of rows, the place of the file and its appearance as a whole
or not at all are the business of :mod:`synth.ext.exporters.exporting`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from envs.ledger import Ledger
from envs.plugins import Contract
from synth.ext.exporters.files import Columns, write_jsonl, write_parquet
from synth.ext.exporters.lengths import Lengths
from synth.ext.exporters.rendering.presets import Preset
from synth.ext.exporters.row_policy import REASONING, Calls, Ids, Unit

if TYPE_CHECKING:
    from synth.ext.exporters.rendering.gate import RenderGate

Row = Mapping[str, Any]
"""A row of the dataset, JSON columns decoded, with at least the exporter's ``columns``, its
``trajectory_id``, and in ``row_number`` its place in an export of several datasets.
"""
Message = Mapping[str, Any]
Example = dict[str, Any]
"""One training example with the keys of the target."""
View = Literal["full", "segments"]
"""Treatment of a row whose context was compacted during the rollout: the whole conversation as one,
or each context as it was sent to the model.
"""

Form = Literal["columns", "plain", "lines"]
"""How a target with Parquet columns is written: JSON columns of Arrow's own type, as plain texts of
JSON, or as JSON lines.
"""

MinReward = float | Literal["success"] | None
"""The rows that are exported: those with at least that reward, successes, or (None) all scored
ones. A success passes every gate; a world's weighted scores may put its reward below 1.
"""


class Exporter(Contract, ABC):
    """A file format of a trainer or a service.

    ``description`` is one line, ``suffix`` the ending of the file's name (empty for a directory),
    ``name`` the part of the default file name before it, ``columns`` the columns of the dataset
    that :meth:`rows` reads. ``min_reward`` says which rows are exported unless the operator says
    otherwise: ``"success"``, those that pass every gate; a number, those with at least that reward;
    None, every scored row (for targets that learn from contrast). ``views`` are the supported
    views, ``units`` the supported units. ``calls`` and ``ids`` are the forms that the target needs
    of calls, unless the operator asks for others. ``by_task`` is True if the exporter reads
    :attr:`task_sizes`, ``prompts`` if it exports only the opening of a task's first row: a template
    is then asked about that one, for all rows of the task. ``keeps_reasoning`` is False if the
    target has no place for the reasoning of a turn. ``encodes`` is True if the exporter itself
    encodes texts, so that a control mark in a text stays text; others leave out rows with one.
    ``marks`` are control marks that the exporter itself writes, beside the template's.

    An exporter with options declares their typed model, a dataclass or a pydantic model, as the
    class attribute ``Options``; it is constructed with an instance of it, filled in from
    ``synth export --option key=value``. An exporter without ``Options`` is constructed without
    arguments.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    suffix: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ("messages", "tools")
    min_reward: ClassVar[MinReward] = "success"
    views: ClassVar[tuple[View, ...]] = ("full",)
    units: ClassVar[tuple[Unit, ...]] = ("rollout", "turn")
    calls: ClassVar[Calls] = "parallel"
    ids: ClassVar[Ids] = "recorded"
    by_task: ClassVar[bool] = False
    prompts: ClassVar[bool] = False
    keeps_reasoning: ClassVar[bool] = True
    encodes: ClassVar[bool] = False
    marks: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[object] | None] = None
    parquet: ClassVar[Columns] = {}
    """The columns of a Parquet file with an example in each row; empty for lines of JSON."""
    length_limit: ClassVar[tuple[str, str] | None] = None
    """The trainer, and its setting with the default past which it cuts or drops examples unsaid."""
    view: View = "full"
    """The view of this export."""
    unit: Unit = "rollout"
    """The unit of this export: :meth:`rows` gets a row for each rollout, or for each turn to train
    on, in which every other turn has ``train: false``.
    """
    form: Form = "columns"
    """The form of this export's Parquet columns."""
    template: Preset | None = None
    """The chat template of this export, if the operator names one."""
    tokenizer: str | None = None
    """The model's ``tokenizer.json``, if the operator names one."""
    gate: RenderGate | None = None
    """The check of this export by its chat template."""
    task_sizes: Mapping[str, int] | None = None
    """Number of rows of each task in the stream, less those refused by the template so far; None if
    it is not known.
    """

    def __init__(self, options: object | None = None) -> None:
        self.options: Any = self.Options() if options is None and self.Options else options
        self.lengths = Lengths()
        self.account = Ledger()
        """The rows that were found, and what became of each; the turns that lose reasoning."""
        self._row = _RowAccount("", None)

    @abstractmethod
    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        """Yield the examples that these rows make, in order.

        Each row is accounted for by :meth:`exported` or :meth:`leave_out`. The whole stream
        passes through, in the order of the plan, so that a target may pair the samples of one task.
        """

    def write(self, examples: Iterable[Example], out: Path) -> int:
        """Write all examples to ``out``, which does not exist yet, and flush them to disk: as JSON
        lines, or as Parquet where :attr:`parquet` has columns.

        Returns the number of examples.
        """
        return self.written(examples, out, self.parquet)

    def written(self, examples: Iterable[Example], out: Path, columns: Columns) -> int:
        """Write examples with these columns in the form of this export."""
        if not columns or self.form == "lines":
            return write_jsonl(examples, out)
        return write_parquet(examples, out, columns, plain=self.form == "plain")

    def remark(self) -> str:
        """Lines for the operator about the file that was written; empty for none."""
        lines = [self.lengths.line()]
        if self.length_limit is not None:
            trainer, setting = self.length_limit
            lines.append(
                f"{trainer} cuts or drops longer examples without a word: its default is {setting};"
                " set it above the longest"
            )
        if self.form == "columns" and any("json" in str(kind) for kind in self.parquet.values()):
            lines.append("`datasets` 5 reads the JSON columns as they are; for 3 and 4 use --plain")
        return "\n".join(filter(None, lines))

    def leave_out(self, row: Row, reason: str) -> None:
        """Account for a row, or one of its conversations, that is not exported."""
        self._of(row).left_out.append(reason)

    def close(self) -> Ledger:
        """Return the whole account, after the last row."""
        self._enter(_RowAccount("", None))
        return self.account

    def _enter(self, following: _RowAccount) -> None:
        """Enter the account of the present row; the ``following`` one takes its place."""
        self._row.enter(self.account)
        if not self._row.exported:
            self.lengths.found.pop(self._row.key, None)
        self._row = following

    def _of(self, row: Row) -> _RowAccount:
        """Return the account of a row, after entering the account of the row before."""
        if row_key(row) != self._row.key:
            self._enter(_RowAccount(row["trajectory_id"], row_key(row)))
        return self._row

    def rendered(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row that the trainer renders with the chat template.

        Needs the columns ``messages`` and ``segments``.
        """
        segments: Sequence[Row] = row["segments"] if self.view == "segments" else ()
        conversations: list[Sequence[Message]] = [part["messages"] for part in segments]
        conversations = conversations or [row["messages"]]
        return [messages[: last_turn(messages)] for messages in conversations]

    def exported(self, row: Row, messages: Sequence[Message] = (), start: int = 0) -> None:
        """Account for a row that is exported, and for those turns of a conversation of it, from
        the message ``start`` on, that lose their reasoning. An exporter calls it for each
        conversation.
        """
        account = self._of(row)
        account.exported = True
        turns = {
            index
            for index, message in enumerate(messages)
            if index >= start and message.get("train") is not False
            if any(message.get(key) for key in REASONING)
        }
        if turns and not self.keeps_reasoning:
            account.lost[f"loses its reasoning: {self.name} has no place for it"] += len(turns)
        elif turns and self.gate is not None:
            lost = turns.intersection(self.gate.lost_reasoning(messages, row["tools"]))
            account.lost[f"loses its reasoning: {self.gate.name} does not render it"] += len(lost)
        account.turns += len(turns)
        if self.gate is not None and self.gate.loses_descriptions(messages, row["tools"]):
            account.change = f"{self.gate.name} does not render the descriptions of its tools"

    def trained(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row up to their last turn to train on; a row without one is counted.

        Needs the columns ``messages`` and ``segments``.
        """
        parts = [part for whole in self.conversations(row) if (part := _trainable_part(whole))]
        if not parts:
            self.leave_out(row, "no turn that may be trained on")
        return parts

    def unmasked(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row for a target that trains on every turn of the assistant.

        A conversation with a turn that must not be trained on is left out and counted.
        """
        parts = self.trained(row)
        kept = [part for part in parts if not has_untrained(part)]
        for _ in range(len(parts) - len(kept)):
            self.leave_out(
                row, f"a turn that must not be trained on, and {self.name} has no loss masks"
            )
        return kept

    def conversations(self, row: Row) -> Sequence[Sequence[Message]]:
        """Conversations of a row in the view of this export; needs the columns ``messages`` and
        ``segments``.
        """
        if self.view == "segments" and row["segments"]:
            return [segment["messages"] for segment in row["segments"]]
        if row["segments"]:
            self._of(row).change = (
                "compacted during the rollout: the model never saw the messages as a whole;"
                " --view segments exports each context as the model saw it"
            )
        return [row["messages"]]


@dataclass(slots=True)
class _RowAccount:
    """The conversations of one row that were exported or left out."""

    name: str
    key: object
    exported: bool = False
    change: str = ""
    turns: int = 0
    lost: Counter[str] = field(default_factory=Counter[str])
    left_out: list[str] = field(default_factory=list[str])

    def enter(self, account: Ledger) -> None:
        if self.exported:
            change = self.change or (f"without a part: {self.left_out[0]}" if self.left_out else "")
            if change:
                account.change("row", self.name, change)
            else:
                account.use("row")
            account.found("reasoning turn", self.turns)
            account.use("reasoning turn", self.turns - self.lost.total())
            for why, count in (+self.lost).items():
                account.change("reasoning turn", self.name, why, count)
        elif self.left_out:
            account.leave_out("row", self.name, self.left_out[0])


def row_key(row: Row) -> object:
    """Return what tells a row from all others; two datasets may hold rows of one trajectory id."""
    return row.get("row_number", row["trajectory_id"])


def has_untrained(messages: Sequence[Message]) -> bool:
    """Tell whether a conversation has a turn that must not be trained on."""
    return any(message.get("train") is False for message in messages)


def prompt_part(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages before the first turn of the assistant."""
    return [*takewhile(lambda message: message["role"] != "assistant", messages)]


def last_turn(messages: Sequence[Message]) -> int:
    """Return the number of messages up to the last turn of the assistant."""
    ends = (end for end, one in enumerate(messages, 1) if one["role"] == "assistant")
    return max(ends, default=0)


def without_marks(messages: Sequence[Message]) -> list[Message]:
    """Return the messages without ``train``, for a target that does not know it."""
    return [
        {key: value for key, value in message.items() if key != "train"} for message in messages
    ]


def trained_runs(
    messages: Sequence[Message],
) -> Iterator[tuple[Sequence[Message], Sequence[Message]]]:
    """Yield each run of turns to train on, ending with an assistant turn, after its context."""
    start: int | None = None
    end = 0
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        if message.get("train") is not False:
            start, end = index if start is None else start, index + 1
        elif start is not None:
            yield messages[:start], messages[start:end]
            start = None
    if start is not None:
        yield messages[:start], messages[start:end]


def _trainable_part(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the conversation up to the last assistant turn to train on; empty if there is none.

    What follows it (an unanswered tool result, a truncated turn) has nothing to teach.
    """
    for end in range(len(messages), 0, -1):
        if messages[end - 1]["role"] == "assistant" and messages[end - 1].get("train") is not False:
            return messages[:end]
    return ()


class ConversationExporter(Exporter):
    """One example of each conversation; a subclass gives it the form of a target.

    ``has_masks`` is False if the target trains on every turn of a conversation, or on the last one
    where the unit is a turn.
    """

    columns = ("messages", "segments", "tools")
    views = ("full", "segments")
    has_masks: ClassVar[bool] = True

    def rows(self, rows: Iterable[Row]) -> Iterator[Example]:
        for row in rows:
            masked = self.has_masks or self.unit == "turn"
            for messages in self.trained(row) if masked else self.unmasked(row):
                example = self.example(row, messages)
                if isinstance(example, str):
                    self.leave_out(row, example)
                else:
                    self.exported(row, messages)
                    yield example

    @abstractmethod
    def example(self, row: Row, messages: Sequence[Message]) -> Example | str:
        """Return the example of a conversation, or the reason why there is none."""
