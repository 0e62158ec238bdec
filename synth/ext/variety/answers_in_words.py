"""Tasks without ``submit``: the answer is told in the reply, as by an agent in service."""

from __future__ import annotations

from dataclasses import replace

from synth.core.types.steps import SubmitStep, rewritten
from synth.task import Task
from synth.transform import TaskTransform


class AnswersInWords(TaskTransform):
    """Takes the tool ``submit`` from each task and from its gold; the gate ``reply`` judges the
    answer. A task without that gate stays as it is.
    """

    def changed(self, task: Task, index: int, *, first: bool) -> Task:
        if task.submit_parameters is None or "reply" not in task.gate_names:
            return task
        return replace(
            task,
            gold=rewritten(task.gold, lambda step: [] if isinstance(step, SubmitStep) else [step]),
            form={},
            gates=[gate for gate in task.gates if gate.name != "answer"],
            parts=[self.changed(part, index, first=first) for part in task.parts],
        )
