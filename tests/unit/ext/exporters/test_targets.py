"""The documented shape of each target, on rows with every oddity of the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from synth.errors import ConfigProblems, OperatorError
from synth.ext.exporters.cli import main
from synth.ext.exporters.exporting import export
from synth.ext.exporters.siblings import by_task
from tests.documents import block_with
from tests.sample_rows import all_kinds, asks, call, masked, result, row, says, user, write_run

Json = Any


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(path: str) -> list[Json]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def table(path: str) -> list[Json]:
    """Rows of a Parquet file, its JSON values decoded."""
    rows = pq.read_table(path).to_pylist()
    return [{name: _decoded(value) for name, value in item.items()} for item in rows]


def _decoded(value: Json) -> Json:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [json.loads(item) for item in value]
    return value


def sample(index: int, task: str, number: int, reward: float, **columns: Json) -> Json:
    outcome = "success" if reward == 1.0 else "failure"
    defaults = {"task_id": task, "sample_index": number, "reward": reward, "outcome": outcome}
    return row(index, **(defaults | columns))


def siblings() -> list[Json]:
    """Task a: a success and a failure that differ in the second call. Task b: two successes. Task
    c: one sample.
    """
    good = row(0)["messages"]
    bad = [*good[:4], asks(call("c2", "record_vitals", patient_id=7, heart_rate=27)), *good[5:]]
    return [
        sample(0, "a", 0, 1.0),
        sample(1, "a", 1, 0.0, messages=bad),
        sample(2, "b", 0, 1.0),
        sample(3, "b", 1, 1.0),
        sample(4, "c", 0, 0.0),
    ]


def test_dpo_pairs_the_samples_of_a_task_after_what_they_share(folder, capsys):
    write_run(folder / "run", siblings())
    assert main(["run", "--to", "trl-dpo", "--option", "completion=rollout"]) == 0
    (pair,) = table("run.trl-dpo.parquet")
    assert pair["prompt"] == row(0)["messages"][:4]
    assert [message["role"] for message in pair["chosen"]] == ["assistant", "tool", "assistant"]
    rates = [
        pair[side][0]["tool_calls"][0]["function"]["arguments"]["heart_rate"]
        for side in ("chosen", "rejected")
    ]
    assert rates == [72, 27]
    assert pair["tools"] == row(0)["tools"]
    assert (pair["task_id"], pair["chosen_reward"], pair["rejected_reward"]) == ("a", 1.0, 0.0)
    said = capsys.readouterr().err
    assert "a377c0ffee5eed03: no sample of its task with another reward" in said
    assert "left out a477c0ffee5eed04: no other sample of its task" in said


def test_dpo_can_end_at_the_first_turn_that_differs(folder):
    write_run(folder / "run", siblings())
    assert main(["run", "--to", "trl-dpo"]) == 0
    (pair,) = table("run.trl-dpo.parquet")
    assert [len(pair[side]) for side in ("chosen", "rejected")] == [1, 1]


def test_dpo_pairs_samples_of_two_runs(folder):
    good, bad, *_ = siblings()
    write_run(folder / "one", [good])
    write_run(folder / "two", [sample(0, "a", 0, 0.0, messages=bad["messages"])])
    assert main(["one", "two", "--to", "trl-dpo", "--out", "both.parquet"]) == 0
    assert len(table("both.parquet")) == 1


def test_dpo_never_chooses_a_mistake(folder, capsys):
    """A success that recovered would push its mistake up, as DPO has no masks."""
    recovered = sample(0, "a", 0, 1.0, messages=masked(0)["messages"])
    failed = sample(1, "a", 1, 0.0, messages=[*masked(1)["messages"][:2], says("No.")])
    write_run(folder / "run", [recovered, failed, *siblings()[2:4]])
    with pytest.raises(OperatorError, match="must not be trained on"):
        main(["run", "--to", "trl-dpo"])


def test_a_sample_that_cannot_be_chosen_uses_up_no_other(folder):
    """Rewards 1 (recovered), 0.8 and 0: the second best takes the worst."""
    recovered = sample(0, "a", 0, 1.0, messages=masked(0)["messages"])
    opening = masked(0)["messages"][:2]
    plain = sample(1, "a", 1, 0.8, messages=[*opening, says("Stopped.")])
    failed = sample(2, "a", 2, 0.0, messages=[*opening, says("No.")])
    write_run(folder / "run", [recovered, plain, failed])
    report = export("run", "trl-dpo", "pairs")
    (pair,) = table("pairs")
    assert (pair["chosen_reward"], pair["rejected_reward"]) == (0.8, 0.0)
    assert report.left_out == {"a chosen sample with a turn that must not be trained on": 1}


def test_dpo_counts_rows_not_attempts(folder):
    """A row that is refused against the worst, but chosen against another, is not left out."""
    opening = [user("x"), asks(call("1", "y"), train=False), result("1", "y", 1)]
    rows = [
        sample(0, "a", 0, 1.0, messages=[*opening, says("good")]),
        sample(1, "a", 1, 0.5, messages=[*opening, says("bad")]),
        sample(2, "a", 2, 0.0, messages=[user("x"), says("worse")]),
    ]
    write_run(folder / "run", rows)
    report = export("run", "trl-dpo", "pairs")
    (pair,) = table("pairs")
    assert (pair["chosen_reward"], pair["rejected_reward"]) == (1.0, 0.5)
    assert list(report.left_out) == [
        "not in one of the pairs of its task (--option pairs=N makes more)"
    ]


def test_dpo_takes_as_many_pairs_as_asked(folder):
    rows = [
        sample(index, "a", index, reward, messages=[user("x"), says(f"answer {index}")])
        for index, reward in enumerate((1.0, 0.5, 0.25, 0.0))
    ]
    write_run(folder / "run", rows)
    assert main(["run", "--to", "trl-dpo", "--option", "pairs=5"]) == 0
    found = [
        (pair["chosen_reward"], pair["rejected_reward"]) for pair in table("run.trl-dpo.parquet")
    ]
    assert found == [(1.0, 0.0), (0.5, 0.25)]
    with pytest.raises(ConfigProblems, match="pairs"):
        main(["run", "--to", "trl-dpo", "--option", "pairs=0", "--force"])


def test_no_pair_is_one_message_and_no_file(folder):
    write_run(folder / "run", [sample(0, "b", 0, 1.0), sample(1, "b", 1, 1.0)])
    with pytest.raises(OperatorError) as caught:
        main(["run", "--to", "trl-dpo"])
    assert "no pair of samples of one task with different rewards" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [path.name for path in folder.iterdir()] == ["run"]


def test_kto_labels_rows_and_trains_the_recovery_only(folder, capsys):
    write_run(folder / "run", all_kinds())
    assert main(["run", "--to", "trl-kto"]) == 0
    plain, recovered, failed, stopped = table("run.trl-kto.parquet")
    assert [item["label"] for item in (plain, recovered, failed, stopped)] == [
        True, True, False, False
    ]  # fmt: skip
    assert plain["prompt"] == row(0)["messages"][:2]
    assert recovered["prompt"][-1]["role"] == "tool", "the malformed call is part of the prompt"
    assert recovered["completion"][0]["tool_calls"][0]["id"] == "c2"
    assert "train" not in json.dumps(recovered["prompt"])
    assert stopped["completion"][-1]["role"] == "assistant"
    assert "left out a477c0ffee5eed04: unscored" in capsys.readouterr().err


def test_grpo_has_a_prompt_of_each_task_and_its_pass_rate(folder, capsys):
    write_run(folder / "run", siblings())
    assert main(["run", "--to", "trl-grpo"]) == 0
    first, second, third = table("run.trl-grpo.parquet")
    assert first["prompt"] == row(0)["messages"][:2]
    assert (first["task_id"], first["env"], first["universe"]) == ("a", "ehr_db", 0)
    assert [(item["samples"], item["pass_rate"]) for item in (first, second, third)] == [
        (2, 0.5), (2, 1.0), (1, 0.0)
    ]  # fmt: skip
    assert main(["run", "--to", "trl-grpo", "--option", "keep=mixed", "--force"]) == 0
    assert [item["task_id"] for item in table("run.trl-grpo.parquet")] == ["a"]
    assert "a377c0ffee5eed03: every sample of its task succeeds" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["trl-grpo", "verl", "nemo-gym"])
def test_a_template_is_asked_about_prompts_only(folder, target):
    """Llama drops words beside a call, which no prompt has: every sample counts."""
    rows = siblings()
    failed = [*rows[1]["messages"]]
    failed[4] = {**failed[4], "content": "I note it down."}
    rows[1]["messages"] = failed
    write_run(folder / "run", rows)
    assert main(["run", "--to", target, "--out", "plain"]) == 0
    report = export("run", target, "gated", template="llama3.1")
    assert (report.examples, report.left_out) == (3, {})
    assert (folder / "gated").read_bytes() == (folder / "plain").read_bytes()


def test_a_prompt_that_a_template_refuses_leaves_out_its_task(folder):
    rows = siblings()
    for item in rows[2:4]:
        item["messages"] = [user(""), *item["messages"][1:]]
    (folder / "mine.jinja").write_text(
        "{% if not messages[0].content %}{{ raise_exception('empty') }}{% endif %}"
        "{{ tools | tojson }}{% for message in messages %}{{ message.content }}{% endfor %}"
    )
    write_run(folder / "run", rows)
    report = export("run", "trl-grpo", "prompts", template="mine.jinja")
    assert [item["task_id"] for item in table("prompts")] == ["a", "c"]
    assert report.left_out == {"mine.jinja does not render it: empty": 2}


def test_refused_samples_do_not_hold_back_their_task():
    """A task is complete as soon as the next row comes, though fewer of its rows did."""
    sizes = {"a": 2, "b": 1}

    def stream():
        yield sample(0, "a", 0, 1.0)
        sizes["a"] -= 1
        yield sample(2, "b", 0, 1.0)
        sizes["seen"] = True

    first = next(by_task(stream(), sizes))
    assert [item["task_id"] for item in first] == ["a"]
    assert "seen" not in sizes


def test_sharegpt_alternates_and_holds_calls_as_json(folder):
    write_run(folder / "run", [row(0)])
    for target in ("sharegpt", "llamafactory"):
        assert main(["run", "--to", target]) == 0
    assert lines("run.sharegpt.jsonl") == lines("run.llamafactory.jsonl")
    (example,) = lines("run.sharegpt.jsonl")
    assert [turn["from"] for turn in example["conversations"]] == [
        *("human", "function_call", "observation", "function_call", "observation", "gpt")
    ]
    assert json.loads(example["conversations"][1]["value"]) == {
        "name": "find_patients",
        "arguments": {"name": "O'Brien"},
    }
    assert example["system"] == row(0)["messages"][0]["content"]
    assert json.loads(example["tools"])[0]["name"] == "find_patients"


def test_sharegpt_splits_parallel_calls_and_refuses_words_beside_them(folder, capsys):
    both = [
        user("Both."),
        asks(call("1", "x"), call("2", "y")),
        *(result("1", "x", 1), result("2", "y", 2)),
        says("Done."),
    ]
    beside = [user("One."), asks(call("1", "x"), content="Now."), result("1", "x", 1), says("Ok.")]
    twice = [user("a"), says("b"), says("c")]
    rows = [row(0, messages=both), row(1, messages=beside), row(2, messages=twice), masked(3)]
    write_run(folder / "run", rows)
    assert main(["run", "--to", "sharegpt"]) == 0
    (split,) = lines("run.sharegpt.jsonl")
    assert [turn["from"] for turn in split["conversations"]] == [
        *("human", "function_call", "observation", "function_call", "observation", "gpt")
    ]
    said = capsys.readouterr().err
    for reason in ("words beside a call", "do not alternate", "has no loss masks"):
        assert reason in said
    assert main(["run", "--to", "sharegpt", "--option", "words=drop", "--force"]) == 0
    assert len(lines("run.sharegpt.jsonl")) == 2


def test_sharegpt_keeps_recovered_rows_one_turn_at_a_time(folder):
    """Under mask_history only the last turn is trained on, which is never the mistake."""
    write_run(folder / "run", [masked(0)])
    assert main(["run", "--to", "llamafactory", "--unit", "turn"]) == 0
    first, second = lines("run.llamafactory.jsonl")
    assert json.loads(first["conversations"][-1]["value"])["arguments"] == {"medication_id": 12}
    assert second["conversations"][-1] == {"from": "gpt", "value": "Stopped."}


def test_llamafactory_keeps_words_beside_a_call(folder, capsys):
    """A recovery that says what went wrong is what such a row has to teach."""
    beside = [user("One."), asks(call("1", "x"), content="Now. "), result("1", "x", 1), says("Ok.")]
    tagged = [user("One."), asks(call("1", "x"), content="A <tool_call>"), result("1", "x", 1)]
    write_run(folder / "run", [row(0, messages=beside), row(1, messages=[*tagged, says("Ok.")])])
    assert main(["run", "--to", "llamafactory"]) == 0
    (example,) = lines("run.llamafactory.jsonl")
    assert example["conversations"][1] == {
        "from": "function_call",
        "value": 'Now.\n<tool_call>{"name":"x","arguments":{}}</tool_call>',
    }
    assert "left out a177c0ffee5eed01: a text holds <tool_call>" in capsys.readouterr().err
    assert main(["run", "--to", "sharegpt", "--option", "words=keep"]) == 0
    assert lines("run.sharegpt.jsonl") == [example]


def test_axolotl_marks_every_turn(folder):
    write_run(folder / "run", [row(0), masked(1)])
    assert main(["run", "--to", "axolotl"]) == 0
    plain, recovered = lines("run.axolotl.jsonl")
    assert [message["train"] for message in plain["messages"]] == [
        message["role"] == "assistant" for message in plain["messages"]
    ]
    assert [message["train"] for message in recovered["messages"]] == [
        *(False, False, False, False, True, False, True)
    ]
    arguments = plain["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"name": "O'Brien"}
    parameters = plain["tools"][0]["function"]["parameters"]
    assert json.loads(parameters) == row(0)["tools"][0]["function"]["parameters"]


def test_the_guide_has_a_config_for_the_rows_of_axolotl(folder):
    """Without ``sequence_len`` Axolotl drops whatever is longer than 512 tokens: every row."""
    write_run(folder / "run", [row(0)])
    assert main(["run", "--to", "axolotl"]) == 0
    (example,) = lines("run.axolotl.jsonl")
    config = yaml.safe_load(block_with("yaml", "message_field_training"))
    (dataset,) = config["datasets"]
    assert config["sequence_len"] > 512
    assert all(
        dataset["message_field_training"] in message
        for message in example[dataset["field_messages"]]
    )
    assert dataset["roles_to_train"] == []


def test_verl_reads_prompts_as_plain_columns(folder):
    write_run(folder / "run", siblings())
    assert main(["run", "--to", "verl"]) == 0
    examples = pq.read_table("run.verl.parquet").to_pylist()
    first = examples[0]
    assert first.keys() == {
        *("data_source", "agent_name", "prompt", "ability", "reward_model", "extra_info")
    }
    assert [message["role"] for message in first["prompt"]] == ["system", "user"]
    assert first["reward_model"] == {"style": "rule", "ground_truth": "a"}
    assert [item["extra_info"]["index"] for item in examples] == [0, 1, 2]
    assert json.loads(first["extra_info"]["tools"]) == row(0)["tools"]


def test_verl_sft_has_no_null_filled_keys(folder, capsys):
    write_run(folder / "run", [row(0), masked(1)])
    assert main(["run", "--to", "verl-sft"]) == 0
    (example,) = pq.read_table("run.verl-sft.parquet").to_pylist()
    assert all(set(message) == {"role", "content"} for message in example["messages"])
    assert [message["role"] for message in example["messages"]] == [
        *("system", "user", "assistant", "user", "assistant", "user", "assistant")
    ]
    assert '<tool_call>\n{"name":"find_patients"' in example["messages"][2]["content"]
    assert (
        "left out a177c0ffee5eed01: a turn that must not be trained on" in capsys.readouterr().err
    )


def test_nemo_gym_has_a_request_of_the_responses_api(folder):
    write_run(folder / "run", siblings())
    assert main(["run", "--to", "nemo-gym", "--option", "agent=clinic"]) == 0
    first, *_ = lines("run.nemo-gym.jsonl")
    request = first["responses_create_params"]
    assert [message["role"] for message in request["input"]] == ["system", "user"]
    assert all(
        tool.keys() == {"type", "name", "description", "parameters", "strict"}
        for tool in request["tools"]
    )
    assert first["agent_ref"] == {"type": "responses_api_agents", "name": "clinic"}
    assert first["task_id"] == "a"
    names = [tool["name"] for tool in request["tools"]]
    assert main(["run", "--to", "nemo-gym", "--option", "reply_tool=true", "--force"]) == 0
    first, *_ = lines("run.nemo-gym.jsonl")
    tools = first["responses_create_params"]["tools"]
    assert [tool["name"] for tool in tools] == [*names, "reply_to_user"]
    assert tools[-1].keys() == tools[0].keys()


@pytest.mark.parametrize("target", ["trl-grpo", "verl", "nemo-gym"])
def test_prompts_list_no_tool_of_a_middleware(folder, target):
    """An environment has none of them."""
    own = {"type": "function", "function": {"name": "read_tool_output", "parameters": {}}}
    rows = [
        {**one, "tools": [*one["tools"], own], "middleware_tools": ["read_tool_output"]}
        for one in siblings()
    ]
    write_run(folder / "run", rows)
    assert main(["run", "--to", target, "--out", "prompts"]) == 0
    if target == "nemo-gym":
        shown = json.dumps(lines("prompts"))
    else:
        shown = json.dumps(pq.read_table("prompts").to_pylist())
    assert rows[0]["tools"][0]["function"]["name"] in shown
    assert "read_tool_output" not in shown


def test_hermes_text_reads_back(folder):
    both = [
        user("Both."),
        asks(call("1", "x", a=[1, {"b": "</tool>"}]), call("2", "y"), content="Now."),
        *(result("1", "x", 1), result("2", "y", 2)),
        says("Done."),
    ]
    write_run(folder / "run", [row(0, messages=both)])
    assert main(["run", "--to", "hermes"]) == 0
    (example,) = lines("run.hermes.jsonl")
    assert [turn["from"] for turn in example["conversations"]] == [
        *("system", "human", "gpt", "tool", "gpt")
    ]
    turn = example["conversations"][2]["value"]
    calls = [part.split("</tool_call>")[0] for part in turn.split("<tool_call>")[1:]]
    assert [json.loads(text) for text in calls] == [
        {"name": "x", "arguments": {"a": [1, {"b": "</tool>"}]}},
        {"name": "y", "arguments": {}},
    ]
    assert turn.startswith("Now.\n")
    assert example["text"].count("<|im_start|>") == example["text"].count("<|im_end|>") == 5
    assert main(["run", "--to", "hermes", "--unit", "turn", "--force"]) == 0
    *_, last = lines("run.hermes.jsonl")
    assert last["completion"] == "Done.<|im_end|>\n"
    assert last["prompt"].endswith("<|im_start|>assistant\n")


def test_the_unit_turn_makes_an_example_of_each_turn(folder):
    write_run(folder / "run", [row(0), masked(1)])
    assert main(["run", "--to", "trl-sft", "--unit", "turn"]) == 0
    examples = table("run.trl-sft.parquet")
    assert len(examples) == 5
    assert all(len(example["completion"]) == 1 for example in examples)
    assert not any("__malformed__" in json.dumps(item["completion"]) for item in examples)


@pytest.mark.parametrize("target", ["trl-dpo", "trl-kto", "trl-grpo", "verl", "nemo-gym"])
def test_a_target_without_single_turns_says_so(folder, target):
    write_run(folder / "run", [row(0)])
    with pytest.raises(OperatorError, match=f"--unit: {target} knows rollout, not turn"):
        main(["run", "--to", target, "--unit", "turn"])


def test_the_best_of_a_task_is_the_shortest_success(folder, capsys):
    rows = [
        sample(0, "a", 0, 1.0, num_turns=5),
        sample(1, "a", 1, 1.0, num_turns=3),
        sample(2, "a", 2, 0.0, num_turns=1),
        sample(3, "b", 0, 1.0, num_turns=9),
    ]
    write_run(folder / "run", rows)
    assert main(["run", "--to", "openai-jsonl", "--best", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["examples"] == 2
    rows = [each for each in report["account"]["entries"] if each["kind"] == "row"]
    assert sorted(each["why"] for each in rows) == [
        "no success: a gate failed",
        "not among the best 1 of its task",
    ]
    assert main(["run", "--to", "trl-kto", "--best", "1", "--out", "x.parquet"]) == 0
    with pytest.raises(OperatorError, match="--best"):
        main(["run", "--to", "trl-kto", "--best", "0"])


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("errors", "nope", "errors: keep or drop, not 'nope'"),
        ("calls", "two", "calls: parallel or one or None, not 'two'"),
        ("ids", "ten", "ids: recorded or nine or None, not 'ten'"),
        ("min_reward", float("nan"), "min_reward: a finite number .*, not nan"),
        ("min_reward", "x", "min_reward: a finite number .*, not 'x'"),
        ("min_reward", [], r"min_reward: a finite number .*, not \[\]"),
        ("best", "2", "best: a whole number from 1, or None, not '2'"),
        ("best", 0, "best: a whole number from 1, or None, not 0"),
        ("best", True, "best: a whole number from 1, or None, not True"),
    ],
)
def test_an_argument_of_another_kind_is_one_message(folder, argument, value, message):
    write_run(folder / "run", [row(0)])
    arguments: Json = {argument: value}
    with pytest.raises(OperatorError, match=message):
        export("run", "trl-sft", "rows", **arguments)
    assert not (folder / "rows").exists()


def test_rows_with_errors_are_dropped_on_request(folder, capsys):
    write_run(folder / "run", [row(0), masked(1), row(2, num_tool_errors=1)])
    assert main(["run", "--to", "openai-jsonl", "--errors", "drop"]) == 0
    assert len(lines("run.openai-jsonl.jsonl")) == 1
    assert "a277c0ffee5eed02: an error on the way" in capsys.readouterr().err


def test_calls_and_ids_in_the_form_that_was_asked_for(folder):
    both = [user("x"), asks(call("call_a", "x"), call("call_b", "y")), result("call_a", "x", 1)]
    messages = [*both, result("call_b", "y", 2), says("Done.")]
    write_run(folder / "run", [row(0, messages=messages)])
    assert main(["run", "--to", "trl-sft", "--calls", "one", "--ids", "nine"]) == 0
    (example,) = table("run.trl-sft.parquet")
    calls = [message.get("tool_calls") or [] for message in example["messages"]]
    assert max(map(len, calls)) == 1
    assert {len(item["id"]) for turn in calls for item in turn} == {9}


@pytest.mark.parametrize("target", ["trl-sft", "trl-dpo", "trl-kto", "trl-grpo"])
def test_columns_of_json_are_texts_for_older_readers(folder, capsys, target):
    """Arrow's JSON type is refused by `datasets` 3 and 4."""
    write_run(folder / "run", siblings())
    assert main(["run", "--to", target, "--out", "now.parquet"]) == 0
    assert "for 3 and 4 use --plain" in capsys.readouterr().err
    assert main(["run", "--to", target, "--plain", "--out", "old.parquet"]) == 0
    assert "--plain" not in capsys.readouterr().err
    assert "json" not in str(pq.read_schema("old.parquet"))
    read = [
        {key: json.loads(one[key]) if key in JSON_COLUMNS else one[key] for key in one}
        for one in pq.read_table("old.parquet").to_pylist()
    ]
    assert read == table("now.parquet")
    assert main(["run", "--to", target, "--out", "lines.jsonl"]) == 0
    lines = [json.loads(line) for line in (folder / "lines.jsonl").read_text().splitlines()]
    assert lines == read


JSON_COLUMNS = ("messages", "tools", "prompt", "completion", "chosen", "rejected")


def test_a_name_that_promises_another_form_is_refused(folder):
    write_run(folder / "run", siblings())
    for more in (["--out", "x.parquet"], ["--plain"]):
        with pytest.raises(OperatorError, match=r"axolotl writes .jsonl files"):
            main(["run", "--to", "axolotl", *more])
