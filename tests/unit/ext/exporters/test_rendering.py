"""The render gate: what a template drops, doubles or refuses is found, and true text passes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from synth.errors import OperatorError
from synth.ext.exporters.cli import main
from synth.ext.exporters.exporting import export
from synth.ext.exporters.rendering.chat_template import ChatTemplate
from synth.ext.exporters.rendering.gate import READERS, RenderGate
from synth.ext.exporters.rendering.presets import (
    PRESETS,
    WITH_TOOLS,
    Preset,
    RenderError,
    find_preset,
)
from synth.ext.exporters.row_policy import one_call_per_turn, with_short_ids
from tests.sample_rows import (
    SYSTEM,
    TOOLS,
    asks,
    call,
    masked,
    result,
    row,
    says,
    tool,
    user,
    write_run,
)

Json = Any

CHATML = """\
{% for message in messages %}<|im_start|>{{ message.role }}
{% if loop.first %}{{ tools | tojson }}{% endif %}{{ message.content }}
{% for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": ARGUMENTS}
</tool_call>
{% endfor %}
<|im_end|>
{% endfor %}
"""


def written(arguments: str) -> RenderGate:
    return RenderGate(Preset("mine", CHATML.replace("ARGUMENTS", arguments)))


def parallel(**beside: Json) -> list[Json]:
    return [
        SYSTEM,
        user("Stop both."),
        asks(
            call("call_a", "stop_medication", medication_id=1),
            call("call_b", "stop_medication", medication_id=2),
            **beside,
        ),
        result("call_a", "stop_medication", {"stopped": 'x"y'}),
        result("call_b", "stop_medication", "two\nlines"),
        says("Done."),
    ]


def fitting(name: str, messages: list[Json]) -> list[Json]:
    preset = find_preset(name)
    if preset.calls == "one":
        messages = one_call_per_turn(messages)
    return with_short_ids(messages) if preset.ids == "nine" else messages


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_every_preset_renders_calls_that_are_read_back(name: str):
    gate = RenderGate(find_preset(name))
    assert gate.reason(fitting(name, row(0)["messages"]), TOOLS) == ""
    assert gate.reason(fitting(name, parallel()), TOOLS) == ""


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_a_text_is_read_by_one_reader_only(name: str):
    """The calls that are found are those of the conversation, not those of another form."""
    text = ChatTemplate(find_preset(name)).render(fitting(name, parallel()), [])
    found = [calls for reader in READERS if (calls := list(reader(text, {})))]
    assert found[0] == [
        ("stop_medication", {"medication_id": 1}),
        ("stop_medication", {"medication_id": 2}),
    ]
    assert len(found) == 1


def test_templates_that_take_one_call_refuse_two():
    for name in ("llama3.1", "llama3.2"):
        reason = RenderGate(find_preset(name)).reason(parallel(), TOOLS)
        assert reason.startswith(f"{name} does not render it: This model only supports single")
    assert "drops a call" in RenderGate(find_preset("gpt-oss")).reason(parallel(), TOOLS)


def test_ids_of_another_form_are_refused_by_mistral():
    reason = RenderGate(find_preset("mistral-v3")).reason(row(0)["messages"], TOOLS)
    assert "nine characters" in reason


@pytest.mark.parametrize("name", ["llama3.1", "gpt-oss"])
def test_words_beside_a_call_that_are_dropped_are_found(name: str):
    messages = one_call_per_turn(parallel(content="Both of them."))
    reason = RenderGate(find_preset(name)).reason(messages, TOOLS)
    assert reason == f"{name} drops the assistant's words beside a call"


def test_a_template_without_tools_is_one_message():
    with pytest.raises(OperatorError, match=r"smollm2 drops the tools.*qwen2\.5"):
        RenderGate(find_preset("smollm2")).reason(row(0)["messages"], TOOLS)
    assert RenderGate(find_preset("smollm2")).reason([user("Hi."), says("Hi.")], []) == ""


def test_arguments_that_are_encoded_twice_are_found():
    once = written("{{ call.function.arguments | tojson }}")
    twice = written("{{ call.function.arguments | tojson | tojson }}")
    messages = row(0)["messages"]
    assert once.reason(messages, TOOLS) == ""
    assert twice.reason(messages, TOOLS) == "mine encodes the arguments of a call twice"
    as_text = json.loads(json.dumps(messages))
    for message in as_text:
        for made in message.get("tool_calls", []):
            made["function"]["arguments"] = json.dumps(made["function"]["arguments"])
    assert once.reason(as_text, TOOLS) == "mine encodes the arguments of a call twice"


def test_a_call_that_reads_back_differently_is_found():
    assert written('{"name": "x"}').reason(row(0)["messages"], TOOLS) == (
        "mine writes a call that reads back differently"
    )
    assert "drops a call" in written("{{ call.function.arguments }}").reason(
        row(0)["messages"], TOOLS
    ), "Python's notation is no JSON"


def test_dropped_results_are_found():
    source = CHATML.replace("ARGUMENTS", "{{ call.function.arguments | tojson }}").replace(
        "{{ message.content }}", "{{ message.content if message.role != 'tool' }}"
    )
    reason = RenderGate(Preset("mine", source)).reason(row(0)["messages"], TOOLS)
    assert reason == "mine drops a message of the role tool"


@pytest.mark.parametrize("name", ["llama3.1", "gpt-oss"])
def test_dropped_words_are_found_where_others_say_the_same(name: str):
    messages = one_call_per_turn(parallel(content="Done."))
    reason = RenderGate(find_preset(name)).reason(messages, TOOLS)
    assert reason == f"{name} drops the assistant's words beside a call"


def test_dropped_tools_are_found_where_the_opening_names_them():
    source = CHATML.replace("ARGUMENTS", "{{ call.function.arguments | tojson }}")
    named = {"role": "system", "content": f"Use {', '.join(t['function']['name'] for t in TOOLS)}."}
    messages = [named, *row(0)["messages"][1:]]
    assert RenderGate(Preset("mine", source)).reason(messages, TOOLS) == ""
    with pytest.raises(OperatorError, match="mine drops the tools"):
        RenderGate(Preset("mine", source.replace("{{ tools | tojson }}", ""))).reason(
            messages, TOOLS
        )


def test_values_without_quotes_are_read_by_their_declared_types():
    """GLM writes the text 72 and the number 72 alike; the tool's schema tells them apart."""
    tools = [tool("note", "Note.", text={"type": "string"}, rate={"type": "integer"})]
    messages = [user("x"), asks(call("c1", "note", text="72", rate=72)), says("Done.")]
    assert RenderGate(find_preset("glm4.5")).reason(messages, tools) == ""


def test_calls_with_parameters_in_tags_are_read():
    text = (
        "<tool_call>\n<function=note>\n<parameter=text>\na\nb\n</parameter>\n<parameter=rate>\n72\n"
        "</parameter>\n</function>\n</tool_call>"
    )
    types = {("note", "text"): "string", ("note", "rate"): "integer"}
    found = [calls for reader in READERS if (calls := list(reader(text, types)))]
    assert found == [[("note", {"text": "a\nb", "rate": 72})]]


def test_a_template_cannot_reach_python():
    source = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    with pytest.raises(RenderError):
        ChatTemplate(Preset("evil", source)).render([user("x")], [])
    with pytest.raises(RenderError):
        ChatTemplate(Preset("evil", "{{ messages.append(1) }}")).render([user("x")], [])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ 1 / 0 }}", "mine does not render it: division by zero"),
        ("{{ 10.0 ** 999 }}", "mine does not render it: .*"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "mine does not render it: .*recursion"),
    ],
)
def test_a_template_that_breaks_is_the_reason(source: str, words: str):
    assert re.match(words, RenderGate(Preset("mine", source)).reason([user("x")], []))


def test_a_template_that_is_nested_too_deeply_is_one_message():
    with pytest.raises(OperatorError, match="--template mine: nested too deeply"):
        ChatTemplate(Preset("mine", f"{{{{ {'(' * 5000}1{')' * 5000} }}}}"))


def test_generation_marks_are_no_text():
    template = ChatTemplate(Preset("x", "a{% generation %}b{% endgeneration %}c"))
    assert template.render([user("x")], []) == "abc"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_names_its_source(name: str):
    assert find_preset(name).source
    page = (find_preset.__globals__["_FOLDER"] / "SOURCES.md").read_text("utf-8")
    assert f"`{name}`" in page


def test_the_command_counts_what_a_template_refuses(tmp_path, monkeypatch, capsys):
    """Llama gets one call a turn by itself; words beside a call cost the row."""
    monkeypatch.chdir(tmp_path)
    rows = [row(0), row(1, messages=parallel()), row(2, messages=parallel(content="Both of them."))]
    write_run(tmp_path / "run", rows)
    assert main(["run", "--to", "openai-jsonl", "--template", "llama3.1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("2 examples from 3 rows")
    assert "left out a277c0ffee5eed02: llama3.1 drops the assistant's words beside a call" in err
    lines = (tmp_path / "run.openai-jsonl.jsonl").read_text("utf-8").splitlines()
    turns = [message.get("tool_calls", []) for message in json.loads(lines[1])["messages"]]
    assert [len(calls) for calls in turns if calls] == [1, 1]


def test_a_file_is_a_template(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", [row(0)])
    arguments = ["run", "--to", "trl-sft", "--template"]
    (tmp_path / "mine.jinja").write_text(find_preset("qwen3").source)
    assert main([*arguments, "mine.jinja"]) == 0
    (tmp_path / "broken.jinja").write_text("{% if %}")
    with pytest.raises(OperatorError, match=r"--template broken\.jinja, line 1"):
        main([*arguments, "broken.jinja", "--force"])
    with pytest.raises(OperatorError, match="did you mean qwen3"):
        main([*arguments, "qwen33", "--force"])
    with pytest.raises(OperatorError, match="smollm2 drops the tools"):
        main([*arguments, "smollm2", "--force"])
    assert (tmp_path / "run.trl-sft.parquet").is_file()
    assert not list(tmp_path.glob(".*.part"))


def thoughtful() -> list[Json]:
    """Two turns with reasoning and words before the user's last message, two after it."""
    thought = {"reasoning_content": "It is one of them."}
    return [
        user("Stop one."),
        asks(call("c1", "find_patients", name="x"), **thought),
        result("c1", "find_patients", 1),
        says("Which one?", **thought),
        user("The first."),
        asks(call("c2", "stop_medication", medication_id=1), **thought),
        result("c2", "stop_medication", 1),
        says("Done.", **thought),
    ]


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("qwen2.5", 4),
        ("qwen3", 2),
        ("qwen3-2507", 4),
        ("qwen3-training", 0),
        ("llama3.1", 4),
        ("mistral-v3", 4),
        ("glm4.5", 2),
        ("gpt-oss", 3),
        ("gpt-oss-training", 3),
    ],
)
def test_reasoning_that_a_template_does_not_render_is_counted(name, lost, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", [row(0, messages=thoughtful())])
    report = export("run", "trl-sft", "rows", template=name)
    changed = report.account.reasons("reasoning turn", "changed")
    assert changed == ({f"loses its reasoning: {name} does not render it": lost} if lost else {})
    by_turn = export("run", "trl-sft", "turns", template=name, unit="turn")
    assert by_turn.account.count("reasoning turn", "changed") == (4 if lost == 4 else 0)


@pytest.mark.parametrize(
    "target", ["openai-jsonl", "sharegpt", "llamafactory", "hermes", "verl-sft"]
)
def test_targets_without_a_place_for_reasoning_say_so(target, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", [row(0), masked(1)])
    assert main(["run", "--to", target]) == 0
    said = capsys.readouterr().err
    assert "reasoning turns: 1 of 1 used\n" in said
    assert f": loses its reasoning: {target} has no place for it\n" in said


def test_reasoning_is_where_the_template_reads_it(tmp_path, monkeypatch):
    """gpt-oss reads ``thinking``, and refuses it beside both words and a call."""
    monkeypatch.chdir(tmp_path)
    messages = thoughtful()
    messages[1] = {**messages[1], "content": "I look."}
    write_run(tmp_path / "run", [row(0, messages=messages)])
    report = export("run", "axolotl", "rows", template="gpt-oss", unit="turn")
    assert report.account.count("reasoning turn", "changed") == 1
    first, *others = map(json.loads, (tmp_path / "rows").read_text("utf-8").splitlines())
    assert "reasoning_content" in first["messages"][-1]
    assert all(other["messages"][-1]["thinking"] == "It is one of them." for other in others)
    report = export("run", "axolotl", "plain", unit="turn")
    assert not report.account.entries
    assert "thinking" not in (tmp_path / "plain").read_text("utf-8")
