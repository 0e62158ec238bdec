"""The names under which a task is shown: applied to tools, calls, results and texts."""
