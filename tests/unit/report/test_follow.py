"""`synth inspect --follow`: new rows as they come, and the end of the run as the end."""

from __future__ import annotations

import json

from synth.core.cli.inspect import main
from synth.core.dataset.store.wire import encode, to_wire
from synth.core.report.follow import follow
from tests.sample_rows import error_row, failed, row, write_run, writing


def test_new_rows_and_failures_are_seen_once_and_the_end_ends_it(tmp_path):
    looks = []
    with writing(tmp_path / "ehr", [row(0)], jobs=4) as writer:

        def wait(seconds):
            assert seconds > 0
            looks.append(seconds)
            if len(looks) == 1:
                writer.add_row(1, encode(to_wire(failed(1))))
                writer.add_error(2, error_row(2))
            elif len(looks) == 3:
                writer.add_row(3, encode(to_wire(row(3))))
                writer.seal("partial", {})
                writer.close()

        news = list(follow(tmp_path / "ehr", wait))
    assert [[row["job_index"] for row in part.rows] for part in news] == [[0], [1], [], [3]]
    assert [[error["job_index"] for error in part.errors] for part in news] == [[], [2], [], []]
    assert [part.status for part in news] == ["running", "running", "running", "partial"]
    assert (news[-1].count, news[-1].jobs) == (3, 4)


def test_a_run_that_has_ended_is_summed_up_at_once(tmp_path, capsys):
    run = write_run(tmp_path / "ehr", [row(0), failed(1)])
    assert main([str(run), "--follow"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 rollouts" in out
    assert "mean 0.500, 1 of 2 successful" in out


def test_as_json_each_line_is_an_object_and_the_last_is_the_end(tmp_path, capsys):
    run = write_run(tmp_path / "ehr", [row(0), failed(1)], errors=[error_row(2)])
    assert main([str(run), "--follow", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["row", "row", "error", "end"]
    assert lines[1]["reward"] == 0.0
    assert lines[-1] == {"event": "end", "status": "complete", "rows": 2, "jobs": 3}
