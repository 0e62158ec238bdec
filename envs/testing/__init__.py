"""Contract tests for engines, environments and sets of tools, those that ship and your own.

Subclass one in a test module, name the class ``Test...``, and let pytest collect its tests::

    class TestMyEngine(SandboxConformance):
        engine = "my_package.engines:ENGINE"
"""

from envs.testing.environment_conformance import EnvironmentConformance
from envs.testing.sandbox_conformance import STATEMENTS, SandboxConformance
from envs.testing.tool_conformance import ToolConformance

__all__ = ["STATEMENTS", "EnvironmentConformance", "SandboxConformance", "ToolConformance"]
