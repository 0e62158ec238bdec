"""Which phrasings of a family are refused, with the cause and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from synth.core.foundation.shipped import find_world
from synth.core.tasks.phrasings import UserPhrasing
from synth.core.validation.check import Options
from synth.ext.authoring.asking.questions import Refusal
from synth.ext.authoring.rephrasing.bench import PhrasingBench

GOOD = "{title} is what {name} wants to read next, so put it on that card."


@pytest.fixture(scope="module")
def judged() -> Iterator[Callable[[str], None]]:
    """The judging of a request of the family `lend_book`."""
    with closing(PhrasingBench(find_world("library"), Options())) as bench:
        own = bench.words("lend_book")
        yield lambda text: bench.judge(UserPhrasing("lend_book", {"says": text}), own, [])


@pytest.mark.parametrize(
    ("request_text", "cause", "words"),
    [
        ("{name} wants that book by Austen.", "lost value", "lacks {title}"),
        ("Ada Kern wants to take {title} home for {name}.", "leak", "where {name} stands for it"),
        ("{name} wants {title} lent to the card.", "leak", "'lent'"),
        ("Use find_member for {name}, then hand out {title}.", "leak", "the tool 'find_member'"),
        ("{name} wants {title}, copy 12 of it.", "new value", "'12'"),
        ("{name} wants {title} by Friday evening.", "new value", "'friday'"),
        ("Do not let {name} have {title} under any circumstances.", "meaning", "'not'"),
        ("{name}: would like to borrow {title}!", "near-duplicate", "nearly repeats"),
        ("{name} is {lent} and wants {title}.", "leak", "names {lent}"),
        ("# {title}\n{name} wants it.", "form", "line breaks"),
        ("**{title}** for {name}, thanks.", "form", "markup"),
        ("As an AI I think {name} wants {title}.", "form", "work of writing"),
        (f"{{name}} wants {{title}} {'very ' * 80}much.", "form", "characters"),
        ("{name} wants {title} and {", "form", "single '{'"),
        ("{name} wants {title} l\u200bent.", "form", "that nobody sees"),
        ("The card of {{name}} is for {title}.", "lost value", "lacks {name}"),
    ],
)
def test_a_phrasing_that_says_another_thing_is_refused_with_its_cause(
    judged: Callable[[str], None], request_text: str, cause: str, words: str
):
    with pytest.raises(Refusal) as caught:
        judged(request_text)
    assert caught.value.cause == cause
    assert words in caught.value.reason


def test_one_that_says_the_same_is_taken(judged: Callable[[str], None]):
    judged(GOOD)
