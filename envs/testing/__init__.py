"""The exams that sandboxes and environments sit, ours and yours.

Subclass :class:`SandboxExam` in a test module, name the class ``Test...``, say how a template is built from
:data:`STATEMENTS`, and let pytest collect the questions::

    class TestMyEngine(SandboxExam):
        def template(self) -> Template:
            return MyTemplate.build(STATEMENTS)
"""

from envs.testing.environment_exam import EnvironmentExam
from envs.testing.exam_world import STATEMENTS
from envs.testing.sandbox_exam import SandboxExam

__all__ = ["STATEMENTS", "EnvironmentExam", "SandboxExam"]
