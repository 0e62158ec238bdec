"""The exams that models, users and middlewares sit, ours and yours.

Subclass one in a test module, name the class ``Test...``, say how what is examined is opened, and let pytest collect the
questions (they are coroutines: pytest-asyncio runs them)::

    class TestMyModel(ModelExam):
        @asynccontextmanager
        async def opened(self, task: Task) -> AsyncGenerator[Model]:
            yield MyModel()
"""

from synth.testing.middleware_exam import MiddlewareExam
from synth.testing.model_exam import ModelExam
from synth.testing.user_exam import UserExam

__all__ = ["MiddlewareExam", "ModelExam", "UserExam"]
