"""`synth new` and published questions on drawn databases of PostgreSQL and MariaDB."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.ext.authoring.source import Extract, from_url
from tests.drawn.databases import databases
from tests.drawn.material import MARIADB, POSTGRES
from tests.drawn.questions import as_json, columns_on_server, question_sets
from tests.drawn.running import drawn
from tests.drawn.servers import on_server
from tests.drawn.test_new import check_world
from tests.drawn.test_questions import NAME, attached, check

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
ENGINES = pytest.mark.parametrize("engine", [POSTGRES, MARIADB])


@ENGINES
@drawn(100)
@given(data=st.data())
def test_a_server_makes_a_world(engine: str, data: st.DataObject):
    with on_server(data.draw(databases(engine))) as (url, counts):
        check_world(partial(from_url, url, Extract(), secret=True), counts)


@ENGINES
@drawn(30)
@given(data=st.data())
def test_questions_about_a_server(engine: str, data: st.DataObject):
    with on_server(data.draw(databases(engine))) as (url, _), tempfile.TemporaryDirectory() as home:
        tables = columns_on_server(url)
        if not tables:
            return
        questions = data.draw(question_sets(tables, NAME, engine))
        (Path(home) / "questions.json").write_bytes(as_json(questions))
        with attached(Path(home), url) as found:
            check(questions, *found)
