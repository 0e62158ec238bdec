"""`synth draft` against a model on loopback that is sometimes right."""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from synth.__main__ import main
from synth.core.types.events import Usage
from synth.model import Completion
from tests.e2e.author_command import Command
from tests.e2e.expert_endpoint import endpoint
from tests.faulty_endpoint import Fault

pytestmark = pytest.mark.slow

LIBRARY = Path(__file__).parents[2] / "examples" / "library"

COUNT = """
- id: count_loans
  ground: {key: member_id, sql: "SELECT member_id, name FROM members"}
  user:
    says: ["How many books does {name} have at home?", "Tell me the number of loans of {name}."]
  answer: {loans: {type: integer, description: How many books the member has on loan.}}
  oracle: {loans: SELECT COUNT(*) FROM loans WHERE member_id = :member_id}
  gold:
  - find_member: {name: "{name}"}
    save: {member: $.member_id}
  - list_loans: {member_id: $member}
    save: {loans: {count: "$.loans[*].loan_id"}}
  - submit: {loans: $loans}
  - say: "{name} has {loans}."
"""
RENEW = """
- id: renew_by_date
  ground:
    key: loan_id
    sql: SELECT loan_id, name, due FROM loans JOIN members USING (member_id)
  vary: {until: {date: ["2026-04-01", "2026-04-30"]}}
  user: {says: "The book that {name} has to bring back on {due} may stay until {until}."}
  gold:
  - find_member: {name: "{name}"}
    save: {member: $.member_id}
  - list_loans: {member_id: $member}
    save: {loan: {one: "$.loans[?@.due == {due}].loan_id"}}
  - renew: {loan_id: $loan, due: "{until}"}
  - say: "It is due on {until} now."
"""
WRONG_ORACLE = (
    COUNT.replace(" WHERE member_id = :member_id", "")
    .replace("count_", "all_")
    .replace("How many books does {name} have at home?", "Count what {name} borrowed.")
    .replace("Tell me the number of loans of {name}.", "What did {name} take? Just the figure.")
)
UNKNOWN_TOOL = RENEW.replace("- renew:", "- prolong:").replace("renew_by_date", "prolong")
DUPLICATE = """
- id: borrow
  ground: {key: title, sql: SELECT title FROM books LEFT JOIN loans USING (book_id) WHERE loan_id IS NULL}
  vary: {name: {choice: [Ada Kern, Chloé Ruiz]}}
  user: {says: "{name} would like to borrow {title}, please."}
  answer: {outcome: {enum: [lent, unavailable], description: What came of it.}}
  gold:
  - find_member: {name: "{name}"}
    save: {member: $.member_id}
  - find_book: {title: "{title}"}
    save: {book: $.book_id}
  - lend: {member_id: $member, book_id: $book}
  - submit: {outcome: lent}
  - say: "{title} is lent to {name}."
"""  # noqa: E501
OUTSIDE = COUNT.replace("count_loans", "../../outside")
CODE = COUNT.replace("count_loans", "code") + '  gates: ["/tmp/evil.py:Gate"]\n'
BROKEN = RENEW.replace("user: {says: ", "user: {says: [")
ENDLESS_SQL = COUNT.replace("count_loans", "endless").replace(
    "SELECT member_id, name FROM members",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS member_id,"
    " name FROM n, members",
)


PROSE = "I would ask the agent to lend a book, and then to renew it."


def fenced(text: str) -> str:
    return f"Here is a family:\n\n```yaml{text}```\n"


@dataclass
class Author:
    """A model that gives one answer after the other. ``asked`` keeps the conversations."""

    answers: Sequence[str | Completion | Fault]
    asked: list[list[dict[str, Any]]] = field(default_factory=list)
    posts: int = 0

    async def __call__(self, request: dict[str, Any]) -> Completion:
        self.asked.append(request["messages"])
        answer = self.answers[self.posts - 1]
        if isinstance(answer, Completion):
            return answer
        assert isinstance(answer, str)
        return Completion(answer, usage=Usage(1000, 100))

    async def fault(self, request: web.Request) -> Fault | None:
        if request.method != "POST":
            return None
        self.posts += 1
        answer = self.answers[self.posts - 1]
        return answer if isinstance(answer, Fault) else None


@pytest.fixture
def draft(world: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("draft", world, capsys)


def test_what_proves_itself_is_added_and_the_rest_is_left_out_with_its_cause(draft: Command):
    cut_off = Completion("- id: long", finish_reason="length", usage=Usage(1000, 8192))
    author = Author([
        fenced(COUNT),
        fenced(BROKEN), fenced(RENEW),
        fenced(UNKNOWN_TOOL), fenced(UNKNOWN_TOOL),
        fenced(WRONG_ORACLE), fenced(WRONG_ORACLE),
        fenced(DUPLICATE), DUPLICATE,
        PROSE, PROSE,
        fenced(OUTSIDE), fenced(CODE),
        Fault(body=itertools.repeat(b" " * 100_000)), cut_off,
    ])  # fmt: skip
    before = (draft.world / "tasks.yaml").read_text("utf-8")
    report = draft(author, "--count", "8", "--attempts", "2")
    assert draft.code == 0, report
    assert (report["made"], report["kept"], report["stopped"]) == (8, 2, None)
    assert report["left_out"] == {
        "notation": 1, "gold": 1, "duplicate": 1, "no YAML": 1, "not allowed": 1, "no answer": 1
    }  # fmt: skip
    assert [out["attempts"] for out in report["drafts"]] == [1, 2, 2, 2, 2, 2, 2, 2]
    assert author.posts == 15
    assert (report["input_tokens"], report["output_tokens"]) == (14_000, 1300 + 8192)

    text = (draft.world / "tasks.yaml").read_text("utf-8")
    assert text.startswith(before)
    assert list(draft.families) == ["lend_book", "renew_all", "count_loans", "renew_by_date"]
    assert draft.families["renew_by_date"]["source"] == {"model": "expert", "attempts": 2}
    reasons = {out["family"]: out["reason"] for out in report["drafts"]}
    assert "prolong" in reasons["prolong"]
    assert "the oracle loans says 3" in reasons["all_loans"]
    assert "repeats the family 'lend_book'" in reasons["borrow"]

    mended = author.asked[2]
    assert [message["role"] for message in mended] == ["system", "user", "assistant", "user"]
    assert "line 6 of your YAML: not valid YAML" in mended[-1]["content"]
    told = author.asked[6][-1]["content"]
    assert "Not accepted (gold):\n- line 6: family all_loans: the oracle loans says 3" in told
    assert "\n  6   oracle: {loans: SELECT COUNT(*) FROM loans}\n" in told
    assert str(draft.world.parent) not in told
    assert "/tmp" not in told
    assert "count_loans (find_member" in author.asked[1][1]["content"]


def test_rows_of_a_drafted_family_replay_and_are_graded_again(
    draft: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    draft(Author([fenced(COUNT)]), "--count", "1")
    out = str(tmp_path / "out")
    line = [f"env.path={draft.world}", "tasks.families=[count_loans]", "tasks.count=3"]
    assert main(["run", *line, "runtime=inline", f"output.dir={out}"]) == 0
    assert "100.0% successful" in capsys.readouterr().out
    assert main(["replay", out]) == 0
    assert main(["grade", out, "--world", str(draft.world)]) == 0


def test_the_budget_ends_a_job_and_more_of_it_goes_on(draft: Command):
    first = Author([fenced(BROKEN), fenced(PROSE)])
    report = draft(first, "--count", "2", "budget.tokens=2000")
    assert draft.code == 3
    assert report["made"] == 0
    assert "budget of 2,000 tokens is spent" in report["stopped"]
    again = draft(Author([]), "--count", "2", "budget.tokens=2000")
    assert again["stopped"] == report["stopped"]
    second = Author([fenced(RENEW), fenced(COUNT)])
    done = draft(second, "--count", "2", "budget.tokens=9000")
    assert (draft.code, done["kept"]) == (0, 2)
    assert "line 6 of your YAML" in second.asked[0][3]["content"], "the paid attempts are told"
    assert done["input_tokens"] == 4000
    assert draft(Author([]), "--count", "2")["kept"] == 2, "a finished job asks nothing"


def test_dollars_need_prices_and_end_a_job(draft: Command):
    priced = ["model.price_input_usd_per_mtok=100", "model.price_output_usd_per_mtok=0"]
    report = draft(Author([PROSE] * 2), "--count", "5", "budget.usd=0.15", *priced)
    assert draft.code == 3
    assert report["stopped"] == "the budget of $0.15 is spent"
    assert report["cost_usd"] == pytest.approx(0.2)
    assert "price" in draft(Author([]), "budget.usd=1")["error"]


def test_a_killed_job_goes_on_and_pays_for_nothing_twice(draft: Command):
    """The process is killed while the model answers for the fourth time."""
    running: list[subprocess.Popen[bytes]] = []

    class Deadly(Author):
        async def __call__(self, request: dict[str, Any]) -> Completion:
            if self.posts == 4:
                running[0].kill()
            return await super().__call__(request)

    answers = [fenced(COUNT), PROSE, fenced(BROKEN), fenced(RENEW), PROSE]
    author = Deadly(answers)
    with endpoint(author, author.fault) as url:
        words = ["draft", str(draft.world), "--model", "expert", "--base-url", url, "--count", "2"]
        running.append(subprocess.Popen([sys.executable, "-m", "synth", *words]))
        assert running[0].wait(120) == -signal.SIGKILL
    assert "count_loans" in draft.families
    rest = Author([fenced(RENEW)])
    report = draft(rest, "--count", "2")
    assert (report["kept"], rest.posts) == (2, 1)
    assert report["drafts"][1]["attempts"] == 3
    assert list(draft.families)[2:] == ["count_loans", "renew_by_date"]


def test_a_kept_family_is_added_once_whatever_became_of_the_job(draft: Command):
    draft(Author([fenced(COUNT)]), "--count", "1")
    text = (draft.world / "tasks.yaml").read_text("utf-8")
    shutil.copyfile(LIBRARY / "tasks.yaml", draft.world / "tasks.yaml")
    draft(Author([]), "--count", "1")
    assert "count_loans" not in draft.families, "its author deleted it"
    (journal,) = (draft.world / ".synth").glob("*.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + '{"add')
    draft(Author([]), "--count", "1")
    assert (draft.world / "tasks.yaml").read_text("utf-8") == text


@pytest.mark.parametrize(
    ("select", "timeout", "cause", "words"),
    [
        ("name FROM n, members WHERE x < 0", "4", "too slow", "takes more than 4 s"),
        ("hex(zeroblob(50000)) AS name FROM n", "600", "notation", "the statement gives more than"),
    ],
)
def test_a_proof_of_endless_sql_is_ended(
    draft: Command, select: str, timeout: str, cause: str, words: str
):
    """Without rows it is the time that ends it, with rows their size."""
    family = ENDLESS_SQL.replace("name FROM n, members", select)
    limits = ["--count", "1", "--attempts", "1", "--proof-timeout", timeout]
    report = draft(Author([fenced(family)]), *limits)
    assert draft.code == 1
    assert (report["made"], report["left_out"]) == (1, {cause: 1})
    assert words in report["drafts"][0]["reason"]


@pytest.mark.parametrize(
    ("more", "cause", "words"),
    [
        ("  honest: {except: {terse: it is too short}}\n", "not allowed", "leave out `honest`"),
        ("  reply: {unjudged: no}\n", "not allowed", "leave out `unjudged`"),
        ("  source: {model: me, attempts: 1}\n", "not allowed", "leave out `source`"),
        ('  gates: [state, {"os:system": "true"}]\n', "not allowed", "no gate 'os:system'"),
        ("  gates: [[state]]\n", "not allowed", "no gate"),
        ("  about: &a x\n  difficulty: *a\n", "not YAML", "aliases"),
        ("  about: !!python/name:os.system x\n", "not YAML", "no place here"),
        (f"  about: {'x' * 20_000}\n", "too long", "characters"),
        (f"  about: {'[' * 2_000}\n", "not YAML", ""),
        (RENEW, "several families", "write one"),
        ("  oracel: {}\n", "notation", "did you mean 'oracle'?"),
    ],
)
def test_an_answer_is_data(draft: Command, more: str, cause: str, words: str):
    report = draft(Author([fenced(COUNT + more)]), "--count", "1", "--attempts", "1")
    assert report["left_out"] == {cause: 1}
    assert words in report["drafts"][0]["reason"]
    assert (draft.world / "tasks.yaml").read_bytes() == (LIBRARY / "tasks.yaml").read_bytes()


def test_a_database_is_only_read_by_a_draft(draft: Command, tmp_path: Path):
    """A statement that writes or attaches a file is refused, not executed."""
    outside = tmp_path / "outside.db"
    statements = ("DELETE FROM loans RETURNING loan_id AS member_id", f"ATTACH '{outside}' AS x")
    for seed, sql in enumerate(statements):
        text = COUNT.replace("SELECT member_id, name FROM members", sql)
        words = ["--count", "1", "--attempts", "1", "--seed", str(seed)]
        report = draft(Author([fenced(text)]), *words)
        assert report["left_out"] == {"notation": 1}
    assert not outside.exists()


def test_a_world_that_ships_is_copied(draft: Command, tmp_path: Path):
    draft.world = Path("library")
    assert "--to PATH" in draft(Author([]), "--count", "1")["error"]
    copy = tmp_path / "copy"
    report = draft(Author([fenced(COUNT)]), "--count", "1", "--to", str(copy))
    assert (report["kept"], report["world"]) == (1, str(copy))
    assert "count_loans" in (copy / "tasks.yaml").read_text("utf-8")
    draft(Author([]), "--count", "1", "--to", str(copy))
    assert draft.code == 0


def test_an_endpoint_that_is_gone_stops_the_job(draft: Command):
    report = draft(Author([fenced(COUNT), Fault(status=503)]), "--count", "3")
    assert (draft.code, report["made"]) == (3, 1)
    assert "the endpoint does not answer" in report["stopped"]
    assert "401" in draft(Author([Fault(status=401)]), "--count", "3")["error"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tasks.count=3"], "tasks.count=3: `synth draft` heeds model"),
        (["--count", "0"], "argument --count: '0' must be a whole number of at least 1"),
        (["--model", "scripted"], "writes nothing"),
        (["--proof-timeout", "0"], "--proof-timeout"),
    ],
)
def test_a_mistake_in_the_command_is_named(draft: Command, words: list[str], message: str):
    assert message in draft(Author([]), *words)["error"]
    assert draft.code == 2


def test_a_dry_run_prints_the_first_prompt(world: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--model", "m", "--base-url", "http://127.0.0.1:1/v1", "--dry-run"]
    assert main(["draft", str(world), *words]) == 0
    shown = capsys.readouterr().out
    for part in ("CREATE TABLE loans", '"name": "Ada Kern"', "list_loans", "You lend the books"):
        assert part in shown
    assert "- renew_all (find_member, list_loans, renew, submit)" in shown
    assert not (world / ".synth").exists()
