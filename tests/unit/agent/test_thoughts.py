"""Thoughts that a model marks in its text are not its answer."""

from __future__ import annotations

import pytest

from synth.core.models.thoughts import without_thoughts


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Order 7 is on its way.", "Order 7 is on its way."),
        ("<think>\n\n</think>\n\nOrder 7 is on its way.", "Order 7 is on its way."),
        ("It is late.</think>Order 7 is on its way.", "Order 7 is on its way."),
        ("<think>Which order? Nobody said", ""),
        ("[THINK]late[/THINK] On its way.", "On its way."),
        ('The tag "<think>" is shown.', 'The tag "<think>" is shown.'),
    ],
)
def test_what_is_said_has_no_thoughts(text: str, answer: str):
    assert without_thoughts(text) == answer
