"""A process that has imported what commands import and forks one process for each command.

Imports are half of a short command's time, and the tests start hundreds of them. Each command is
still a process of its own, with its own directory, environment and output.

Reads a JSON object a line: ``arguments``, ``cwd``, ``env``, ``stdout``, ``stderr`` (paths of
files). Answers with the process id, then with its exit code, negative for a signal.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from synth.core.foundation.own_process import begin

IMPORTED = (
    "envs.sandboxes.sqlite.engine",
    "envs.tools.sql.tools",
    "faker.proxy",
    "hydra",
    "openai",
    "pyarrow.compute",
    "pyarrow.parquet",
    "sqlglot.dialects.sqlite",
    "synth.core.cli.launching",
    "synth.core.tasks.fake",
    "synth.ext.text2sql.sources",
    "synth.ext.exporters.cli",
    "synth.core.cli.inspect",
    "synth.core.cli.run",
    "synth.core.config.compose",
    "synth.core.models.openai.model",
    "synth.core.runner.build",
    "synth.launch",
    "synth.core.runner.runtimes.inline",
    "synth.core.validation.check",
    "synth.ext.authoring.english",
    "synth.ext.authoring.world",
)


def serve() -> None:
    """Fork for each line; return in the child, or when there are no more lines."""
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            become(job)
            return
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)


def become(job: dict[str, str]) -> None:
    """Make this process what the command's own would be."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, job["stdout"], flags),
        (2, job["stderr"], flags),
    ):
        opened = os.open(name, mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = ["synth", *job["arguments"]]
    asked = filter(None, job["env"].get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [job["cwd"], *(path for path in asked if path not in sys.path)]


if __name__ == "__main__":
    begin()
    for module in IMPORTED:
        import_module(module)
    serve()
    from synth.__main__ import main

    sys.exit(main())
