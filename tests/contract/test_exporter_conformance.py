"""The shipped exporters, and one of a stranger's distribution, pass the contract tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from synth.errors import ConfigProblems, DatasetError, OperatorError
from synth.ext.exporters import Exporter, find_exporter
from synth.ext.exporters.cli import main
from synth.ext.exporters.rendering.presets import find_preset
from synth.ext.exporters.trl import TrlSft
from synth.plugins import EXPORTERS
from synth.testing import ExporterConformance
from tests.sample_rows import all_kinds, write_run
from tests.tokenizer_file import write_tokenizer

MODULE = '''
"""An exporter of prompts, with an option."""

import os
from dataclasses import dataclass
from synth.ext.exporters import Exporter


class Prompts(Exporter):
    name, description, suffix = "prompts", "What the user asked, one line each", ".txt"
    columns, min_reward = ("messages",), None

    @dataclass(frozen=True)
    class Options:
        prefix: str = "- "
        limit: int = 100

    def rows(self, rows):
        for row in rows:
            asked = next(m["content"] for m in row["messages"] if m["role"] == "user")
            self.exported(row)
            yield {"text": f"{self.options.prefix}{asked}"[: self.options.limit]}

    def write(self, examples, out):
        count = 0
        with out.open("w", encoding="utf-8") as file:
            for example in examples:
                file.write(example["text"] + "\\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        return count
'''


@pytest.fixture(autouse=True)
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution that declares an exporter as an entry point."""
    site = tmp_path / "site"
    info = site / "prompt_lists-1.2.dist-info"
    info.mkdir(parents=True)
    (site / "prompt_lists.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: prompt-lists\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[synth.exporters]\nprompts = prompt_lists:Prompts\n")
    monkeypatch.syspath_prepend(site)
    yield
    sys.modules.pop("prompt_lists", None)


@pytest.mark.parametrize("shipped", EXPORTERS.builtin, indirect=True)
class TestShipped(ExporterConformance):
    @pytest.fixture(autouse=True)
    def shipped(self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
        self.kind = find_exporter(request.param)
        self.needs_tokenizer = request.param == "tokens"
        if self.needs_tokenizer:
            self.file = write_tokenizer(tmp_path_factory.mktemp("tokenizer") / "tokenizer.json")

    def exporter(self) -> Exporter:
        if not self.needs_tokenizer:
            return self.kind()
        exporter = self.kind()
        exporter.tokenizer = str(self.file)
        exporter.template = find_preset("qwen3-training")
        return exporter


class TestStranger(ExporterConformance):
    def exporter(self) -> Exporter:
        kind = find_exporter("prompts")
        assert kind.Options is not None
        return kind(kind.Options())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_run(tmp_path / "ehr", all_kinds())


def test_an_entry_point_is_chosen_by_its_name_and_takes_options(run: Path, tmp_path: Path):
    arguments = [str(run), "--to", "prompts", "--option", "prefix='> '", "--option", "limit=9"]
    assert main(arguments) == 0
    lines = (tmp_path / "ehr.prompts.txt").read_text().splitlines()
    assert lines
    assert all(line.startswith("> ") and len(line) <= 9 for line in lines)


def test_a_wrong_option_is_named(run: Path):
    arguments = [str(run), "--to", "prompts", "--option", "prefx=a", "--option", "limit=few"]
    with pytest.raises(ConfigProblems) as caught:
        main(arguments)
    unknown, wrong = caught.value.problems
    assert unknown == "--option prefx: unknown key; did you mean prefix? (known: prefix, limit)"
    assert wrong.startswith("--option limit: ")
    assert "'few'" in wrong


def test_an_option_needs_a_value_and_an_exporter_that_has_options(run: Path):
    with pytest.raises(OperatorError, match="--option limit: not of the form key=value"):
        main([str(run), "--to", "prompts", "--option", "limit"])
    with pytest.raises(OperatorError, match="--option limit: trl-sft has no options"):
        main([str(run), "--to", "trl-sft", "--option", "limit=9"])


def test_the_help_names_the_distribution_without_importing_it(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["--help"])
    printed = capsys.readouterr().out
    assert "prompts        from prompt-lists 1.2" in printed
    assert "trl-sft        TRL SFTTrainer" in printed
    assert all(name in printed for name in EXPORTERS.builtin)
    assert "prompt_lists" not in sys.modules


def test_two_distributions_with_one_name_are_both_named(tmp_path: Path):
    other = tmp_path / "site" / "other_lists-3.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other-lists\nVersion: 3\n")
    (other / "entry_points.txt").write_text("[synth.exporters]\nprompts = json:dumps\n")
    with pytest.raises(
        OperatorError, match=r"prompt-lists 1\.2.*other-lists 3|other-lists 3.*1\.2"
    ):
        find_exporter("prompts")


def test_a_broken_contract_is_found():
    """The contract tests fail for an exporter that hides a damaged dataset."""

    class Hiding(TrlSft):
        def write(self, examples, out):
            return len(list(examples)) if out.suffix else 0

        def rows(self, rows):
            try:
                yield from super().rows(rows)
            except DatasetError:
                return

    class Broken(ExporterConformance):
        def exporter(self) -> Exporter:
            return Hiding()

    with pytest.raises(AssertionError, match="swallowed the error"):
        Broken().test_an_error_of_the_dataset_is_passed_on(Path("unused"))
