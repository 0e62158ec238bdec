"""Families of a world from `titles.txt`, a title a line; see package/pyproject.toml."""

from synth.core.tasks.python import read_function
from synth.core.tasks.readers import FileFamilies


def read_file(context):
    def look_up(db):
        for title in context.file.read_text("utf-8").splitlines():
            yield {
                "slots": {"title": title},
                "key": title,
                "user": {"says": "Please look up {title}."},
                "gold": [{"find_book": {"title": title}}, {"say": "Found."}],
            }

    return FileFamilies([read_function(look_up, context)])
