"""Whatever an agent says, the user keeps its role: it tells what it knows, agrees to what was
restated, and gives nothing away.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.core.users.scripted.proposal import Turn
from tests.unit.users.scripted.test_user import WARD, hear

pytestmark = pytest.mark.slow

PARTS = st.sampled_from(
    [
        "Shall I proceed?", "prednisone", "5 mg", "10 mg", "1980-05-03", "May 3, 1980", "1975-01-01", "or", "not", "and",
        "Anna Meier", "date of birth", "which", "What is the", ("Could you tell me"), "please", "confirm", "?", ".", ",", ":",
        "\n", "\n- ", "\n1. ", "**", ("Is there anything else?"), "email", "diagnosis", "I need your", "OK?", "$5", "\u2019s",
    ]
)  # fmt: skip
TEXTS = st.lists(PARTS, max_size=14).map(" ".join) | st.text(max_size=60)


@settings(max_examples=400, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_user_stays_in_its_role(texts: list[str]):
    assert WARD.consent is not None
    said = [WARD.opening]
    for count, turn in enumerate(hear(WARD, *texts), 1):
        assert set(turn.told) <= set(WARD.knows)
        assert bool(turn.text) != turn.ends
        assert not (turn.ends and (turn.told or turn.consents))
        if turn.consents:
            named = Turn("\n".join(texts[:count]))  # also what the agent said in earlier turns
            assert all(named.holds(fact) for fact in WARD.consent.mentions)
        told = [WARD.knows[name].says for name in turn.told]
        for secret in ("1980-05-03", "asthma", "meier.a7@example.com"):
            known = any(secret in each for each in [*said, *told])
            assert (
                secret not in turn.text or known or (turn.consents and secret in WARD.consent.says)
            )
        said += told


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_a_rival_dose_beside_the_right_one_is_never_agreed_to(before: str, after: str):
    (turn,) = hear(
        WARD,
        f"{before}\n{after}\nPrednisone 5 mg or 20 mg for Anna Meier, born 1980-05-03, shall I"
        " proceed?",
    )
    assert not turn.consents
