"""The world shop_sql with the tool `submit_sql`: the query that is handed in is judged."""

from __future__ import annotations

import shutil
from pathlib import Path

from synth.core.foundation.shipped import examples_dir


def handing_in(folder: Path) -> Path:
    """A copy of the world in a folder, beside the shop whose database it asks, without the tasks
    that no query answers.
    """
    for name in ("shop", "shop_sql"):
        shutil.copytree(examples_dir() / name, folder / name)
    tools = folder / "shop_sql" / "tools.yaml"
    tools.write_text(
        tools.read_text().replace("run_select_query]", "run_select_query, submit_sql]")
    )
    tasks = folder / "shop_sql" / "tasks.yaml"
    tasks.write_text(tasks.read_text().partition("# Nothing fits")[0])
    return folder / "shop_sql"
