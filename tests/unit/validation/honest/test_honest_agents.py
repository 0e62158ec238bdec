"""Honest agents: what they play on a world that ships, what they find, and how a family excepts
one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from synth.core.validation.check import Options
from synth.core.validation.honest.base import HonestAgent
from synth.core.validation.report import FamilyReport
from synth.core.validation.world import check_world
from synth.errors import TaskError
from synth.plugins import HONEST_AGENTS
from synth.testing import HonestAgentConformance
from tests.unit.validation import lending_world

pytestmark = pytest.mark.slow

RETAIL = Path(__file__).parents[2] / "tasks" / "retail"
LIBRARY = {
    "terse": ("ehr_db", ("prescribe_ambiguous_name",)),
    "reads_more": None,
    "reads_otherwise": None,
    "writes_otherwise": None,
    "corrects_itself": None,
    "looks_up_otherwise": ("ehr_db", ("last_blood_pressure",)),
    "narrates": None,
    "greets": None,
    "asks_again": None,
    "confirms_each_write": None,
    "reads_back": None,
    "offers_more": None,
    "says_goodbye": None,
    "asks_at_once": (str(RETAIL), ("asked_twice",)),
    "asks_generically": ("ehr_db", ("which_patient",)),
    "asks_one_by_one": ("ehr_db", ("reaction_details",)),
    "confirms_in_markdown": ("ehr_db", ("prescribe_ambiguous_name",)),
    "confirms_in_other_forms": ("ehr_db", ("prescribe_ambiguous_name",)),
}
"""Each agent that ships, with the world and the families to which it makes a difference; None: the
library.
"""


def conformance(name: str) -> type[HonestAgentConformance]:
    """The contract tests of an agent that ships."""
    made: Callable[[], HonestAgent] = HONEST_AGENTS.load(name)
    where = LIBRARY[name]
    body: dict[str, object] = {"agent": lambda _: made()}
    if where is not None:
        body |= {"world": where[0], "families": where[1]}
    return type(f"Test{made.__name__}", (HonestAgentConformance,), body)  # type: ignore[attr-defined]


TestTerse = conformance("terse")
TestReadsMore = conformance("reads_more")
TestReadsInAnotherOrder = conformance("reads_otherwise")
TestWritesInAnotherOrder = conformance("writes_otherwise")
TestCorrectsItself = conformance("corrects_itself")
TestLooksUpOtherwise = conformance("looks_up_otherwise")
TestNarrates = conformance("narrates")
TestGreets = conformance("greets")
TestAsksAgain = conformance("asks_again")
TestConfirmsEachWrite = conformance("confirms_each_write")
TestReadsBack = conformance("reads_back")
TestOffersMore = conformance("offers_more")
TestSaysGoodbye = conformance("says_goodbye")
TestAsksAtOnce = conformance("asks_at_once")
TestAsksGenerically = conformance("asks_generically")
TestAsksOneByOne = conformance("asks_one_by_one")
TestConfirmsInMarkdown = conformance("confirms_in_markdown")
TestConfirmsInOtherForms = conformance("confirms_in_other_forms")


def check(folder: Path, *honest: str) -> dict[str, FamilyReport]:
    report = check_world(folder, Options(per_case=2, honest=honest), lambda _: None)
    return {family.family: family for family in report.families}


ABOUT = "  about: What a book costs.\n"
STRICT = """
from synth.rewards import gate

@gate(families=["price"])
def reads_once(evidence):
    return len(evidence.calls) <= 2, f"{len(evidence.calls)} calls"
"""


def test_an_honest_agent_that_loses_fails_the_family_with_file_line_and_reason(tmp_path: Path):
    folder = lending_world.make(tmp_path / "world")
    (folder / "rewards.py").write_text(STRICT)
    report = check(folder, "corrects_itself")["price"]
    assert not report.ok
    assert report.honest_played == {"corrects_itself": 2}
    assert report.honest_won == {"corrects_itself": 0}
    (line,) = report.honest_lost
    tasks = folder / "tasks.yaml"
    gold = next(
        number for number, text in enumerate(tasks.read_text().splitlines(), 1) if "gold:" in text
    )
    assert line.startswith(f"{tasks}:{gold}: family price: ")
    assert "the honest agent corrects_itself loses 2 of 2 tasks: 3 calls" in line
    assert "honest: {except: {corrects_itself: reason}}" in line


def test_a_family_may_except_an_agent_with_a_reason(tmp_path: Path):
    excepted = f"{ABOUT}  honest: {{except: {{corrects_itself: one try only}}}}\n"
    folder = lending_world.make(tmp_path / "world", "tasks.yaml", ABOUT, excepted)
    (folder / "rewards.py").write_text(STRICT)
    report = check(folder, "corrects_itself", "terse")["price"]
    assert report.ok
    assert report.honest_excepted == {"corrects_itself": "one try only"}


@pytest.mark.parametrize(
    ("excepted", "message"),
    [
        ("{except: {corects_itself: why}}", "unknown honest agent 'corects_itself'; did you mean corrects_itself?"),
        ("{except: {terse: ''}}", "`honest except terse` must be text"),
        ("{but: {terse: why}}", "honest has no key 'but'"),
    ],
)  # fmt: skip
def test_a_mistake_in_an_exception_is_refused(tmp_path: Path, excepted: str, message: str):
    excepted = f"{ABOUT}  honest: {excepted}\n"
    folder = lending_world.make(tmp_path / "world", "tasks.yaml", ABOUT, excepted)
    with pytest.raises(TaskError, match=r"tasks.yaml:7: family price") as caught:
        check(folder)
    assert message in str(caught.value)
