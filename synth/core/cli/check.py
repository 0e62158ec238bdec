"""``synth check``: a world proves itself.

Only options and help are here: a mistake in the world's name is reported at once.
"""

from __future__ import annotations

import sys

from synth.core.cli.command import Arguments, command
from synth.core.foundation.shipped import find_world, version
from synth.plugins import resolve

HELP = """synth check

Prove a world's task families: gold works and is reachable, laziness and mistakes cost reward.

arguments:
  WORLD               a world's folder, or the name of one that ships
  [database.KEY=VALUE...]  a server as a run's config describes it
options:
  --tasks-file FILE   check a list of scenarios with expected calls instead, task by task
  --questions set|gold  WORLD is a folder of questions with SQL: check each query; answers are
                      compared as BIRD does (set), or as bags and in gold's order
  --consent auto|always|never  writes of --tasks-file that wait for a yes [default: auto]
  --families A,B      only these, separated by commas
  --tasks N           tasks to prove per case of a family [default: 4]
  --universes N       universes to prove, from number 0 (default: 2 where the world has a seed.py)
  --database ENGINE   sqlite, postgres, mariadb, or an engine of your own [default: sqlite]
  --dsn-env-var NAME  the variable that holds the URL of the database's server
  --sandbox pooled|cloned  of a server [default: pooled]
  --workers N         processes (default: one per CPU, fewer for few families)
  --no-cache          prove again what proved itself before
  --honest A,B        only these honest agents, by name or package.module:Class (default: all)
  --transform answers_in_words|varied_wording|injection  a transform of a run's tasks (repeatable)
  --show FAMILY:AGENT  print the rollout of an honest agent (terse) or a kind of attack ('drop
                      write'): the first that fails the check, or else the first
  --model NAME        play samples of a model, and show ends on which several agree against gold
  --base-url URL      the model's OpenAI-compatible endpoint (default: OpenAI)
  --api-key-env NAME  the variable that holds the endpoint's key [default: OPENAI_API_KEY]
  --samples N         samples per task [default: 4]
  --watch             check again after each change of the world's files
  --json              print the report as JSON

example:
  synth check ehr_db
  synth check path/to/my_world --families record_heart_rate --json
  synth check ehr_db --show record_heart_rate:reads_more
  synth check path/to/my_world --tasks-file tasks.json --json
  synth check data/bird/dev --questions set --json
  synth check shop --model gpt-4.1-mini --samples 8
  synth check shop --database postgres --dsn-env-var MY_DATABASE_URL

A family that proved itself is not proved again until the world or this software changes;
--no-cache proves it all the same.
"""


@command(HELP)
def main(arguments: Arguments) -> int:
    """Check one world; 0 when every family proves itself, 1 when one does not."""
    if not arguments.json:
        print(f"synth {version()}: checking {arguments.world}", file=sys.stderr, flush=True)
    if arguments.questions is None:
        find_world(arguments.world)
    watches = arguments.watch and not (arguments.tasks_file or arguments.questions)
    act = "watch" if watches else "check"
    return int(resolve(f"synth.core.cli.checking:{act}")(arguments))
