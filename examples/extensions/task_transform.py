"""Only requests of some length:
`synth run env=library 'tasks.transforms=[extensions.task_transform:Long]'`.
"""

from dataclasses import dataclass

from synth.transform import TaskTransform


@dataclass
class Options:
    words: int = 10


class Long(TaskTransform):
    Options = Options

    def apply(self, tasks):
        lengths = [len(tasks[index].prompt.split()) for index in range(len(tasks))]
        return tasks.chosen([i for i, n in enumerate(lengths) if n >= self.options.words])
