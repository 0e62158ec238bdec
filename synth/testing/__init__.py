"""Contract test classes for extensions, those that ship and yours.

Subclass one in a test module, name the class ``Test...``, implement its abstract method, and let
pytest collect the tests (they are coroutines: pytest-asyncio runs them)::

    class TestMyModel(ModelConformance):
        @asynccontextmanager
        async def opened(self, task: Task) -> AsyncGenerator[Model]:
            yield MyModel()
"""

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

_MODULES = {
    "CallbackConformance": "callback_conformance",
    "CommandConformance": "command_conformance",
    "ConfigSectionConformance": "config_section_conformance",
    "ExporterConformance": "exporter_conformance",
    "HonestAgentConformance": "honest_agent_conformance",
    "HookConformance": "hook_conformance",
    "MiddlewareConformance": "middleware_conformance",
    "ModelConformance": "model_conformance",
    "RewardConformance": "reward_conformance",
    "RuntimeConformance": "runtime_conformance",
    "TaskSourceConformance": "task_source_conformance",
    "TaskTransformConformance": "task_transform_conformance",
    "UserConformance": "user_conformance",
    "WrapperConformance": "wrapper_conformance",
}

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
    if name not in _MODULES:
        raise AttributeError(f"module 'synth.testing' has no attribute {name!r}")
    return resolve(f"synth.testing.{_MODULES[name]}:{name}")
