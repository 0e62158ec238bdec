"""A fact counts in the forms that what was read gives it."""

from __future__ import annotations

from synth.ext.action_lists.wording import consent, forms_of

USER = {
    "payment_methods": {
        "credit_card_442": {"source": "credit_card", "brand": "visa", "last_four": "7447"},
        "gift_card_88": {"source": "gift_card", "amount": 50},
        "gift_card_99": {"source": "gift_card", "amount": 60},
    },
    "items": [{"item_id": "711", "name": "Lamp"}, {"item_id": "712", "name": "Bottle"}],
}


def test_a_row_is_named_by_what_its_neighbours_have_not():
    assert forms_of("payment_id", "credit_card_442", [USER]) == [
        "442",
        "credit card",
        "visa",
        "ending in 7447",
    ]
    assert forms_of("payment_id", "gift_card_88", [USER]) == ["88", "gift card"]
    assert forms_of("item_id", "711", [USER]) == ["Lamp"]
    assert forms_of("order_id", "#W12", [USER, "text", None]) == ["W12"]
    assert forms_of("amount", 250, [USER]) == ["$250"]


def test_what_the_user_said_is_demanded_and_the_rest_is_right_if_it_is_named():
    made = consent(
        "update_flights",
        {"reservation_id": "M05KNL", "cabin": "economy", "payment_id": "credit_card_442"},
        {"properties": {"cabin": {"enum": ["business", "economy"]}}},
        "Change it on my visa.",
        [USER],
    )
    assert made.mentions == ["credit_card_442"]
    assert made.if_named == ["M05KNL", "economy"]
    assert made.rivals == {"economy": ["business"]}
    assert list(made.never) == ["to business"]
