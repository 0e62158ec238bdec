"""A pattern for `synth new`: `--patterns extensions.task_generator:count_state`."""

from synth.ext.authoring.patterns.base import family


def count_state(sketch):
    """Count the rows of a table in one of its states."""
    for table, tools in ((table, sketch.tools[table.name]) for table in sketch.tables):
        for column in filter(lambda one: one.role == "status", map(table.column, tools.filters)):
            read = {tools.list_: {column.label: "{task_key}"}, "save": {"n": "$.count"}}
            yield family(
                "count_state",
                f"{table.noun.many}_{column.label}",
                f"Count {table.noun.plural_words} by their {column.words}.",
                f"SELECT DISTINCT {column.name} AS task_key FROM {table.name}",
                [f"How many {table.noun.plural_words} have the {column.words} {{task_key}}?"],
                [read, {"submit": {"n": "$n"}}, {"say": ["There are {n}."]}],
                answer={"n": {"type": "integer", "description": "How many there are."}},
            )
