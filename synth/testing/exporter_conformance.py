"""Contract tests of :class:`synth.ext.exporters.Exporter`, on a few rows of a dataset."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synth.core.dataset.columns import BY_NAME
from synth.errors import DatasetError
from synth.ext.exporters import Example, Exporter, Row

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "rename",
            "description": "Rename a shelf.",
            "parameters": {
                "type": "object",
                "properties": {"shelf": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["shelf", "name"],
            },
        },
    }
]


def _messages(shelf: int, **last: Any) -> list[dict[str, Any]]:
    """A conversation with one tool call, and with characters that break careless writers."""
    arguments = {"shelf": shelf, "name": 'Zoë\'s\u2028"ß" \\ 𝄞'}
    call = {
        "id": f"call_{shelf}",
        "type": "function",
        "function": {"name": "rename", "arguments": arguments},
    }
    return [
        {"role": "system", "content": "Keep the shelves tidy."},
        {"role": "user", "content": f"Rename shelf {shelf}."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{shelf}", "name": "rename", "content": '{"ok":1}'},
        {"role": "assistant", "content": "Renamed.\n", **last},
    ]


def sample_rows() -> list[dict[str, Any]]:
    """Rows of two tasks with two samples each; one row was compacted, one ends with a turn that
    must not be trained on. They have the columns that exporters of conversations use.
    """
    rows: list[dict[str, Any]] = []
    for index in range(4):
        whole = _messages(index, **({"train": False} if index == 3 else {}))
        compacted = [{"first_turn": 0, "last_turn": 1, "messages": whole}] if index == 2 else []
        rows.append(
            {
                "trajectory_id": f"trajectory-{index}",
                "task_id": f"task-{index // 2}",
                "job_index": index,
                "family": "rename",
                "case": None,
                "env": "shelves",
                "env_digest": "0123456789abcdef",
                "universe": 0,
                "split": "train",
                "sample_index": index % 2,
                "seed": index,
                "messages": whole,
                "tools": TOOLS,
                "middleware_tools": None,
                "segments": compacted,
                "reward": float(index % 2),
                "outcome": "success" if index % 2 else "failure",
                "stop_reason": "finished",
                "verdicts": [{"verifier": "state", "score": float(index % 2), "reason": "equal"}],
                "sampling": {"temperature": 0.5},
                "model": "scripted",
                "parent_id": None,
                "branch_step": None,
            }
        )
    return rows


class ExporterConformance:
    """Subclass it, name the class ``Test...``, and construct the exporter."""

    @abstractmethod
    def exporter(self) -> Exporter:
        """Return a new exporter."""

    def rows(self) -> list[dict[str, Any]]:
        """Rows of a dataset; override it for an exporter that needs other columns."""
        return sample_rows()

    def export(self, exporter: Exporter, out: Path) -> int:
        """Export the rows, with the columns that the exporter declares and no others."""
        wanted = ("trajectory_id", "split", "reward", *exporter.columns)
        rows: list[Row] = [{name: row[name] for name in wanted} for row in self.rows()]
        return exporter.write(exporter.rows(iter(rows)), out)

    def test_its_attributes_describe_it(self) -> None:
        exporter = self.exporter()
        assert exporter.name
        assert not set(exporter.name) & set(" /\\:"), "the name is part of a file name"
        assert exporter.description
        assert "\n" not in exporter.description
        assert exporter.suffix == "" or exporter.suffix.startswith(".")
        assert set(exporter.columns) <= BY_NAME.keys(), "columns of the dataset"
        threshold = exporter.min_reward
        assert threshold in {None, "success"} or math.isfinite(float(threshold or 0))
        assert exporter.views
        assert set(exporter.views) <= {"full", "segments"}
        assert exporter.view == "full", "the view is set by the caller"

    def test_it_starts_with_an_empty_account(self) -> None:
        first = self.exporter()
        first.leave_out(self.rows()[0], "a reason")
        assert first.close().reasons("row") == {"a reason": 1}
        assert not self.exporter().close().entries

    def test_every_view_accounts_for_each_row(self, tmp_path: Path) -> None:
        for view in self.exporter().views:
            exporter = self.exporter()
            exporter.view = view
            written = self.export(exporter, tmp_path / f"{view}{exporter.suffix}")
            account = exporter.close()
            account.found("row", len(self.rows()))
            account.check()
            left_out = account.reasons("row")
            assert written or left_out
            assert all(reason.strip() for reason in left_out)

    def test_it_writes_one_file_or_folder_and_counts_its_examples(self, tmp_path: Path) -> None:
        exporter = self.exporter()
        folder = tmp_path / "out"
        folder.mkdir()
        out = folder / f"examples{exporter.suffix}"
        counted: list[Example] = []

        def watched(examples: Iterator[Example]) -> Iterator[Example]:
            for example in examples:
                counted.append(example)
                yield example

        written = exporter.write(watched(exporter.rows(iter(self.rows()))), out)
        assert written == len(counted)
        if written:
            assert [path.name for path in folder.iterdir()] == [out.name]

    def test_equal_rows_make_equal_files(self, tmp_path: Path) -> None:
        contents: list[dict[str, bytes]] = []
        for name in ("first", "second"):
            exporter = self.exporter()
            folder = tmp_path / name
            folder.mkdir()
            self.export(exporter, folder / f"examples{exporter.suffix}")
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            contents.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
        assert contents[0] == contents[1]

    def test_it_does_not_change_the_rows(self, tmp_path: Path) -> None:
        rows = self.rows()
        before = copy.deepcopy(rows)
        exporter = self.exporter()
        exporter.write(exporter.rows(iter(rows)), tmp_path / f"examples{exporter.suffix}")
        assert rows == before

    def test_no_rows_make_no_examples(self, tmp_path: Path) -> None:
        exporter = self.exporter()
        assert exporter.write(exporter.rows(iter(())), tmp_path / f"none{exporter.suffix}") == 0

    def test_an_error_of_the_dataset_is_passed_on(self, tmp_path: Path) -> None:
        """A damaged shard must not look like the end of the dataset."""

        def damaged() -> Iterator[Row]:
            yield self.rows()[0]
            raise DatasetError("a damaged shard")

        exporter = self.exporter()
        try:
            exporter.write(exporter.rows(damaged()), tmp_path / f"examples{exporter.suffix}")
        except DatasetError as error:
            assert str(error) == "a damaged shard"  # noqa: PT017 - pytest is not a dependency here
        else:
            raise AssertionError("the exporter swallowed the error of the dataset")
