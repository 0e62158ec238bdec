"""A newcomer's mistakes, one at a time: each is refused by one sentence at its place, without a
dump or a traceback.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import WorldError
from synth.core.validation.check import Options
from synth.core.validation.world import check_world
from synth.errors import TaskError
from tests.unit.validation import lending_world

pytestmark = pytest.mark.slow

TASKS, TOOLS, CODE, PYTHON, SEED = "tasks.yaml", "tools.yaml", "executors.py", "tasks.py", "seed.py"

GROUND = '"SELECT book_id, title FROM books"'
ASKED = '["What does {title} cost?", "The price of {title}?"]'
ORACLE = '"SELECT price FROM books WHERE book_id = :book_id"'
REFUSE = '  - refuse:\n      [{submit: {outcome: refused}}, {say: "{name} is barred, so I lent nothing."}]\n'
TWINS = "{allow: NOT barred, refuse: barred}"
LOOP = '{loan: $loans, do: [{renew: {loan_id: $loan.loan_id, due: "{until}"}}]}'
MUST = (
    "SELECT colour = :colour AND loan_id > 43 FROM loans JOIN books USING (book_id) WHERE"
    " loan_id = :new"
)
GATES = (
    "[state, answer, {no_write_before: [ask, confirm]}, {required_calls: [find_book]},"
    " {forbidden_calls: [renew]}]"
)
UNTIL = 'until: {date: ["2026-04-01", "2026-04-30"]}'
LEND = "lend: {member_id: $member, book_id: $book, note: null}"


def found(folder: Path, *families: str, universes: int = 1) -> list[str]:
    """What a check of some families complains of, without the folder."""
    options = Options(families=families, per_case=1, universes=universes)
    try:
        report = check_world(folder, options, lambda _: None)
    except (TaskError, WorldError) as error:
        return [str(error).replace(f"{folder}/", "")]
    told = [line for family in report.families for line in (*family.problems, *family.surviving)]
    return [
        each.replace(f"{folder}/", "") for each in (*told, *([report.seed] if report.seed else []))
    ]


def test_the_world_without_a_mistake_proves_itself(tmp_path: Path):
    folder = lending_world.make(tmp_path)
    assert (
        found(folder, "price", "lend_book", "renew_all", "any_red", "lend_two", universes=2) == []
    )


@pytest.mark.parametrize(
    ("family", "file", "old", "new", "place", "words"),
    [
        # grounding
        ("price", TASKS, GROUND, ("\"SELECT book_id, x'00' AS title FROM books\""), 7, ("bytes are not a JSON value")),
        ("price", TASKS, GROUND, ('"SELECT book_id, NULL AS title FROM books"'), 13, ("find_book fails: 'title' is required (")),
        # texts
        ("price", TASKS, ASKED, ('"What does $title cost?"'), 8, ("says: $title stands inside a text: write {title}")),
        ("price", TASKS, ASKED, '"What does {title.x} cost?"', 5, "title has no field 'x'; it is "),
        # oracle
        ("price", TASKS, ORACLE, '" "', 11, "`oracle price` must be text that is not empty"),
        ("price", TASKS, ORACLE, '"-- nothing"', 11, ("oracle price: the query gives no rows: write a SELECT")),
        # gold
        ("price", TASKS, 'title: "{title}"}', "title: $title}", 13, ('find_book title: $title is a slot: write "{title}"')),
        ("price", TASKS, 'title: "{title}"}', "title: 5}", 13, ("find_book fails: title: 5 is not of type 'string' (")),
        ("price", TASKS, "$.price}", "$.prize}", 13, ("gold cannot save 'price' from find_book: $.prize finds nothing")),
        ("price", TASKS, ("submit: {price: $price}"), "submit: {}", 15, ("`gold submit` must have 1 or more entries")),
        ("price", TASKS, ("{type: number, compare: {abs: 0.01}"), "{type: string", 15, ("submit fails: price: ")),
        ("price", TASKS, ("[state, {answer: {price: $oracle.price}}]"), "[state]", 17, "add `answer`"),
        # cases and talk
        ("lend_book", TASKS, TWINS, ("{allow: NOT barred, refuse: NOT barred}"), 24, ("is in allow and refuse")),
        ("lend_book", TASKS, TWINS, ("{allow: NOT barred, refuse: barred > 1}"), 24, ("case 'refuse' has no row")),
        ("lend_book", TASKS, (REFUSE.strip()[2:]), "refuse: []", 47, ("refuse must have 1 or more entries")),
        ("lend_book", TASKS, (REFUSE), "", 47, "case 'refuse' submits nothing"),
        ("lend_book", TASKS, GATES, ("[answer, {no_write_before: [ask, confirm]}]"), 49, "add `state`"),
        ("lend_book", TASKS, LEND, LEND.replace("$member", "$member.id"), 44, ("member has no field 'id'; it is '")),
        ("lend_book", TASKS, LEND, LEND.replace("$book", '"no {book}"'), 44, ("the gold call lend fails: book_id: 'no 3")),
        ("lend_book", TASKS, LEND, LEND.replace("$book", "77"), 44, ("FOREIGN KEY constraint failed")),
        # loops and varied values
        ("renew_all", TASKS, LOOP, LOOP.replace("$loans", "$member"), 65, ("for_each loan needs a list, not 2")),
        ("renew_all", TASKS, LOOP, LOOP.replace(".loan_id", ".id"), 65, ("loan has no field 'id'; its fields are loan_id, due")),
        ("renew_all", TASKS, LOOP, "{loan: $loans, do: renew}", 65, "`gold for_each do` must be a list"),
        ("renew_all", TASKS, UNTIL, ("until: {float: [1, 2, 0]}"), 55, ("vary until: the step must be above 0")),
        # other right ends
        ("any_red", TASKS, MUST, "SELECT 1", 79, ("an agent that does nothing: let `must` be false before the work")),
        ("any_red", TASKS, MUST, ("SELECT loan_id FROM loans"), 79, ("alternative 1: condition 1 gives 4 values where one is due")),
        # tasks.py
        ("lend_two", PYTHON, "yield {", "yield [{", 10, "SyntaxError: '[' was never closed"),
        ("lend_two", PYTHON, ('"book_id": "$one"'), ('"book_id": "$first"'), 6, ('$first is a slot: write "{first}"')),
        ("lend_two", PYTHON, "(db: Connection)", "()", 6, ("must take one argument, (db); a helper's name begins with")),
        ("lend_two", PYTHON, '"key":', ('"case": "x", "key":'), 6, ("all tasks have the case 'x': cases come in two or more")),
        ("lend_two", PYTHON, "def lend_two", ("def lend_two(db):\n    pass\n\n\ndef lend_two"), 10, ("two functions are named 'lend_two'")),
        # tools
        ("price", CODE, "return found[0]", "return found[1]", 31, ("tool find_book raised IndexError: list index out of range")),
        ("price", CODE, ", t=title)", ", u=title)", 6, ("raised StatementError: A value is required for bind parameter 't' (task")),
        ("price", CODE, "return found[0]", "return {1}", "tasks.yaml:13", ("must return JSON")),
        ("price", CODE, ("FROM books WHERE title"), ("FROM book WHERE title"), "tasks.yaml:13", ("fails: no such table: book (table_not_found)")),
        ("price", CODE, "def list_books", "def find_book", 35, ("two functions are named 'find_book'")),
        ("price", CODE, ("@tool\ndef lend"), ('@tool(name="lend it")\ndef lend'), 54, ("tool name 'lend it' must match")),
        ("price", TOOLS, "name: renew", "name: lend", 1, "two tools are named 'lend'"),
        ("price", TOOLS, "type: object", "type: objekt", 3, ("parameters must be a JSON Schema: type: 'objekt'")),
        ("price", TOOLS, ("[loan_id, due]"), ("[loan_id, date]"), 3, ("`required` names the unknown property 'date'")),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence_at_its_place(
    tmp_path: Path, family: str, file: str, old: str, new: str, place: int | str, words: str
):
    messages = found(lending_world.make(tmp_path / "library", file, old, new), family)
    assert len(messages) == 1
    where = place if isinstance(place, str) else f"{file}:{place}"
    assert messages[0].startswith(f"{where}: ")
    assert words in messages[0]
    assert "\n" not in messages[0]
    assert '{"status"' not in messages[0]


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("base = 1000 * universe", "base = 1000 * universo", 6, "rows(1) breaks: NameError"),
        (
            '"born": born',
            '"borne": born',
            8,
            "no column in members is called 'borne'; did you mean born?",
        ),
        (
            "base = 1000 * universe",
            "base = id(random) % 9973 * 10",
            None,
            "rows(1) gives other rows in another process",
        ),
    ],
)
def test_each_mistake_in_seed_py(tmp_path: Path, old: str, new: str, line: int | None, words: str):
    messages = found(
        lending_world.make(tmp_path / "library", SEED, old, new), "lend_book", universes=2
    )
    assert len(messages) == 1
    assert words in messages[0]
    assert line is None or messages[0].startswith(f"seed.py:{line}: ")


def test_a_universe_in_which_a_case_has_no_row_is_noted_and_no_fault(tmp_path: Path):
    folder = lending_world.make(tmp_path / "library", SEED, '"barred": n % 2', '"barred": 0')
    options = Options(families=("lend_book", "price"), per_case=1, universes=2)
    report = check_world(folder, options, lambda _: None)
    assert report.ok
    (lend,) = [family for family in report.families if family.family == "lend_book"]
    assert any("universe 1: it has no task here: case 'refuse'" in note for note in lend.notes)
