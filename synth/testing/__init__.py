"""Contract test classes for extensions, those that ship and yours.

Subclass one in a test module, name the class ``Test...``, implement its abstract method, and let
pytest collect the tests (they are coroutines: pytest-asyncio runs them)::

    class TestMyModel(ModelConformance):
        @asynccontextmanager
        async def opened(self, task: Task) -> AsyncGenerator[Model]:
            yield MyModel()
"""

import re
from typing import TYPE_CHECKING, Any

from synth.plugins import resolve

if TYPE_CHECKING:
    from synth.testing.callback_conformance import CallbackConformance
    from synth.testing.command_conformance import CommandConformance
    from synth.testing.config_section_conformance import ConfigSectionConformance
    from synth.testing.exporter_conformance import ExporterConformance
    from synth.testing.honest_agent_conformance import HonestAgentConformance
    from synth.testing.hook_conformance import HookConformance
    from synth.testing.middleware_conformance import MiddlewareConformance
    from synth.testing.model_conformance import ModelConformance
    from synth.testing.reward_conformance import RewardConformance
    from synth.testing.runtime_conformance import RuntimeConformance
    from synth.testing.task_source_conformance import TaskSourceConformance
    from synth.testing.task_transform_conformance import TaskTransformConformance
    from synth.testing.user_conformance import UserConformance
    from synth.testing.wrapper_conformance import WrapperConformance

__all__ = [
    "CallbackConformance",
    "CommandConformance",
    "ConfigSectionConformance",
    "ExporterConformance",
    "HonestAgentConformance",
    "HookConformance",
    "MiddlewareConformance",
    "ModelConformance",
    "RewardConformance",
    "RuntimeConformance",
    "TaskSourceConformance",
    "TaskTransformConformance",
    "UserConformance",
    "WrapperConformance",
]


def __getattr__(name: str) -> Any:
    """Import a class when it is first used: a capability may have been taken out."""
    if name not in __all__:
        raise AttributeError(f"module 'synth.testing' has no attribute {name!r}")
    module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return resolve(f"synth.testing.{module}:{name}")
