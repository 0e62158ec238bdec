"""Bounds on the shape of the code base, measured by `tests/house.py`.

``python -m tests.house --list`` shows what each figure counts and where.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import envs
import synth
from synth.__main__ import COMMANDS
from tests import house, house_plan
from tests.test_architecture import LAZY, lazy_imports


@dataclass(frozen=True)
class Bound:
    """A bound of one figure: ``now`` is what is enforced, ``goal`` what the plan asks for.

    ``now`` is a ratchet: it goes down, never up, until it is ``goal``.
    """

    figure: str
    goal: float
    now: float


BOUNDS = [
    Bound("modules at the root of synth", goal=20, now=23),
    Bound("percent of docstrings that open with a question word", goal=3.0, now=1.0),
    Bound("class names used twice in a wing", goal=0, now=0),
    Bound("modules with Json = Any", goal=24, now=24),
    Bound("functions over complexity 25", goal=0, now=0),
    Bound("functions over complexity 20", goal=0, now=0),
    Bound("functions over complexity 15", goal=19, now=18),
    Bound("lines over 100 columns", goal=0, now=0),
    Bound("loop variables named each or told", goal=0, now=0),
]


WHOLE = [
    Bound("modules in the longest chain of imports", goal=24, now=25),
    Bound("modules that a default run imports", goal=200, now=287),
    Bound("lines that a default run imports", goal=28_000, now=45_870),
    Bound("fields of Task", goal=16, now=23),
    Bound("public definitions", goal=1_200, now=2_270),
    Bound("functions that take RunConfig", goal=10, now=10),
    Bound("keys of the core", goal=100, now=100),
    Bound("keys of the config", goal=169, now=173),
    Bound("'that of' in docstrings", goal=0, now=0),
    Bound("'is no' in messages", goal=0, now=0),
    Bound("words of docs", goal=28_000, now=28_000),
    Bound("lines of tests", goal=60_000, now=84_795),
]
"""Figures of the house as a whole."""


@pytest.mark.parametrize("bound", WHOLE, ids=lambda bound: bound.figure)
def test_a_figure_of_the_whole_house_keeps_its_bound(bound: Bound):
    found = house_plan.FIGURES[bound.figure]()
    assert (found if isinstance(found, int) else len(found)) <= bound.now, found


@pytest.fixture(scope="module")
def figures() -> dict[str, house.Figure]:
    return {figure.name: figure for figure in house.figures()}


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.figure)
def test_a_figure_keeps_its_bound(bound: Bound, figures: dict[str, house.Figure]):
    figure = figures[bound.figure]
    assert figure.value <= bound.now, "\n".join(figure.places)


def test_no_row_of_the_table_of_lazy_imports_is_left_over():
    assert lazy_imports() == set(LAZY)


def test_no_room_has_the_name_of_a_public_function():
    """`synth.run()` and a folder `synth/run/` cannot both exist.

    `envs/reseed` stays: the function that it is named after is its own. `view` is a command and a
    room, and no function.
    """
    functions = {"run", "load", "open", "check", "replay", "grade", "export", "eval"}
    functions |= {command.replace("-", "_") for command in COMMANDS} - {"view"}
    functions |= {*envs.__all__, *synth.__all__}
    wrong = [
        f"{wing}/{path.name}"
        for wing in house.WINGS
        for path in (house.ROOT / wing).iterdir()
        if path.name.removesuffix(".py") in functions and (wing, path.name) != ("envs", "reseed")
    ]
    assert not wrong
