"""The breaker: equal refusals of an endpoint that accepts nothing, and rollouts without a
completion.
"""

from __future__ import annotations

from synth.core.runner.breaker import EQUAL_REFUSALS, Breaker
from synth.core.runner.worker_messages import Delivery

ROW = Delivery(0, "row", stats={"num_turns": 2, "stop_reason": "finished"})
SILENT = Delivery(0, "row", stats={"num_turns": 0, "stop_reason": "time_budget"})
BROKEN = Delivery(0, "error", message="down", fault="endpoint")


def refused(words: str) -> Delivery:
    return Delivery(0, "error", message=words, fault="refused")


def test_equal_refusals_stop_a_run_whose_endpoint_never_accepted_a_request():
    breaker = Breaker(40, 0.9, accepted=False)
    reasons = [breaker.hear(refused(f"request {number}: no")) for number in range(EQUAL_REFUSALS)]
    assert reasons[:-1] == [None] * (EQUAL_REFUSALS - 1)
    assert reasons[-1] == (
        f"the endpoint has let no rollout come to an end; it refuses each: request {EQUAL_REFUSALS - 1}: no"
    )


def test_equal_refusals_of_later_turns_stop_a_run_of_which_no_rollout_ends():
    """charmbracelet/crush#2696, MoonshotAI/kimi-cli#2141: each rollout was given up in its second turn."""
    breaker = Breaker(40, 0.9, accepted=False)
    later = Delivery(0, "error", message="no", fault="refused", stats={"num_turns": 1})
    reasons = [breaker.hear(later) for _ in range(EQUAL_REFUSALS)]
    assert reasons[:-1] == [None] * (EQUAL_REFUSALS - 1)
    assert reasons[-1] is not None
    assert breaker.counts(later)


def test_different_refusals_do_not():
    breaker = Breaker(40, 0.9, accepted=False)
    assert not any(breaker.hear(refused(word)) for word in "abcdefghij")


def test_refusals_beside_answers_wait_for_the_window():
    for breaker in (Breaker(10, 0.9, accepted=True), Breaker(10, 0.9, accepted=False)):
        assert breaker.hear(ROW) is None
        reasons = [breaker.hear(refused("no")) for _ in range(9)]
        assert reasons[:-1] == [None] * 8
        assert reasons[-1] == "9 of the last 10 rollouts failed; the last: no"


def test_rows_without_a_completion_count_as_failed():
    breaker = Breaker(4, 0.9, accepted=True)
    reasons = [breaker.hear(delivery) for delivery in (SILENT, BROKEN, SILENT, SILENT)]
    assert reasons == [
        *[None] * 3,
        "4 of the last 4 rollouts failed; the last: no completion, stopped by time_budget",
    ]


def test_an_error_is_an_attempt_once_the_endpoint_has_accepted_anything():
    breaker = Breaker(40, 0.9, accepted=False)
    breaker.hear(BROKEN)
    assert not breaker.counts(BROKEN)
    assert breaker.counts(Delivery(0, "error", message="a worker died"))
    breaker.hear(Delivery(0, "error", fault="endpoint", stats={"num_turns": 1}))
    assert breaker.counts(BROKEN)
