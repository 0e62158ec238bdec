"""`synth rephrase` and `tasks.rephrase` against a model on loopback that is sometimes right."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from synth.__main__ import main
from synth.core.dataset.reader import Dataset
from synth.model import Completion
from tests.e2e.author_command import Command
from tests.e2e.expert_endpoint import endpoint
from tests.rephrasing_endpoint import Writer, answer, says
from tests.unit import talking_world

pytestmark = pytest.mark.slow

LIBRARY = Path(__file__).parents[2] / "examples" / "library"
LEND = "{name} would like to borrow {title}."
RENEW = "Renew all that {name} has on loan, until {until} please."


@pytest.fixture
def rephrase(world: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("rephrase", world, capsys)


GOOD = "{title} is what {name} wants to read next, so put it on that card."


def test_what_is_wrong_goes_back_and_the_yield_is_counted(rephrase: Command):
    cut_off = Completion('{"phrasings": [', finish_reason="length")
    second = "May I have {title}? The card is that of {name}."
    writer = Writer({
        LEND: [answer(says(GOOD), says("{name} wants a book.")), answer(says(second))],
        RENEW: ["I would ask the librarian.", cut_off, answer(says("")) ],
    })  # fmt: skip
    report = rephrase(writer, "--count", "2")
    assert (report["kept"], report["added"], report["stopped"]) == (2, 2, None)
    assert report["left_out"] == {"lost value": 1, "form": 2, "no answer": 1}
    assert [family.get("skipped") for family in report["families"]] == [
        None, None, "its words are in Python, not in tasks.yaml"
    ]  # fmt: skip
    assert writer.posts == 5
    assert rephrase.requests == [GOOD, second]
    assert {line["family"] for line in rephrase.lines} == {"lend_book"}
    assert rephrase.lines[0]["source"] == {"model": "expert"}
    again = next(text for text in writer.asked if "could not be used" in text and "{title}" in text)
    assert "lacks {title}: every placeholder stays" in again
    assert GOOD in again
    assert "Write 1 phrasing with the keys persona, says." in again
    secrets = ("find_member", "lend_book", "unavailable", "SELECT", "loan_id")
    assert not [word for word in secrets if any(word in text for text in writer.asked)]


def test_texts_of_a_user_who_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Replies and consents have other words too; a case that declines keeps its own."""
    rephrase = Command("rephrase", talking_world.make(tmp_path / "desk"), capsys)
    fine = {"knows.day": "Best would be {day}.", "knows.colour": "I like all but red.",
            "agrees.0": "Yes, do that."}  # fmt: skip
    told = says("I want {name} planned, please.", **{**fine, "knows.day": "Some day in spring."})
    hedged = says("I want {name} planned.", **{**fine, "agrees.0": "Maybe, but is it cheap?"})
    ahead = says("I want {name} planned for {day}.", **fine)
    good = says("{name} needs a date in the planner, can you see to it?", **fine)
    declined = says("What is the price of {name}? I want it on {day}.", **{"agrees.0": "Go ahead."})
    writer = Writer({
        "Plan {name} for me.": [answer(told, hedged, ahead, good)],
        "Plan {name} for {day}, but tell me the price first.": [answer(declined)],
        "What does {name} cost?": [answer(says("I would like to know the price of {name}."))],
    })  # fmt: skip
    report = rephrase(writer, "--count", "4", "--attempts", "1")
    assert report["kept"] == 3, report
    assert report["families"][0]["left_out"] == {"lost value": 1, "meaning": 1, "leak": 1}
    assert rephrase.lines[0]["texts"] == {"says": good["says"], **fine}
    out = tmp_path / "out"
    line = [f"env.path={rephrase.world}", "tasks.count=24", "runtime=inline", f"output.dir={out}"]
    assert main(["run", *line]) == 0
    assert "100.0% successful" in capsys.readouterr().out
    with Dataset.open(out) as dataset:
        rows = list(dataset.rows(["family", "case", "messages"]))
    said = [[m["content"] for m in row["messages"] if m["role"] == "user"] for row in rows]
    assert any(texts[1:] and texts[1].startswith("Best would be") for texts in said)
    assert any("Yes, do that." in texts for texts in said)
    words = {
        case: Counter("I want it on" in texts[0] for row, texts in zip(rows, said, strict=True)
                      if row["case"] == case)
        for case in ("cheap", "dear")
    }  # fmt: skip
    assert all(len(found) == 2 for found in words.values()), "both cases in both wordings"
    assert main(["replay", str(out)]) == 0
    assert main(["grade", str(out), "--world", str(rephrase.world)]) == 0
    assert main(["check", str(rephrase.world), "--workers", "1", "--no-cache"]) == 0


def test_a_torn_journal_is_read_and_a_damaged_one_is_named(rephrase: Command):
    words = ["--families", "lend_book", "--count", "1"]
    rephrase(Writer({LEND: [answer(says(GOOD))]}), *words)
    (journal,) = (rephrase.world / ".synth").glob("phrasings-*.jsonl")
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"place": ["lend')
    silent = Writer()
    assert rephrase(silent, *words)["kept"] == 1
    assert silent.posts == 0, "a finished job asks nothing"
    (rephrase.world / "phrasings.jsonl").unlink()
    assert rephrase(Writer(), *words)["added"] == 0, "its author deleted it"
    journal.write_bytes(b'{"place": 3}\n' + whole)
    assert f"{journal.name}:1: the journal is damaged" in rephrase(Writer(), *words)["error"]


def test_families_never_have_the_same_words(rephrase: Command):
    text = (LIBRARY / "tasks.yaml").read_text("utf-8")
    own = text[text.index("- id: renew_all") :].replace("renew_all", "renew_again")
    other = "The loans of {name} all stay out to {until} if you please."
    (rephrase.world / "tasks.yaml").write_text(text + own.replace(RENEW, other), "utf-8")
    writer = Writer({
        RENEW: [answer(says("Keep the books of {name} till {until}, all of them."))],
        other: [answer(says("keep the books of {name} till {until} - all of them"))],
    })  # fmt: skip
    words = ["--families", "renew_all,renew_again", "--count", "1", "--attempts", "1"]
    report = rephrase(writer, *words)
    assert report["left_out"] == {"near-duplicate": 1}
    assert [line["family"] for line in rephrase.lines] == ["renew_all"]


def test_a_family_that_is_not_there_is_named(rephrase: Command):
    assert "did you mean 'lend_book'?" in rephrase(Writer(), "--families", "lend_bok")["error"]


def test_a_dry_run_prints_the_first_prompt(world: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--dry-run"]
    assert main(["rephrase", str(world), *words]) == 0
    shown = capsys.readouterr().out
    assert LEND in shown
    assert '{"name": "' in shown
    assert not (world / ".synth").exists()


class Job:
    """A run whose users are put into other words by a model on loopback."""

    def __init__(self, world: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.out, self._capsys = world, out, capsys

    @contextlib.contextmanager
    def line(self, writer: Writer) -> Generator[list[str]]:
        with endpoint(writer, writer.fault) as url:
            yield [
                "run", f"env.path={self.world}", "tasks.count=24", "runtime=inline",
                f"output.dir={self.out}", "tasks.rephrase.model=writer", "models.writer.name=expert",
                f"models.writer.base_url={url}", "models.writer.api_key_env=null",
                "tasks.rephrase.count=1", "models.writer.max_retries=0",
                "tasks.rephrase.attempts=1", "tasks.rephrase.concurrency=1",
            ]  # fmt: skip

    def __call__(self, writer: Writer, *words: str) -> int:
        with self.line(writer) as line:
            return main([*line, *words])

    def resume(self, writer: Writer, *words: str) -> int:
        with endpoint(writer, writer.fault) as url:
            key = f"models.writer.base_url={url}"
            return main(["run", "--resume", str(self.out), key, *words])

    @property
    def openings(self) -> list[str]:
        with Dataset.open(self.out) as dataset:
            return [row["messages"][1]["content"] for row in dataset.rows(["messages"])]

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.out / "manifest.json").read_text("utf-8"))

    @property
    def written(self) -> dict[str, Any]:
        return self.manifest["identity"]["more"]["rephrased"]

    @property
    def shown(self) -> str:
        read = self._capsys.readouterr()
        return read.out + read.err


@pytest.fixture
def job(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Job:
    return Job(world, tmp_path / "out", capsys)


RENEWED = "Keep the books of {name} till {until}, all of them."


def both() -> Writer:
    renewed = says(RENEWED)
    return Writer({LEND: [answer(says(GOOD))], RENEW: [answer(renewed)]})


def test_a_run_asks_in_the_words_that_a_model_wrote_for_it(job: Job):
    writer = both()
    assert job(writer) == 0
    shown = job.shown
    assert "2 phrasings for 2 families are kept" in shown
    assert "these keep their own words: lend_unread" in shown
    assert "100.0% successful" in shown
    found = Counter("so put it on that card" in text for text in job.openings)
    assert found[True] >= 2, found
    assert any(text.startswith("Keep the books of") for text in job.openings)
    written = job.written
    assert (written["kept"], written["questions"], written["input_tokens"]) == (2, 2, 2000)
    assert written["left_out"] == {}
    assert not (job.world / "phrasings.jsonl").exists(), "the world itself is left alone"
    assert main(["replay", str(job.out)]) == 0
    openings = job.openings
    assert main(["inspect", str(job.out)]) == 0
    again = Job(job.world, job.out.with_name("again"), job._capsys)
    assert again(both()) == 0
    assert again.openings == openings
    assert again.manifest["digests"] == job.manifest["digests"]


def test_a_budget_counts_the_words_and_the_rest_resumes(job: Job):
    """1,100 tokens a family: the second question comes after the budget is spent."""
    assert job(both(), "budget.tokens=1000") == 2
    shown = job.shown
    assert "tasks.rephrase: the budget of 1,000 tokens is spent" in shown
    assert f"synth run --resume {job.out}" in shown
    assert not (job.out / "manifest.json").exists()
    rest = Writer({RENEW: [answer(says(RENEWED))]})
    assert job.resume(rest, "budget.tokens=2200") == 3, "the words alone have cost all of it"
    assert rest.posts == 1
    assert "the budget of 2,200 tokens is spent" in job.shown
    assert job.resume(Writer(), "budget.tokens=null") == 0
    assert len(job.openings) == 24
    assert job.written["kept"] == 2


@pytest.mark.parametrize("again", ["resume", "run"])
def test_a_run_that_is_killed_while_words_are_written_goes_on(job: Job, again: str):
    running: list[subprocess.Popen[bytes]] = []

    class Deadly(Writer):
        async def __call__(self, request: dict[str, Any]) -> Completion:
            if self.posts == 2:
                running[0].kill()
            return await super().__call__(request)

    with job.line(Deadly(both().by_text)) as line:
        running.append(subprocess.Popen([sys.executable, "-m", "synth", *line]))
        assert running[0].wait(120) == -signal.SIGKILL
    rest = Writer({RENEW: [answer(says(RENEWED))]})
    assert (job.resume(rest) if again == "resume" else job(rest)) == 0
    assert rest.posts == 1
    assert len(job.openings) == 24
    assert job.written["kept"] == 2


def test_a_run_that_is_killed_while_its_tasks_are_proved_asks_nothing_again(job: Job):
    writer = both()
    with job.line(writer) as line:
        command = [sys.executable, "-m", "synth", *line]
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert running.stderr is not None
        with running.stderr as lines:
            assert any(text.startswith("proving") for text in lines)
            running.kill()
        assert running.wait(120) == -signal.SIGKILL
    silent = Writer()
    assert job.resume(silent) == 0
    assert (writer.posts, silent.posts) == (2, 0)
    assert any("so put it on that card" in text for text in job.openings)
    assert job.written["input_tokens"] == 2000


def test_an_endpoint_that_refuses_leaves_nothing_behind(job: Job):
    assert job(Writer(status=401)) != 0
    assert "401" in job.shown
    assert not job.out.exists()


def test_a_run_that_has_no_plan_asks_nothing(job: Job):
    writer = both()
    assert job(writer, "tasks.count=100000") == 2
    assert writer.posts == 0
    assert not job.out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tasks.rephrase.model=model"], "tasks.rephrase.model: the scripted model plays agents"),
        (["tasks.rephrase.model=writr"], "unknown model 'writr'; did you mean writer?"),
        (["models.writer.base_url=nowhere"], "models.writer.base_url: must be a URL"),
        (["budget.usd=1"], "models.writer.price_input_usd_per_mtok"),
        (["tasks.rephrase.count=0"], "tasks.rephrase.count: must be at least 1"),
        (
            ["tasks=actions", "tasks.path=x.json"],
            "tasks.rephrase.model: writes other words for families of a world's tasks.yaml",
        ),
    ],
)
def test_a_mistake_in_the_config_is_named(job: Job, words: list[str], message: str):
    assert job(Writer(), *words) == 2
    assert message in job.shown
