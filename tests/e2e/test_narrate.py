"""Narration: a teacher at a real endpoint writes into recorded rollouts, and what it must not write
is found, counted and asked for again.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from synth.core.dataset.reader import Dataset
from synth.core.foundation.hashing import derive_seed
from synth.core.types.events import Usage
from synth.model import Completion
from tests.documents import TEXTS
from tests.e2e.command import stable_rows, synth
from tests.e2e.expert_endpoint import endpoint
from tests.e2e.test_kill import kill_after_progress, start

pytestmark = pytest.mark.slow

ASKED, SAID = 50, 10
TEACHER = (
    *("--model", "expert", "runtime=inline"),
    *("model.price_input_usd_per_mtok=100.0", "model.price_output_usd_per_mtok=1000.0"),
)
PRICE = (ASKED * 100 + SAID * 1000) / 1_000_000

PLANTED = {
    "unknown value": "I can see that the reference is 9184733.",
    "unknown name": "I was sure that Barnaby Quillfeather wanted it so.",
    "says that something was done": "I have booked it. I have recorded it. I have refunded it.",
    "empty": " ",
    "tool call": 'One moment. <tool_call>{"name": "submit", "arguments": {}}</tool_call>',
    "too long": "I look at this carefully. " * 80,
    "speaks of its task": "In hindsight, this is what had to be done.",
    "form": "",
    "cut off": "I look at",
}
"""What the teacher writes at its first attempt, by the fault that it has."""


class Teacher:
    """Writes plain words about a step, after one fault that follows from the step; it keeps no
    state. ``stubborn``: it makes that fault at every attempt.
    """

    def __init__(self, faults: dict[str, str], *, stubborn: bool = False) -> None:
        self.faults, self.stubborn, self.requests = faults, stubborn, 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.requests += 1
        assert not request.get("tools"), "a teacher is offered no tools"
        text: str = request["messages"][-1]["content"]
        parts = re.findall(r"^- (reasoning|words|reply) \(at most", text, re.MULTILINE)
        shown, _, step = text.partition("\n\nThe step that you write for:\n")
        written = self.written(json.loads(step.splitlines()[0]), parts)
        usage, refused = Usage(ASKED, SAID), "could not be used" in text
        names = [*self.faults]
        fault = names[derive_seed(0, shown, step.splitlines()[0]) % len(names)] if names else ""
        if fault and (self.stubborn or not refused):
            if fault == "form":
                return Completion("I would rather talk about it.", usage=usage)
            reason = "length" if fault == "cut off" else "stop"
            wrong = json.dumps(dict.fromkeys(parts, self.faults[fault]))
            return Completion(wrong, finish_reason=reason, usage=usage)
        return Completion(f"```json\n{json.dumps(written)}\n```", usage=usage)

    def written(self, step: dict[str, Any], parts: list[str]) -> dict[str, str]:
        names = " and ".join(call["name"].replace("_", " ") for call in step.get("calls", ()))
        texts = {
            "reasoning": f"The next step is to {names or 'answer'}, by the rules I have.",
            "words": f"I'll {names} now.",
            "reply": f"Thank you for waiting. {step['content']}",
        }
        return {part: texts[part] for part in parts}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two worlds by the scripted expert; some of its rollouts of one have mistakes."""
    home = tmp_path_factory.mktemp("narrate")
    for world, more in (("ehr_db", ()), ("shop", ("model.mistakes=[wrong_argument]", "seed=1"))):
        overrides = (f"env={world}", "tasks.count=14", "runtime=inline", f"output.dir={world}")
        synth("run", *overrides, *more, cwd=home)
    return home


def rows(path: Path) -> list[dict[str, Any]]:
    with Dataset.open(path) as dataset:
        return [dict(row) for row in dataset.rows()]


def narrated(home: Path, source: str, out: str, teacher: Teacher, *options: str) -> dict[str, Any]:
    with endpoint(teacher) as url:
        given = (source, "--out", out, "--base-url", url, *TEACHER, *options)
        done = synth("narrate", *given, "--json", cwd=home)
    return json.loads(done.stdout)


def without_words(messages: list[dict[str, Any]], *, reply: bool) -> list[dict[str, Any]]:
    """The messages without what a teacher may write."""
    last = len(messages) - 1 if reply else -1
    return [
        {
            key: value
            for key, value in message.items()
            if key != "reasoning_content"
            and not (key == "content" and (index == last or "tool_calls" in message))
        }
        if message["role"] == "assistant"
        else message
        for index, message in enumerate(messages)
    ]


@pytest.mark.parametrize("world", ["ehr_db", "shop"])
def test_a_teacher_with_faults_narrates_and_calls_stay_as_they_are(home: Path, world: str):
    teacher, out = Teacher(PLANTED), f"{world}-narrated"
    report = narrated(home, world, out, teacher, "--write", "reasoning,words,reply")
    sources = {row["trajectory_id"]: row for row in rows(home / world)}
    made = rows(home / out)
    right = {key for key, row in sources.items() if row["outcome"] == "success"}
    assert {row["source_id"] for row in made} == right
    notes = list[dict[str, Any]]()
    for row in made:
        source = sources[row["source_id"]]
        same = [without_words(one["messages"], reply=True) for one in (row, source)]
        assert json.dumps(same[0]) == json.dumps(same[1])
        for name in ("task_id", "seed", "reward", "state_diff", "state_hash_after", "tools"):
            assert row[name] == source[name]
        turns = [message for message in row["messages"] if message["role"] == "assistant"]
        for turn, fields in zip(turns, row["provider_fields"], strict=True):
            note = fields.get("narration")
            assert (note is None) == (turn.get("train") is False)
            if note is not None:
                assert turn["reasoning_content"].startswith("The next step is to")
                assert turn["content"].strip()
                notes.append(note)
        asked = sum(note["requests"] for note in _notes(row))
        assert row["narrated_turns"] == len(_notes(row))
        assert (row["input_tokens"], row["output_tokens"]) == (asked * ASKED, asked * SAID)
        assert abs(row["cost_usd"] - asked * PRICE) < 1e-9
        assert row["model"] == "expert"
    assert teacher.requests == sum(note["requests"] for note in notes) + 1, "and one probe"
    found = Counter(kind for note in notes for kind in _kinds(note))
    assert set(PLANTED) <= found.keys()
    assert report["narration"]["narrated_turns"] == report["narration"]["turns"] == len(notes)
    assert sum(report["narration"]["refused"].values()) == sum(len(n["refused"]) for n in notes)
    for command in ("replay", "grade"):
        synth(command, out, cwd=home)


def _notes(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [fields["narration"] for fields in row["provider_fields"] if "narration" in fields]


def _kinds(note: dict[str, Any]) -> list[str]:
    return [kind for text in note["refused"] for kind in text["kind"].split(", ")]


def test_texts_that_stay_wrong_leave_the_turn_as_it_was(home: Path):
    faults = {"unknown value": PLANTED["unknown value"]}
    teacher = Teacher(faults, stubborn=True)
    report = narrated(home, "ehr_db", "stubborn", teacher, "--tries", "2", "--limit", "5")
    sources = {row["trajectory_id"]: row for row in rows(home / "ehr_db")}
    made = rows(home / "stubborn")
    assert len(made) == 5
    for row in made:
        assert row["messages"] == sources[row["source_id"]]["messages"]
        assert row["narrated_turns"] == 0
        assert {note["requests"] for note in _notes(row)} == {2}
    counts = report["narration"]
    assert counts["turns_short_of_a_text"] == counts["turns"] > 0
    assert counts["wrote"] == {}


class Prophet(Teacher):
    """Says at first what the next result will be; it has read the recorded rows."""

    def __init__(self, results: dict[str, str]) -> None:
        super().__init__({})
        self.results = results

    def written(self, step: dict[str, Any], parts: list[str]) -> dict[str, str]:
        plain = super().written(step, parts)
        calls = json.dumps(step.get("calls"), sort_keys=True)
        later = self.results.pop(calls, None)
        if later is None:
            return plain
        return {part: f"{text} It must be {later}." for part, text in plain.items()}


def test_what_a_result_says_later_is_refused(home: Path):
    """Numbers of charts that only the result of the next call holds."""
    results, often = dict[str, str](), Counter[str]()
    for row in rows(home / "ehr_db")[:8]:
        messages = row["messages"]
        for index, message in enumerate(messages):
            before = json.dumps(messages[: index + 1]).casefold()
            if "tool_calls" in message:
                calls = [call["function"] for call in message["tool_calls"]]
                key = json.dumps(calls, sort_keys=True)
                often[key] += 1
                number = re.search(r'"mrn":"([^"]+)"', messages[index + 1]["content"])
                if number is not None and number[1].casefold() not in before:
                    results[key] = number[1]
    results = {key: number for key, number in results.items() if often[key] == 1}
    planted = len(results)
    assert planted >= 3
    prophet, options = Prophet(results), ("--limit", "8", "preflight=false")
    report = narrated(home, "ehr_db", "prophet", prophet, *options)
    refused = report["narration"]["refused"]
    assert sum(refused.values()) >= 2 * planted, "reasoning and words"
    assert any("future knowledge" in kind for kind in refused)
    assert not prophet.results
    assert report["narration"]["turns_short_of_a_text"] == 0


class Liar(Teacher):
    """Changes the sense of the last words at first."""

    def written(self, step: dict[str, Any], parts: list[str]) -> dict[str, str]:
        if "reply" in parts and not self.stubborn:
            self.stubborn = True
            return {"reply": step["content"] + " I have also cancelled your next appointment."}
        self.stubborn = False
        return super().written(step, parts)


def test_a_reply_is_judged_by_the_gates(home: Path):
    report = narrated(
        *(home, "ehr_db", "liar", Liar({})),
        *("--write", "reply", "--limit", "6", "model.max_concurrency=1", "runtime.concurrency=1"),
    )
    refused = report["narration"]["refused"]
    assert sum(refused.values()) >= 5
    assert all(kind.startswith(("gate ", "another answer")) for kind in refused), refused
    for row in rows(home / "liar"):
        assert row["messages"][-1]["content"].startswith("Thank you for waiting. ")
        assert row["reward"] == 1
        assert all("reasoning_content" not in message for message in row["messages"])


def test_rows_are_the_same_for_any_number_of_workers_and_after_a_kill(home: Path):
    options = ("ehr_db", *TEACHER, "preflight=false", "output.rows_per_shard=8")
    teacher = Teacher(PLANTED)
    with endpoint(teacher) as url:
        given = (*options, "--base-url", url)
        for out, more in (("many", ()), ("one", ("--concurrency", "1", "runtime.concurrency=1"))):
            synth("narrate", *given, "--out", out, *more, cwd=home)
        once = teacher.requests / 2
        process = start("narrate", *given, "--out", "killed", "runtime.concurrency=1", cwd=home)
        kill_after_progress(process, home / "killed", 6, 0.05)
        synth("run", "--resume", "killed", cwd=home)
        again = teacher.requests - 2 * once
    whole = stable_rows(home / "many")
    assert stable_rows(home / "killed") == whole
    assert stable_rows(home / "one") == whole
    longest = max(sum(note["requests"] for note in _notes(row)) for row in whole)
    assert once <= again <= once + 32 * longest, "only rollouts in flight are asked for again"


def test_an_export_trains_on_the_words(home: Path):
    narrated(home, "ehr_db", "words", Teacher({}))
    narrated(home, "ehr_db", "thoughts", Teacher({}), "--write", "reasoning")
    given = ("--model", "expert", "--base-url", "http://localhost:1/v1", "--out", "none")
    done = synth("narrate", "words", *given, cwd=home, code=2)
    assert "14 of 14 rollouts have these texts already" in done.stderr
    for template, source, key in (
        ("qwen3-training", "words", "reasoning_content"),
        ("gpt-oss-training", "thoughts", "thinking"),
    ):
        synth(
            *("export", source, "--to", "trl-sft", "--template", template),
            *("--out", f"{template}.parquet"),
            cwd=home,
        )
        table = pq.ParquetFile(home / f"{template}.parquet").read().to_pylist()
        turns = [
            message
            for example in table
            for message in map(json.loads, example["messages"])
            if message["role"] == "assistant"
        ]
        assert len(table) == 14
        assert all(turn[key] for turn in turns)


def test_the_original_is_needed_and_branches_can_be_narrated(home: Path, tmp_path: Path):
    where = ("--where", "reward = 1", "--at", "each_write", "--samples", "1", "runtime=inline")
    synth("branch", "ehr_db", *where, "--out", "branches", cwd=home)
    narrated(home, "branches", "of-branches", Teacher({}), "--limit", "4")
    sources = {row["trajectory_id"]: row for row in rows(home / "branches")}
    for row in rows(home / "of-branches"):
        source = sources[row["source_id"]]
        assert (row["parent_id"], row["branch_step"]) == (
            source["parent_id"],
            source["branch_step"],
        )
    synth("replay", "of-branches", cwd=home)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "nowhere: no such directory"),
        (("ehr_db", "--where", "reward > 2"), "there is nothing to narrate: it has no such row"),
        (("shop", "--where", "reward < 1"), "did not succeed: their calls are not known"),
        (("ehr_db", "--write", "thoughts"), "'thoughts' is not a text that can be written"),
        (("ehr_db", "--write", ""), "argument --write: is empty"),
        (("ehr_db", "--tries", "0"), "argument --tries: '0' must be a whole number from 1 to 10"),
        (("ehr_db", "tasks.count=3"), "a narrated rollout is played as its recorded run was"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    home: Path, arguments: tuple[str, ...], words: str
):
    given = (*arguments, "--model", "expert", "--base-url", "http://localhost:1/v1")
    done = synth("narrate", *given, "--out", "none", cwd=home, code=2)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (home / "none").exists()


def test_a_teacher_has_to_be_named(home: Path):
    for given in (("ehr_db",), ("ehr_db", "--model", "scripted"), ("ehr_db", "model=replay")):
        done = synth("narrate", *given, "--out", "none", cwd=home, code=2)
        assert "Traceback" not in done.stderr
        assert not (home / "none").exists()


def test_the_commands_of_the_guide_work(home: Path, tmp_path: Path):
    shutil.copytree(home / "ehr_db", tmp_path / "out" / "run")
    page = TEXTS["docs/guides/narration.md"]
    lines = [
        line
        for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
        for line in block.replace("\\\n", "").splitlines()
        if line.startswith("synth ") and not line.startswith("synth run env")
    ]
    assert len(lines) >= 4
    with endpoint(Teacher({})) as url:
        for line in lines:
            given = line.replace("http://localhost:8000/v1", url).replace("my-model", "expert")
            synth(*shlex.split(given, comments=True)[1:], cwd=tmp_path)
