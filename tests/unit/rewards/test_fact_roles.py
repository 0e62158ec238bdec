"""Facts in each other's place."""

from __future__ import annotations

from synth.core.rewards.reply.facts import exchanged
from synth.core.types.reply import Fact
from synth.core.validation.attacks.consent import form


def test_forms():
    assert form("27") == form("47.50")
    assert len({form("27"), form("27 mg"), form("bottle"), form("2026-03-02")}) == 4


def test_a_word_of_two_names_is_the_name_of_neither():
    facts = [
        Fact("orders", ["4"], words=["order"]),
        Fact("spent", ["81630"], words=["spent"]),
        Fact("last_order", ["2026-02-20 16:43:51"], words=["last", "order"]),
    ]
    assert not list(exchanged(["You have placed 4 orders for 81630 cents."], facts))
    assert list(exchanged(["The last one is 81630."], facts))
