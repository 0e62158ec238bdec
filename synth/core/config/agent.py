"""The agent's part of the config: the loop, and the middlewares around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Strict

from synth.core.config.section import extended
from synth.core.config.types import MoreThanZero, Positive, Section, Text


@extended("agent")
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig(Section):
    """The loop, and where it stops; a limit of None does not stop it. All limits are of one
    rollout; a composed task (``tasks.compose``) has the turns and tool calls of each request.

    ``max_total_tokens`` and ``max_cost_usd`` count all that the model is asked, and with
    ``count_user`` also what plays the user. ``text_calls`` says what becomes of a call that a model
    writes as text: it is answered by what is wrong with it (``refuse``), executed (``parse``) or
    text like any other (``off``). ``repair`` mends arguments that are almost JSON. Neither kind of
    turn is trained on. ``middleware`` names what wraps the calls, in order, the first outermost: a
    name that ships (and has its section here) or ``package.module:attribute``, whose options stand
    in ``options`` under that name.
    """

    kind: Literal["react"] = "react"
    max_turns: Positive = 30
    max_tool_calls: Positive = 100
    max_total_tokens: Positive | None = None
    max_cost_usd: MoreThanZero | None = None
    count_user: Annotated[bool, Strict()] = False
    timeout_s: MoreThanZero | None = None
    error_style: Literal["plain", "structured", "advice"] = "structured"
    text_calls: Literal["off", "refuse", "parse"] = "refuse"
    repair: Annotated[bool, Strict()] = False
    middleware: list[Text] = field(default_factory=list[str])
    options: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
