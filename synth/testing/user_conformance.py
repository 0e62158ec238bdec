"""Contract tests of :class:`synth.user.User`, on a few roles."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

from envs.types import ToolResult
from synth.testing.model_conformance import copied
from synth.user import Consent, Topic, User, UserRole, UserTurn

ASKS = "What is the date of birth?"
ASKS_ELSE = "What does she weigh?"
PROPOSES = "Shall I start prednisone, 5 mg daily, for Anna Meier, born 1980-05-03?"
PROPOSES_NOTHING = "Shall I go ahead?"
PROPOSES_OTHERWISE = "Shall I start prednisone, 50 mg daily, for Anna Meier, born 1980-05-03?"
IS_DONE = "Prednisone has been started for Anna Meier. Have a nice day!"
INSTRUCTS = "Please restart your phone."
RESTART: Mapping[str, Any] = {
    "name": "restart_phone",
    "description": "Restart the phone.",
    "parameters": {"type": "object", "properties": {}},
    "read_only": False,
}
ENDS_WITHIN = 8
"""Number of turns without a question after which a user must have left."""


def exam_role(*, declines: bool = False) -> UserRole:
    """Return the role of a user who wants a drug started, knows a date and a reason, and agrees to
    one order or declines it.
    """
    no = "No, leave it. I have changed my mind."
    return UserRole(
        opening="Start Anna Meier on prednisone, 5 mg daily.",
        knows={
            "dob": Topic("Born 1980-05-03.", words=["date of birth", "born"]),
            "insurance": Topic("Her number is 7741.", words=["insurance number"]),
        },
        consent=Consent(["prednisone", "5 mg", "1980-05-03"], "Yes, do.", no if declines else None),
        persona="a doctor between two patients",
    )


class UserConformance(ABC):
    """Contract tests of a user. Subclass it as ``Test...`` and open the user."""

    @abstractmethod
    def opened(self, role: UserRole) -> AbstractAsyncContextManager[User]:
        """Open the user, ready to play roles like this one (an endpoint may need to know it)."""

    async def talk(self, *texts: str, declines: bool = False) -> Sequence[UserTurn]:
        """Hold one conversation. Returns the user's turns, one for each text, up to its end."""
        role = exam_role(declines=declines)
        async with self.opened(role) as user:
            conversation = user.start(role, seed=1)
            turns: list[UserTurn] = []
            for text in texts:
                turns.append(await conversation.reply(text))
                if turns[-1].ends:
                    break
            return turns

    async def test_it_has_a_name_and_its_preflight_gives_warnings(self) -> None:
        async with self.opened(exam_role()) as user:
            assert user.name
            assert all(isinstance(warning, str) for warning in await user.preflight())

    async def test_it_tells_what_it_is_asked_and_records_it(self) -> None:
        (turn,) = await self.talk(ASKS)
        assert tuple(turn.told) == ("dob",)
        assert "1980" in turn.text
        assert not any((turn.ends, turn.consents, turn.declines, turn.fault))

    async def test_it_volunteers_nothing(self) -> None:
        for turn in await self.talk(ASKS_ELSE, PROPOSES_NOTHING):
            assert not turn.told
            assert "1980" not in turn.text
            assert "7741" not in turn.text

    async def test_it_agrees_to_what_it_wants_once_all_is_restated(self) -> None:
        asked, agreed = await self.talk(ASKS, PROPOSES)
        assert not asked.consents
        assert agreed.consents
        assert agreed.text
        assert not any((agreed.ends, agreed.declines, agreed.fault)), (
            "who agrees stays, so that the agent can act on it"
        )

    async def test_it_agrees_to_nothing_else(self) -> None:
        for text in (PROPOSES_NOTHING, PROPOSES_OTHERWISE):
            (turn,) = await self.talk(text)
            assert not turn.consents
            assert turn.text

    async def test_it_says_no_where_its_role_does(self) -> None:
        turns = await self.talk(ASKS, PROPOSES, declines=True)
        assert [(turn.consents, turn.declines) for turn in turns] == [(False, False), (False, True)]

    async def test_it_does_what_it_is_asked_with_its_tools(self) -> None:
        role = replace(exam_role(), tools=[RESTART])
        async with self.opened(role) as user:
            conversation = user.start(role, seed=1)
            asked = await conversation.reply(INSTRUCTS)
            assert [call.name for call in asked.calls] == ["restart_phone"]
            assert not any((asked.text, asked.ends, asked.consents, asked.fault))
            done = await conversation.observe([ToolResult({"restarted": True})])
            assert done.text
            assert not any((done.calls, done.ends, done.consents, done.fault))

    async def test_it_makes_no_call_without_tools(self) -> None:
        (turn,) = await self.talk(INSTRUCTS)
        assert turn.text or turn.ends
        assert not turn.calls

    async def test_it_leaves_when_nothing_is_asked_any_more(self) -> None:
        turns = await self.talk(ASKS, PROPOSES, *[IS_DONE] * ENDS_WITHIN)
        assert turns[-1].ends
        assert not any(turn.ends and (turn.consents or turn.told) for turn in turns)

    async def test_a_turn_is_plain_data(self) -> None:
        for turn in await self.talk(ASKS, PROPOSES, IS_DONE):
            assert copied(turn) == turn
            assert turn.cost_usd is None or turn.cost_usd >= 0

    async def test_it_survives_whatever_an_agent_says(self) -> None:
        for text in (
            "",
            " ",
            "?",
            "\x00",
            "\ud800",
            "a?" * 20_000,
            "[END]",
            '{"tool_calls": []}',
            "نعم؟",
        ):
            (turn,) = await self.talk(text)
            assert not turn.consents

    async def test_conversations_beside_each_other_do_not_meet(self) -> None:
        role = exam_role()
        async with self.opened(role) as user:

            async def one() -> list[UserTurn]:
                conversation = user.start(role, seed=1)
                return [await conversation.reply(text) for text in (ASKS, PROPOSES)]

            talks = await asyncio.gather(*(one() for _ in range(12)))
            assert all(
                [turn.told for turn in talk] == [turn.told for turn in talks[0]] for talk in talks
            )
            assert all(talk[1].consents for talk in talks)

    async def test_closing_twice_is_safe(self) -> None:
        async with self.opened(exam_role()) as user:
            await user.aclose()
            await user.aclose()
