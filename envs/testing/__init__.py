"""Contract tests for engines and environments, those that ship and your own.

Subclass one in a test module, name the class ``Test...``, and let pytest collect its tests::

    class TestMyEngine(SandboxConformance):
        engine = "my_package.engines:ENGINE"
"""

from envs.testing.attached_conformance import AttachedConformance
from envs.testing.conformance_world import STATEMENTS
from envs.testing.environment_conformance import EnvironmentConformance
from envs.testing.sandbox_conformance import SandboxConformance
from envs.testing.tool_conformance import ToolConformance

__all__ = [
    "STATEMENTS",
    "AttachedConformance",
    "EnvironmentConformance",
    "SandboxConformance",
    "ToolConformance",
]
