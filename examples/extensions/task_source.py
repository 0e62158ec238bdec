"""Tasks from a query: `synth run env=library tasks.kind=extensions.task_source:Lookups`."""

from sqlalchemy import text

from synth.core.tasks.python import function_tasks
from synth.source import TaskSource


class Lookups(TaskSource):
    def open(self, world, template, families=None, universe=0):
        return function_tasks([self.look_up], world, template, families, universe)

    def look_up(self, db):
        for title in db.execute(text("SELECT title FROM books ORDER BY title")).scalars():
            yield {
                "slots": {"title": title},
                "key": title,
                "user": {"says": "Please look up {title}."},
                "gold": [{"find_book": {"title": title}}, {"say": "Found."}],
            }
