"""The worker as a resident of somebody's process."""

from __future__ import annotations

import gc

from synth.config.schema import from_dict
from synth.foundation.archive import pack_world
from synth.foundation.collector import THRESHOLDS
from synth.foundation.shipped import find_world
from synth.runner.prepare import prepare
from synth.runner.worker import Worker


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
