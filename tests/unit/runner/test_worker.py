"""The worker as a resident of somebody's process."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

from synth import worker
from synth.config import from_dict
from synth.core.foundation.archive import pack_world
from synth.core.foundation.own_process import THRESHOLDS
from synth.core.foundation.shipped import find_world
from synth.core.runner.worker_messages import Assignment, Delivery
from synth.prepare import prepare
from synth.worker import Worker


async def test_the_garbage_collector_is_as_it_was_once_a_worker_is_closed():
    """An inline worker lives in a process that is not its own; closing twice is safe, whatever was
    set between.
    """
    run = prepare(from_dict({"env": {"path": str(find_world("ehr_db"))}, "tasks": {"count": 1}}))
    before, others = gc.get_threshold(), (900, 9, 9)
    worker = Worker(run.worker_setup(pack_world(find_world("ehr_db"))))
    try:
        await worker.start()
        assert gc.get_threshold() == THRESHOLDS
        await worker.close()
        assert gc.get_threshold() == before
        gc.set_threshold(*others)
        await worker.close()
        assert gc.get_threshold() == others
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(
    ("refusals", "spent", "tries"), [(2, None, 3), (2, {"turns": 1}, 1), (99, None, 5)]
)
async def test_work_that_finds_a_full_server_begins_again_unless_it_has_cost_something(
    refusals: int, spent: dict[str, object] | None, tries: int, monkeypatch: pytest.MonkeyPatch
):
    """The clock moves by 15 seconds with each try, and work is given up after 60."""
    run = prepare(from_dict({"env": {"path": str(find_world("library"))}, "tasks": {"count": 1}}))
    one = Worker(run.worker_setup(pack_world(find_world("library"))))
    full = Delivery(0, "error", error_type="NoRoomError", retryable=True, stats=spent)
    made: list[Delivery] = []

    async def deliver(work: Assignment) -> Delivery:
        made.append(full if len(made) < refusals else Delivery(0, "proved"))
        return made[-1]

    monkeypatch.setattr(one, "_deliver", deliver)
    monkeypatch.setattr(worker, "_AGAIN_S", 0)
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: 15.0 * len(made) + 1))
    await one.lease([Assignment(0)])
    (delivery,) = (await one.collect(5)).deliveries
    assert len(made) == tries
    assert delivery == made[-1]
    await one.close()
