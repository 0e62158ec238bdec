"""Runs take uvloop, where there is one."""

from __future__ import annotations

import asyncio
import sys

import pytest

from synth.core.runner import event_loop


async def loop_name() -> str:
    return type(asyncio.get_running_loop()).__module__


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not made for Windows")
def test_it_is_uvloop():
    assert event_loop.run(loop_name()).startswith("uvloop")
