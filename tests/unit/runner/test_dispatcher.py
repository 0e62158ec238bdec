"""The leasing loop against workers that die: nothing is lost, nothing is done twice, a poison job
ends as an error.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

import pytest

from synth.core.runner.runtimes.base import Runtime, WorkerHandle
from synth.core.runner.setup import WorkerSetup
from synth.core.runner.worker_messages import Assignment, Collected, Delivery, Grant
from synth.dispatcher import Dispatcher, StopSignal
from synth.errors import ModelAuthError, SynthError, WorkerHeld, WorkerLost

CONCURRENCY = 4


class Farm(Runtime):
    """Workers without processes. ``poison`` jobs kill the worker that runs them, ``deaths`` says
    how often at most.
    """

    name = "farm"

    def __init__(self, poison: Sequence[int] = (), deaths: int = 10**9, stillborn: int = 0) -> None:
        self.poison, self.deaths, self.stillborn = set(poison), deaths, stillborn
        self.spawned: list[Hand] = []
        self.ran: Counter[int] = Counter()
        self.died_of: list[set[int]] = []
        self.on_collect: Callable[[Hand], None] = lambda _hand: None

    async def open(self, setup: WorkerSetup) -> None:
        raise AssertionError("the driver's business")

    def worker_count(self, asked: int | None) -> int:
        return asked or 1

    async def spawn(self) -> Hand:
        self.spawned.append(Hand(self))
        return self.spawned[-1]

    async def close(self) -> None:
        for each in self.spawned:
            await each.close()

    @property
    def alive(self) -> list[Hand]:
        return [each for each in self.spawned if each.started and not each.lost and not each.closed]


class Hand(WorkerHandle):
    """Finishes up to four jobs per collection; dies with everything undelivered when one of them is
    poison.
    """

    def __init__(self, farm: Farm) -> None:
        self.farm = farm
        self.queue: deque[int] = deque()
        self.leases: list[list[int]] = []
        self.most = 0
        self.started = self.lost = self.closed = False

    async def start(self) -> list[str]:
        if self.farm.stillborn > 0:
            self.farm.stillborn -= 1
            raise WorkerLost("it died at once")
        self.started = True
        return ["a slow disk", "no key"]

    async def lease(self, work: Sequence[Assignment]) -> None:
        self._check()
        self.queue.extend(each.index for each in work)
        self.leases.append([each.index for each in work])
        self.most = max(self.most, len(self.queue))

    async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
        self._check()
        await asyncio.sleep(0)
        self.farm.on_collect(self)
        running = [self.queue.popleft() for _ in range(min(CONCURRENCY, len(self.queue)))]
        self.farm.ran.update(running)
        if self.farm.poison & set(running) and len(self.farm.died_of) < self.farm.deaths:
            self.lost = True
            self.farm.died_of.append({*running, *self.queue})
            raise WorkerLost("the worker's process died")
        return Collected([Delivery(index, "row", row=str(index).encode()) for index in running])

    async def withdraw(self) -> list[int]:
        self._check()
        out = list(self.queue)
        self.queue.clear()
        return out

    async def close(self) -> None:
        self.closed = True

    def _check(self) -> None:
        assert self.started
        assert not self.closed
        if self.lost:
            raise WorkerLost("the worker's process died")


class Cramped(Farm):
    """While it is crowded, a new worker waits for room before it starts."""

    def __init__(self, room: asyncio.Event, poison: Sequence[int], deaths: int) -> None:
        super().__init__(poison, deaths)
        self.room, self.crowded = room, False

    async def spawn(self) -> Hand:
        hand = Waiting(self, self.room) if self.crowded else Hand(self)
        self.spawned.append(hand)
        return hand


class Waiting(Hand):
    """Starts once there is room."""

    def __init__(self, farm: Farm, room: asyncio.Event) -> None:
        super().__init__(farm)
        self.room = room

    async def start(self) -> list[str]:
        await self.room.wait()
        return await super().start()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch):
    """Pauses take no time: these tests depend on what happens, never on when."""
    pause = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda _seconds: pause(0))


def work(count: int) -> Iterator[Assignment]:
    return (Assignment(at) for at in range(count))


async def run(
    farm: Farm, count: int, workers: int = 2, max_attempts: int = 3, stop: StopSignal | None = None
) -> list[Delivery]:
    out: list[Delivery] = []
    dispatcher = Dispatcher(farm, workers, CONCURRENCY, max_attempts)
    await dispatcher.open(StopSignal())
    await dispatcher.run(work(count), out.append, stop or StopSignal())
    await dispatcher.close()
    assert all(each.closed for each in farm.spawned)
    return out


def split(deliveries: list[Delivery]) -> tuple[list[int], list[Delivery]]:
    """The indices of the rows, sorted, and the errors."""
    rows = sorted(each.index for each in deliveries if each.kind == "row")
    return rows, [each for each in deliveries if each.kind == "error"]


class TestHealthy:
    @pytest.mark.parametrize("workers", [1, 2, 5])
    @pytest.mark.parametrize("count", [0, 1, 7, 100])
    async def test_everything_is_delivered_once(self, workers: int, count: int):
        farm = Farm()
        rows, errors = split(await run(farm, count, workers))
        assert rows == list(range(count))
        assert errors == []
        assert set(farm.ran.values()) <= {1}
        assert len(farm.spawned) == workers

    async def test_work_goes_out_in_order_and_no_further_ahead_than_twice_the_places(self):
        farm = Farm()
        await run(farm, 100, workers=1)
        assert [at for lease in farm.spawned[0].leases for at in lease] == list(range(100))
        assert farm.spawned[0].most <= 2 * CONCURRENCY

    async def test_a_job_waits_for_room(self):
        """``room`` bounds how far the plan runs ahead of what is settled."""
        farm, seen = Farm(), []
        dispatcher = Dispatcher(farm, 2, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        ahead: list[int] = []

        def room(work: Assignment) -> bool:
            allowed = work.index < len(seen) + 3
            if allowed:
                ahead.append(work.index - len(seen))
            return allowed

        await dispatcher.run(work(50), seen.append, StopSignal(), room)
        await dispatcher.close()
        assert split(seen)[0] == list(range(50))
        assert max(ahead) == 2

    async def test_a_dispatcher_can_be_used_again(self):
        """First the tasks are proved, then the jobs played."""
        farm, out = Farm(), []
        dispatcher = Dispatcher(farm, 2, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        await dispatcher.run(work(5), out.append, StopSignal())
        await dispatcher.run(work(7), out.append, StopSignal())
        assert Counter(each.index for each in out) == Counter([*range(5), *range(7)])
        assert dispatcher.warnings == ["a slow disk", "no key"], (
            "each once, however many workers say it"
        )
        await dispatcher.close()

    async def test_what_a_first_start_raises_is_raised(self):
        class Refused(Hand):
            async def start(self) -> list[str]:
                raise ModelAuthError("the key is not accepted")

        class Closed(Farm):
            async def spawn(self) -> Hand:
                return Refused(self)

        with pytest.raises(ModelAuthError):
            await Dispatcher(Closed(), 2, CONCURRENCY, 3).open(StopSignal())

    async def test_a_sink_that_fails_ends_the_run(self):
        def full(delivery: Delivery) -> None:
            raise OSError("no space left")

        dispatcher = Dispatcher(Farm(), 2, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        with pytest.raises(OSError, match="no space left"):
            await dispatcher.run(work(50), full, StopSignal())
        await dispatcher.close()
        assert len(asyncio.all_tasks()) == 1, "no loop is left behind"


class TestDeath:
    async def test_a_worker_that_died_is_replaced_and_its_jobs_run_again(self):
        """Killed from outside, once: nobody is to blame, no job ends as an error."""
        farm = Farm(poison=[13], deaths=1)
        rows, errors = split(await run(farm, 60))
        assert rows == list(range(60))
        assert errors == []
        assert len(farm.spawned) == 3
        assert {at for at, times in farm.ran.items() if times > 1} <= farm.died_of[0], (
            "only what was undelivered"
        )

    @pytest.mark.parametrize("workers", [1, 3])
    @pytest.mark.parametrize("poison", [[0], [17], [59], [3, 4], [0, 30, 59]])
    async def test_a_poison_job_ends_as_an_error_and_innocents_finish(
        self, poison: list[int], workers: int
    ):
        farm = Farm(poison)
        rows, errors = split(await run(farm, 60, workers))
        assert rows == [at for at in range(60) if at not in poison]
        assert sorted(each.index for each in errors) == poison
        for error in errors:
            assert (error.error_type, error.retryable, error.fatal) == ("WorkerLost", True, False)
            assert error.message == "the worker's process died (with this job alone on it, 3 times)"

    async def test_it_is_found_by_halving(self):
        """One whole, then halves: 8, 8, 4, 2, then alone as often as a job may be tried."""
        farm = Farm(poison=[1])
        await run(farm, 8, workers=1)
        assert [len(each) for each in farm.died_of] == [8, 8, 4, 2, 1, 1, 1]
        assert all(1 in each for each in farm.died_of)

    @pytest.mark.parametrize("attempts", [1, 2, 5])
    async def test_alone_it_is_tried_as_often_as_was_said(self, attempts: int):
        farm = Farm(poison=[5])
        _, errors = split(await run(farm, 20, workers=1, max_attempts=attempts))
        assert sum(each == {5} for each in farm.died_of) == attempts
        assert f"{attempts} times" in errors[0].message

    async def test_suspects_run_with_nothing_else_beside_them(self):
        farm = Farm(poison=[5])
        await run(farm, 60, workers=1)
        first, *later = farm.died_of
        assert all(each <= first for each in later)

    async def test_a_poison_job_is_the_only_one_left_and_others_wait_for_it(self):
        """The last worker does not go home while another one's work may come back."""
        farm = Farm(poison=[0])
        rows, errors = split(await run(farm, 2, workers=4))
        assert (rows, [each.index for each in errors]) == ([1], [0])

    async def test_workers_that_die_as_they_start_end_the_run(self):
        farm = Farm(poison=[3])
        dispatcher = Dispatcher(farm, 1, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        farm.stillborn = 3
        with pytest.raises(SynthError, match="workers die as soon as they start"):
            await dispatcher.run(work(10), lambda _: None, StopSignal())
        await dispatcher.close()

    @pytest.mark.parametrize("workers", [1, 2])
    async def test_without_room_for_a_new_worker_the_others_go_on_and_it_joins_later(
        self, workers: int, monkeypatch: pytest.MonkeyPatch
    ):
        """As after the loss of a node: its actor waits for another one."""
        monkeypatch.setattr("synth.dispatcher.ROOM_S", 0.0)
        room = asyncio.Event()
        farm = Cramped(room, poison=[3], deaths=1)
        words: list[str] = []
        dispatcher = Dispatcher(farm, workers, CONCURRENCY, 3, say=words.append)
        await dispatcher.open(StopSignal())
        farm.crowded = True
        out: list[Delivery] = []
        if workers == 1:
            asyncio.get_running_loop().call_later(1.0, room.set)
        await dispatcher.run(work(40), out.append, StopSignal())
        assert split(out) == (list(range(40)), [])
        await dispatcher.close()
        if workers == 1:
            assert "none is left" in words[0]
            assert words[1:] == ["A new worker has started: 1 are at work."]
        else:
            assert not room.is_set()

    async def test_an_interrupt_ends_a_run_that_has_no_worker_left(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("synth.dispatcher.ROOM_S", 0.0)
        farm = Cramped(asyncio.Event(), poison=[3], deaths=1)
        stop = StopSignal()
        dispatcher = Dispatcher(
            farm, 1, CONCURRENCY, 3, say=lambda _words: stop.request("interrupted")
        )
        await dispatcher.open(StopSignal())
        farm.crowded = True
        out: list[Delivery] = []
        await dispatcher.run(work(40), out.append, stop)
        await dispatcher.close()
        assert len(out) < 40

    async def test_a_replacement_may_need_a_second_attempt(self):
        farm = Farm(poison=[3], deaths=1)
        dispatcher = Dispatcher(farm, 1, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        farm.stillborn = 2
        out: list[Delivery] = []
        await dispatcher.run(work(10), out.append, StopSignal())
        await dispatcher.close()
        assert split(out) == (list(range(10)), [])

    async def test_a_job_that_holds_its_worker_is_an_error_at_once_and_its_neighbours_finish(self):
        """Its name is known: nothing is halved, and it is not tried again in this session."""

        class Holding(Hand):
            async def collect(self, wait_s: float, grant: Grant | None = None) -> Collected:
                if 5 in self.queue:
                    self.lost = True
                    raise WorkerHeld("it did not answer", 5)
                return await super().collect(wait_s)

        class Held(Farm):
            async def spawn(self) -> Hand:
                self.spawned.append(Holding(self))
                return self.spawned[-1]

        farm = Held()
        rows, errors = split(await run(farm, 20, workers=1))
        assert rows == [at for at in range(20) if at != 5]
        assert [(each.index, each.error_type, each.retryable) for each in errors] == [
            (5, "WorkerHeld", True)
        ]
        assert len(farm.spawned) == 2
        assert set(farm.ran.values()) == {1}


class TestStarting:
    """On a busy cluster a worker may have to wait for room, some of them for ever."""

    class Slow(Farm):
        """All but the first ``ready`` workers start when ``room`` is set."""

        def __init__(self, ready: int) -> None:
            super().__init__()
            self.ready, self.room = ready, asyncio.Event()

        async def spawn(self) -> Hand:
            waits = len(self.spawned) >= self.ready
            farm = self

            class Late(Hand):
                async def start(self) -> list[str]:
                    if waits:
                        await farm.room.wait()
                    return await super().start()

            self.spawned.append(Late(self))
            return self.spawned[-1]

    async def test_work_begins_with_the_first_and_does_not_wait_for_the_last(self):
        farm = self.Slow(ready=1)
        assert split(await run(farm, 40, workers=3)) == (list(range(40)), [])
        assert [each.started for each in farm.spawned] == [True, False, False]

    async def test_late_ones_join(self):
        farm = self.Slow(ready=1)
        farm.on_collect = lambda _hand: farm.room.set()
        assert split(await run(farm, 200, workers=2)) == (list(range(200)), [])
        assert farm.spawned[1].leases

    async def test_an_interrupt_ends_the_waiting(self):
        farm, stop, said = self.Slow(ready=0), StopSignal(), []
        dispatcher = Dispatcher(farm, 2, CONCURRENCY, 3)
        asyncio.get_running_loop().call_soon(stop.request, "interrupted")
        await dispatcher.open(stop, lambda: said.append("waiting"))
        await dispatcher.close()
        assert (said, farm.alive) == ([], [])

    async def test_somebody_is_told_once_that_it_takes_long(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("synth.dispatcher.COLLECT_S", 0.01)
        monkeypatch.setattr("synth.dispatcher.PATIENCE_S", 0.02)
        farm, said = self.Slow(ready=0), []

        def waiting() -> None:
            said.append("waiting")
            asyncio.get_running_loop().call_later(0.1, farm.room.set)

        dispatcher = Dispatcher(farm, 2, CONCURRENCY, 3)
        await dispatcher.open(StopSignal(), waiting)
        await dispatcher.close()
        assert said == ["waiting"]


class TestDraining:
    async def test_what_has_not_started_is_withdrawn_and_what_runs_is_finished(self):
        stop, farm, out = StopSignal(), Farm(), []
        dispatcher = Dispatcher(farm, 1, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())

        def sink(delivery: Delivery) -> None:
            out.append(delivery)
            if len(out) == 10:
                stop.request("interrupted")

        await dispatcher.run(work(1000), sink, stop)
        assert farm.spawned[0].queue == deque()
        assert split(out)[0] == sorted(farm.ran)
        assert len(out) <= 10 + 2 * CONCURRENCY
        await dispatcher.close()

    async def test_a_stop_that_is_shut_before_leases_nothing(self):
        stop, farm = StopSignal(), Farm()
        stop.request("budget")
        stop.request("interrupted")
        assert await run(farm, 50, stop=stop) == []
        assert farm.ran == Counter()
        assert stop.reason == "budget", "the first reason stays"

    async def test_stopping_now_does_not_wait_for_what_runs(self):
        stop, farm = StopSignal(), Farm()

        def interrupt(hand: Hand) -> None:
            if sum(farm.ran.values()) >= 8:
                stop.request("interrupted twice")
                stop.now = True

        farm.on_collect = interrupt
        out = await run(farm, 1000, stop=stop)
        assert len(out) < 40

    async def test_a_death_while_draining_does_not_start_work_again(self):
        stop, farm, out = StopSignal(), Farm(), []

        def die(hand: Hand) -> None:
            if len(out) >= 4 and not farm.died_of:
                stop.request("interrupted")
                farm.poison = set(hand.queue)

        farm.on_collect = die
        dispatcher = Dispatcher(farm, 1, CONCURRENCY, 3)
        await dispatcher.open(StopSignal())
        await dispatcher.run(work(1000), out.append, stop)
        await dispatcher.close()
        ended = split(out)[0]
        assert len(farm.died_of) == 1
        assert len(farm.spawned) == 1, "a new worker would have nothing to do"
        assert set(farm.ran) == {*ended, *(farm.died_of[0] & set(farm.ran))}
        assert not set(ended) & farm.died_of[0]
