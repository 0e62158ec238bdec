"""`synth inspect` on real run directories: each view, as text and as JSON."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from synth.core.cli.inspect import main
from synth.core.dataset import reader
from synth.core.dataset.reader import Dataset
from synth.core.report.summary import summarize
from synth.core.report.table import next_steps, show_summary
from synth.core.screen import Screen
from synth.core.screen.transcript import show_trajectory
from synth.errors import DatasetError, OperatorError
from tests.sample_rows import all_kinds, error_row, failed, row, unscored, write_run, writing

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All kinds of rows, and two jobs that infrastructure broke."""
    errors = [error_row(6), error_row(7, retryable=False)]
    return write_run(tmp_path_factory.mktemp("runs") / "ehr", all_kinds(), errors=errors)


@pytest.fixture
def inspect(run, capsys):
    def call(*arguments):
        assert main([str(run), *arguments]) == 0
        return capsys.readouterr().out

    return call


def fields(line):
    return re.split(r"\s{2,}", line.strip())


def test_the_summary_counts_what_is_there(inspect, run):
    out = inspect()
    lines = {words[0]: words[1:] for line in out.splitlines() if (words := fields(line))}
    assert lines["rows"] == ["6 of 8 jobs, 2 infrastructure errors"]
    assert lines["reward"] == ["mean 0.700, 3 of 5 successful, 1 unscored"]
    assert lines["outcome"] == ["success 3, failure 2, unscored 1"]
    assert lines["stop reason"] == ["finished 5, max_turns 1"]
    header = ["rows", "reward", "passed", "turns", "calls", "tool errors", "excluded"]
    assert lines["split"] == header
    assert lines["train"] == ["5", "0.625", "50%", "2.8", "2.0", "2", "1"]
    assert lines["test"] == ["1", "1.000", "100%", "3.0", "2.0", "0", "2"]
    assert lines["passed"] == ["60.0%"]
    assert lines["tokens"] == ["input 5,400, output 360"]
    assert lines["cost"] == ["$0.0020 (known for 1 of 6 rows)"]
    assert lines["latency"] == ["p50 250.0 ms, p90 2.0 s, p99 2.0 s, max 2.0 s"]
    assert lines["family"] == header
    assert lines["stop_medication"] == ["4", "2", "50.0%"]  # the tool: its lines come last
    assert ["record_vitals", "5", "0.875", "75%", "2.8", "2.0", "1", "3"] in [
        fields(line) for line in out.splitlines()
    ]
    assert lines["ConnectionLost"] == ["2", "2", "the database went away"]
    assert lines["tool errors"] == ["malformed_call 1, not_found 1"]
    assert f"  synth inspect {run} --failed" in out


def test_the_summary_as_json(inspect):
    document = json.loads(inspect("--json"))
    assert document["status"] == "complete"
    assert document["rewards"] == {"mean": 0.7, "scored": 5, "unscored": 1, "successes": 3}
    assert document["tools"][0] == {
        "tool": "find_patients",
        "calls": 4,
        "errors": 0,
        "error_rate": 0.0,
    }
    assert document["cost_usd"] == {"total": 0.002, "known_rows": 1}
    assert document["tokens"]["cached"] == {"total": None, "known_rows": 0}
    assert document["user"]["cost_usd"] == {"total": 0.25, "known_rows": 1}
    assert document["infrastructure_errors"][0]["terminal"] == 2


def test_whether_a_call_failed_is_read_from_events_first(tmp_path):
    """With agent.error_style=plain the model is shown prose, which no reader could tell from a
    result.
    """
    messages = failed(0)["messages"]
    messages[3]["content"] = "There is no medication 99."
    events = [
        {
            "event": "tool_result",
            "id": "c1",
            "name": "stop_medication",
            "result": {"status": "error", "category": "not_found"},
        },
        {"event": "tool_result", "id": "c2", "name": "stop_medication", "result": {"stopped": 5}},
    ]
    run = write_run(tmp_path / "ehr", [failed(0) | {"messages": messages, "events": events}])
    (tool,) = summarize(Dataset.open(run))["tools"]
    assert (tool["calls"], tool["errors"]) == (2, 1)


def test_what_is_unknown_is_called_unknown(tmp_path, capsys):
    main([str(write_run(tmp_path / "ehr", [row(0, input_tokens=None, output_tokens=None)]))])
    out = capsys.readouterr().out
    assert "tokens  unknown" in re.sub(r" {2,}", "  ", out)
    assert "cost  unknown" in re.sub(r" {2,}", "  ", out)


@pytest.mark.parametrize("status", ["partial", "interrupted"])
def test_a_run_that_did_not_end_is_shown_with_what_to_do(tmp_path, capsys, status):
    run = write_run(tmp_path / "an ehr", [row(0)], jobs=2, status=status)
    assert main([str(run)]) == 0
    out = capsys.readouterr().out
    assert f"  {status}: " in out
    assert "1 of 2 jobs" in out
    assert f"synth run --resume '{run}'" in out


def test_a_run_that_is_going_on_is_shown(tmp_path, capsys):
    with writing(tmp_path / "ehr", [row(0)], jobs=2):
        assert main([str(tmp_path / "ehr")]) == 0
    out = capsys.readouterr().out
    assert "  running: " in out
    assert "1 of 2 jobs" in out
    assert "--resume" not in out


def test_a_complete_run_points_to_the_export_and_one_with_errors_to_resume(tmp_path, capsys):
    done = summarize(Dataset.open(write_run(tmp_path / "a", [row(0)])))
    assert [step.split(str(tmp_path))[0] for step in next_steps(done)] == [
        "synth inspect ",
        "synth export ",
    ]
    broken = write_run(
        tmp_path / "b", [row(0)], errors=[error_row(1, attempts=1)], status="partial"
    )
    assert next_steps(summarize(Dataset.open(broken)))[0] == f"synth run --resume {broken}"
    assert main([str(broken), "--failed"]) == 0
    assert f"Next\n  synth run --resume {broken}\n" in capsys.readouterr().out


def test_a_run_without_rows(tmp_path, capsys):
    """Everything failed: no mean of nothing, no division by nothing."""
    run = write_run(tmp_path / "ehr", [], errors=[error_row(0)])
    assert main([str(run)]) == 0
    assert "0 of 1 jobs, 1 infrastructure error" in capsys.readouterr().out
    assert main([str(run), "--failed"]) == 0


def test_failed_lists_one_row_a_line_with_the_reason(inspect, run):
    lines = inspect("--failed").splitlines()
    header, first, second, unscored, _, heading, names, *broken = lines[:9]
    assert header.split() == ["trajectory_id", "family", "reward", "stop_reason", "reason"]
    assert fields(first) == [
        failed(2)["trajectory_id"],
        "stop_medication",
        "0",
        "finished",
        "state: collateral: medications medication_id=5",
    ]
    assert fields(second)[2:4] == ["0.5", "max_turns"]
    assert fields(unscored)[2:] == ["finished", "user: the user gave the wrong date"]
    assert heading == "2 rollouts broke and have no row"
    assert names.split() == ["job_index", "family", "error_type", "message"]
    assert len(broken) == 2
    assert lines[9:] == [
        "",
        "3 of 6 rows without success, 2 rollouts broke",
        "",
        "Next",
        f"  synth inspect {run} --show {failed(2)['trajectory_id']}",
        f"  synth view {run}",
    ]


def test_where_limit_and_columns(inspect):
    lines = inspect(
        "--where",
        "reward = 1.0 -- only these",
        "--limit",
        "2",
        "--columns",
        "job_index,error_categories",
    ).splitlines()
    assert lines[1:5] == [
        "0          []",
        '1          ["malformed_call"]',
        "",
        "3 of 6 rows (2 listed; --limit 0 lists all)",
    ]
    assert "6 of 6 rows\n" in inspect("--columns", "job_index", "--limit", "0")
    assert fields(inspect("--where", "reward is null").splitlines()[1])[2:] == [
        "finished",
        "user: the user gave the wrong date",
    ]
    assert "3 of 6 rows without success\n" in inspect("--where", "reward < 1 or true", "--failed")
    assert inspect("--limit", "2").splitlines()[0].split()[:2] == ["trajectory_id", "family"]


def test_a_list_without_rows_says_so(inspect, run):
    shown = inspect("--where", "reward > 2")
    assert shown == f"\n0 of 6 rows\n\nNext\n  synth inspect {run}\n"
    assert json.loads(inspect("--where", "reward > 2", "--json")) == {"matching": 0, "rows": []}


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        *(
            ([option, " "], OperatorError, f"{option}: is empty")
            for option in ("--show", "--where", "--columns")
        ),
        (["--columns", "rewrad,family,x_y"], DatasetError, r"did you mean reward\?\n.*x_y"),
        (["--failed", "--limit", "-1"], OperatorError, "--limit"),
        (["--where", "rewrad = 1"], DatasetError, "rewrad"),
        (["--show", "zzz"], DatasetError, "unknown trajectory zzz in .* --limit 0"),
    ],
)
def test_a_mistake_is_the_callers(run, words, error, message):
    with pytest.raises(error, match=message):
        main([str(run), *words])


def test_sql_without_duckdb_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(reader, "find_module", lambda _: None)
    with pytest.raises(DatasetError, match=r"pip install 'synth-worlds\[query\]'"):
        main([str(run), "--where", "reward = 1"])


def test_a_failed_trajectory_says_why_before_it_is_read(inspect):
    head = inspect("--show", "2").partition("1 system")[0]
    assert re.search(r"why +state: collateral: medications medication_id=5\n", head)
    assert "why" not in inspect("--show", "0").partition("1 system")[0]


def test_a_listing_as_json(inspect):
    document = json.loads(
        inspect("--failed", "--limit", "1", "--json", "--columns", "reward,submitted,created_at")
    )
    assert len(document.pop("errors")) == 2
    assert document == {
        "matching": 3,
        "rows": [
            {
                "reward": 0.0,
                "submitted": {"decision": "done"},
                "created_at": "2026-11-21T09:00:00+00:00",
            }
        ],
    }


@pytest.mark.parametrize(
    "wanted", ["2", failed(2)["trajectory_id"], failed(2)["trajectory_id"][:4]]
)
def test_show_finds_by_job_index_id_and_start_of_id(inspect, wanted):
    assert inspect("--show", wanted).startswith(
        f"{failed(2)['trajectory_id']}  failure, reward 0\n"
    )


def test_show_prints_everything_and_nothing_that_a_terminal_obeys(inspect):
    out = inspect("--show", "2")
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\\x1b[2J\\x1b]0;owned\\x07[bold red]not markup[/] \\u202eesrever \\x9b31m" in out
    assert "  -> stop_medication  c1\n" in out
    assert '     {"medication_id": 99}\n' in out
    assert "  error: not_found\n" in out
    assert out.count("a long line of notes") == 12
    assert "Row changes (2)" in out
    assert "  update medications medication_id=5\n" in out
    assert fields(out[out.index("    stopped") :].splitlines()[0]) == [
        "stopped",
        "null",
        '"2026-03-02"',
    ]
    assert "  fail state  0 (gate)\n" in out
    assert "collateral: medications" in out
    assert 'Submitted\n  {"decision": "done"}\n' in out


def test_show_tells_inserts_masked_turns_and_reasoning(inspect):
    out = inspect("--show", "1")
    assert "3 assistant  not trained on\n" in out
    assert '{"__malformed__": "{\\"medication_id\\": 12"}' in out
    first = inspect("--show", "0")
    assert "  reasoning\n    Which patient is it?\n" in first
    assert re.search(r"heart_rate +72\n", first)
    assert re.search(r"note +null\n", first)
    assert "unscored" in inspect("--show", "4").splitlines()[0]


def test_show_as_json_is_the_row(inspect):
    document = json.loads(inspect("--show", "2", "--json"))
    expected = failed(2)
    assert document.pop("created_at") == expected.pop("created_at").isoformat()
    assert document == expected


def test_show_of_a_broken_rollout_says_what_broke_it(inspect):
    out = inspect("--show", "7")
    assert "infrastructure error, not in the data" in out
    assert "the database went away" in out
    assert json.loads(inspect("--show", error_row(6).trajectory_id, "--json"))["terminal"] is True


def test_everything_fits_into_a_terminal_of_80_columns(run):
    """Nothing is lost by wrapping: the words of the longest result are all there."""
    dataset = Dataset.open(run)
    file = io.StringIO()
    screen = Screen(file, terminal=True, width=80)
    show_summary(screen, summarize(dataset))
    for each in dataset.rows():
        show_trajectory(screen, each)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert max(map(cell_len, plain.splitlines())) <= 80
    assert plain.count("a long line of notes") == 12
    assert "\x1b[" in file.getvalue()


@pytest.mark.parametrize("words", [(), ("--show", "2", "--json")], ids=["table", "json"])
@pytest.mark.slow
def test_a_reader_that_goes_away_is_quiet(run, words):
    """`synth inspect | head -1`: no traceback, exit 0; the listing is far longer than a pipe
    holds.
    """
    script = f"import sys; from synth.core.cli.inspect import main; sys.exit(main({[str(run), *words]!r}))"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_parquet_file_is_a_dataset_too(run, capsys):
    (shard,) = (run / "data").glob("train-*.parquet")
    assert main([str(shard)]) == 0
    assert "rows" in capsys.readouterr().out


def test_the_users_own_model_has_its_own_cost(tmp_path, capsys):
    main([str(write_run(tmp_path / "ehr", [unscored(0)]))])
    out = capsys.readouterr().out
    assert re.search(r"user's cost +\$0\.2500\n", out)
    assert re.search(r"user model +gpt-x 1\n", out)


def test_the_rows_that_a_call_changed_stand_below_its_result(tmp_path, capsys):
    change = row(0)["state_diff"][0]
    changed = [{"call": 1, "id": "c2", "name": "record_vitals", "changes": [change]}]
    run = write_run(tmp_path / "ehr", [row(0, call_changes=changed)])
    main([str(run), "--show", "0"])
    out = capsys.readouterr().out
    inside, _, end = out.partition("Row changes (1)")
    assert inside.index('{"vital_id":301}') < inside.index("    insert vitals vital_id=301")
    assert inside.index("    insert vitals") < inside.index("7 assistant")
    assert "  insert vitals vital_id=301" in end


def test_several_samples_of_a_task_have_pass_at_k(tmp_path, capsys):
    rows = [row(0, task_id="t"), failed(1) | {"task_id": "t", "sample_index": 1}]
    main([str(write_run(tmp_path / "ehr", rows))])
    lines = [fields(line) for line in capsys.readouterr().out.splitlines()]
    assert ["pass@k", "50.0%", "100.0%"] in lines
    assert ["all@k", "50.0%", "0.0%"] in lines


def test_distributions_are_small_histograms(tmp_path, capsys):
    rows = [row(index, num_turns=turns) for index, turns in enumerate((2, 3, 3, 5))]
    run = write_run(tmp_path / "ehr", rows)
    main([str(run), "--details"])
    lines = [fields(line) for line in capsys.readouterr().out.splitlines()]
    assert ["turns", "2", "▄█·▄", "5", "3", "5"] in lines
    assert not any(line[0] == "tool calls" for line in lines)  # all have as many
    main([str(run), "--json"])
    turns = json.loads(capsys.readouterr().out)["distributions"]["turns"]
    assert (turns["edges"], turns["counts"]) == ([2, 3, 4, 5], [1, 2, 0, 1])


@pytest.mark.parametrize("reads", [True, False], ids=["to the end", "leaves early"])
def test_a_trajectory_goes_through_the_pager_of_a_terminal(run, tmp_path, monkeypatch, reads):
    """The pager is a program that keeps what it gets, or ends at once."""
    kept = tmp_path / "kept"
    program = tmp_path / "pager"
    program.write_text(f"#!/bin/sh\n{f'cat > {kept}' if reads else 'exit 0'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PAGER", str(program))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main([str(run), "--show", "0"]) == 0
    assert not reads or "Noted: 72 bpm for Zoë O'Brien." in kept.read_text("utf-8")


def test_nothing_is_paged_without_a_pager_or_when_it_is_not_wanted(run, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for pager, *options in (("",), ("cat",), ("no-such-pager",), ("false", "--no-pager")):
        monkeypatch.setenv("PAGER", pager)
        assert main([str(run), "--show", "0", *options]) == 0
        assert "Noted: 72 bpm" in capsys.readouterr().out


def test_composed_tasks_are_one_line_for_each_number_of_requests(tmp_path, capsys):
    names = ("a+b", "c+a", "a+b+c", "a")
    rows = [row(index, family=family) for index, family in enumerate(names)]
    run = write_run(tmp_path / "ehr", rows)
    main([str(run), "--json"])
    families = json.loads(capsys.readouterr().out)["families"]
    found = {part["family"]: part["rows"] for part in families}
    assert found == {"2 requests": 2, "3 requests": 1, "a": 1}
    assert set(json.loads((run / "manifest.json").read_text())["counts"]["families"]) == set(found)


def test_many_families_do_not_scroll_the_headline_away(tmp_path, capsys):
    """Issue 38: 48 families of one row, each with "21% to 100%", stood below the headline."""
    rows = [row(index, task_id=f"t{index}", family=f"f{index}") for index in range(47)]
    run = write_run(tmp_path / "ehr", [*rows, failed(47) | {"task_id": "t", "family": "broken"}])
    main([str(run)])
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert len(lines) < 45
    assert "21%" not in out
    assert "and 40 more (--details lists all)" in out
    families = lines[lines.index("Families") + 2 :]
    assert fields(families[0])[0] == "broken"  # the lowest pass rate first
    assert "passed" in fields(next(line for line in reversed(lines) if "95%" in line))
    assert lines.index("Summary") > lines.index("Tools")
    assert lines[-1].strip().startswith("synth ")
    main([str(run), "--details"])
    assert "f46" in capsys.readouterr().out


@pytest.mark.parametrize(("tasks", "shown"), [(9, False), (10, True)])
def test_an_interval_is_shown_where_it_says_something(tmp_path, capsys, tasks, shown):
    rows = [row(index, task_id=f"t{index}") for index in range(tasks)]
    main([str(write_run(tmp_path / "ehr", rows))])
    assert ("95%" in capsys.readouterr().out) is shown
