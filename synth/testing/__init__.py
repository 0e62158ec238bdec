"""The exam that models sit, ours and yours.

Subclass :class:`ModelExam` in a test module, name the class ``Test...``, say how the model is opened, and let pytest
collect the questions (they are coroutines: pytest-asyncio runs them)::

    class TestMyModel(ModelExam):
        @asynccontextmanager
        async def opened(self, task: Task) -> AsyncGenerator[Model]:
            yield MyModel()
"""

from synth.testing.model_exam import ModelExam

__all__ = ["ModelExam"]
