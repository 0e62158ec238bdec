"""The empty database that templates are made from: bounded functions, a pinned clock, and the
functions that load a world and then take the server out of reach.

A superuser makes it anew for each template. For a role without that right a superuser makes it
once (:mod:`envs.sandboxes.postgres.prepare`), under a name that tells the version.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import psycopg

from envs.sandboxes.postgres import bounded_functions, clock, template_objects
from envs.sandboxes.postgres.bounded_functions import bound
from envs.sandboxes.postgres.template_objects import prepare_loading

GROUP = "envs_base"
"""The role that has the rights of a prepared server, to be granted to others; also the schema, in
the database that they connect to, of the function that they need there.
"""

PARAMETERS = ("lc_messages", "session_replication_role", "temp_file_limit")
"""The settings that the role has to make for sandboxes, and that are a superuser's."""


def furnish(db: psycopg.Connection[Any], owner: str) -> None:
    """Make an empty database the base, as superuser; bounded functions act as ``owner``."""
    bound(db, owner)
    prepare_loading(db)


def prepared_name() -> str:
    modules = (bounded_functions, clock, template_objects)
    sources = [Path(str(module.__file__)).read_bytes() for module in modules]
    return f"envs_base_{hashlib.sha256(b''.join(sources)).hexdigest()[:8]}"
