"""Governor and gates together: what several workers may do, whatever they want, when they ask and
when they end.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from synth.core.runner.rate_limits.governor import BURST_S, Governor
from synth.core.runner.rate_limits.limiter import LEASE_S, LeasedRateLimiter
from synth.core.runner.worker_messages import Quota
from synth.core.types.events import Usage
from synth.errors import ModelError
from tests.unit.runner.rate_limits.clock import Clock


class Crew:
    """Workers whose attempts begin as they are let in and end when :meth:`end` says so."""

    def __init__(self, quota: Quota, workers: int) -> None:
        self.clock = Clock()
        self.governor = Governor(quota, workers, self.clock)
        self.calls = 0
        self.gates = [LeasedRateLimiter(self._called, self.clock) for _ in range(workers)]
        self.begun: list[float] = []
        self.going: list[list[asyncio.Event]] = [[] for _ in range(workers)]
        self.tasks: list[asyncio.Task[None]] = []

    def _called(self) -> None:
        self.calls += 1

    @property
    def in_flight(self) -> int:
        return sum(map(len, self.going))

    def ask(
        self,
        worker: int,
        tokens: int = 0,
        usage: Usage | None = None,
        error: ModelError | None = None,
    ) -> None:
        self.tasks.append(asyncio.create_task(self._attempt(worker, tokens, usage, error)))

    async def _attempt(
        self, worker: int, tokens: int, usage: Usage | None, error: ModelError | None
    ) -> None:
        gate, ends = self.gates[worker], asyncio.Event()
        async with gate.slot(tokens):
            self.begun.append(self.clock.now)
            self.going[worker].append(ends)
            await ends.wait()
            gate.report(error, error.retry_after_s if error else None, usage)

    async def end(self, worker: int, count: int = 1) -> None:
        for _ in range(min(count, len(self.going[worker]))):
            self.going[worker].pop(0).set()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(4):
            await asyncio.sleep(0)

    async def exchange(self, worker: int) -> None:
        """One collecting: the report is of before the grant, as over the wire."""
        self.gates[worker].apply_lease(self.governor.grant(worker))
        await self.settle()
        self.governor.hear(worker, self.gates[worker].report_usage())

    async def until(self, done: Callable[[], bool], rounds: int = 20) -> None:
        for _ in range(rounds):
            if done():
                return
            for worker in range(len(self.gates)):
                await self.exchange(worker)
        raise AssertionError("it never came")

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def fixed(places: int, **rates: int) -> Quota:
    return Quota(places, places, places, **rates)


async def test_nobody_asks_before_the_first_grant_and_the_gate_calls_for_it_once():
    crew = Crew(fixed(4), 1)
    for _ in range(3):
        crew.ask(0)
    await asyncio.sleep(0.05)
    assert (crew.in_flight, crew.calls) == (0, 1)
    await crew.exchange(0)
    assert crew.in_flight == 3
    await crew.close()


async def test_a_lease_that_is_not_renewed_expires():
    """A worker whose driver was killed lets nobody in; one whose driver was only slow goes on."""
    crew = Crew(fixed(4), 1)
    crew.ask(0)
    await crew.exchange(0)
    crew.clock.now += LEASE_S
    crew.ask(0)
    await crew.settle()
    await crew.end(0)
    await asyncio.sleep(0.05)
    assert (len(crew.begun), crew.in_flight, crew.calls) == (1, 0, 1)
    await crew.exchange(0)
    assert crew.in_flight == 1
    await crew.close()


@pytest.mark.parametrize("seed", range(20))
async def test_together_they_never_ask_for_more_at_once_than_the_run_may(seed: int):
    """Three workers, wants that come and go, exchanges in any order: the limit of seven holds at
    every moment.
    """
    chance, crew = random.Random(seed), Crew(fixed(7), 3)
    for _ in range(300):
        worker = chance.randrange(3)
        for _ in range(chance.choice([0, 0, 1, 5])):
            crew.ask(worker)
        await crew.settle()
        if chance.random() < 0.5:
            await crew.exchange(worker)
        if chance.random() < 0.5:
            await crew.end(chance.randrange(3), chance.randint(1, 4))
        assert crew.in_flight <= 7
    await crew.close()


async def test_what_one_worker_does_not_want_another_gets():
    crew = Crew(fixed(8), 2)
    for _ in range(8):
        crew.ask(0)
    await crew.settle()
    await crew.until(lambda: len(crew.going[0]) >= 7)
    for _ in range(6):
        crew.ask(1)
    await crew.settle()
    for _ in range(8):
        await crew.end(0)
        await crew.exchange(0)
        await crew.exchange(1)
    assert len(crew.going[1]) == 6
    await crew.close()


async def test_one_place_goes_round_among_many_workers():
    crew = Crew(fixed(1), 3)
    for worker in range(3):
        for _ in range(3):
            crew.ask(worker)
    await crew.settle()
    served: set[int] = set()
    for _ in range(200):
        crew.clock.now += 0.5
        for worker in range(3):
            await crew.exchange(worker)
            assert crew.in_flight <= 1
            if crew.going[worker]:
                served.add(worker)
                crew.ask(worker)
                await crew.end(worker)
    assert served == {0, 1, 2}
    await crew.close()


async def test_a_lost_worker_gives_its_places_back():
    crew = Crew(fixed(4), 2)
    for worker in (0, 1):
        for _ in range(4):
            crew.ask(worker)
    await crew.settle()
    await crew.until(lambda: crew.in_flight == 4)
    before = len(crew.going[1])
    crew.going[0].clear()
    crew.gates[0] = LeasedRateLimiter(lambda: None, crew.clock)
    crew.governor.forget(0)
    await crew.exchange(0)
    await crew.until(lambda: len(crew.going[1]) == 4)
    assert before < 4
    await crew.close()


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("per_minute", [60, 600, 3000])
@pytest.mark.slow
async def test_the_rate_of_requests_is_kept_and_used(per_minute: int, workers: int):
    """A minute with more wants than may be: within two percent of the rate, and never above it by
    more than the burst.
    """
    crew = Crew(fixed(100_000, requests_per_minute=per_minute), workers)
    for worker in range(workers):
        for _ in range(2 * per_minute // workers):
            crew.ask(worker)
    await crew.settle()
    began = crew.clock.now
    for _ in range(240):
        crew.clock.now += 0.25
        for worker in range(workers):
            await crew.exchange(worker)
    in_time = [at - began for at in crew.begun]
    shares = [len(each) / len(in_time) for each in crew.going]
    assert all(0.9 <= share * workers <= 1.1 for share in shares)
    assert 0.98 * per_minute <= len(in_time) <= per_minute * (1 + BURST_S / 60) + 1
    assert all(at + 1 <= per_minute / 60 * (when + BURST_S) + 2 for at, when in enumerate(in_time))
    await crew.close()


async def test_tokens_are_charged_by_estimate_and_corrected_by_usage():
    """An estimate of 100 where 300 are used: over ten minutes it is the usage that keeps the
    rate.
    """
    crew = Crew(fixed(10_000, tokens_per_minute=6_000), 2)
    for worker in (0, 1):
        for _ in range(400):
            crew.ask(worker, 100, Usage(250, 50))
    await crew.settle()
    for _ in range(2_400):
        crew.clock.now += 0.25
        for worker in (0, 1):
            await crew.exchange(worker)
            await crew.end(worker, 100)
    assert 10 * 6_000 * 0.97 <= 300 * len(crew.begun) <= 10 * 6_000 * 1.03
    await crew.close()


async def test_a_request_larger_than_what_is_saved_up_gets_through():
    crew = Crew(fixed(10, tokens_per_minute=600), 1)
    crew.ask(0, 5_000)
    crew.ask(0, 5_000)
    await crew.settle()
    for _ in range(300):
        crew.clock.now += 1
        await crew.exchange(0)
    assert len(crew.begun) == 1
    for _ in range(300):
        crew.clock.now += 1
        await crew.exchange(0)
    assert len(crew.begun) == 2
    await crew.close()


async def test_a_permit_of_one_who_gave_up_comes_back():
    crew = Crew(fixed(4, requests_per_minute=60), 1)
    crew.ask(0)
    await crew.settle()
    await crew.exchange(0)  # now it is known that a permit is wanted
    await crew.close()
    crew.clock.now += 1
    crew.gates[0].apply_lease(crew.governor.grant(0))
    report = crew.gates[0].report_usage()
    assert (crew.begun, report.returned) == ([], (0,))


async def test_a_wait_that_one_is_asked_for_holds_for_all():
    crew = Crew(fixed(10), 2)
    crew.ask(0, error=ModelError("slow down", True, 429, 30.0))
    await crew.settle()
    await crew.until(lambda: crew.in_flight == 1)
    await crew.end(0)
    await crew.exchange(0)
    crew.ask(1)
    await crew.settle()
    await crew.exchange(1)
    crew.clock.now += 29
    await crew.exchange(1)
    assert crew.in_flight == 0
    crew.clock.now += 2
    await crew.exchange(1)
    assert crew.in_flight == 1
    await crew.close()


async def test_overload_cuts_the_limit_and_a_refused_request_does_not():
    for status, cut in ((429, True), (503, True), (None, True), (500, False), (400, False)):
        crew = Crew(Quota(64, 1, 16), 1)
        for _ in range(16):
            crew.ask(0, error=ModelError("no", True, status))
        await crew.settle()
        await crew.until(lambda crew=crew: crew.in_flight >= 15)
        await crew.end(0, 16)
        await crew.exchange(0)
        assert (crew.governor.limit < 16) is cut, status
        await crew.close()


async def test_a_cancelled_attempt_leaves_nothing_behind():
    """Cancelled while waiting, while going, and in the moment of being let in."""
    crew = Crew(fixed(2), 1)
    for _ in range(5):
        crew.ask(0)
    await crew.settle()
    await crew.exchange(0)
    crew.tasks[0].cancel()
    crew.tasks[3].cancel()
    await crew.settle()
    crew.going[0].pop(0)
    crew.gates[0].apply_lease(crew.governor.grant(0))  # lets somebody in ...
    for each in crew.tasks:
        each.cancel()  # ... who is cancelled before it goes on
    await asyncio.gather(*crew.tasks, return_exceptions=True)
    report = crew.gates[0].report_usage()
    assert (report.in_flight, report.waiting) == (0, 0)
