"""A conversation without its first turns, a request for their summary, and the expert's notes:
written and read back.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from synth.core.models.openai.wire import wire_message
from synth.core.models.recap import (
    READ,
    Kept,
    Recap,
    kept_in,
    piece,
    preview,
    read_piece,
    read_request,
    summary_request,
    with_recap,
    without_recap,
)
from synth.core.models.scripted.notes import DONE, Notes, read_notes, remembered
from synth.core.types.steps import CallStep
from synth.ext.serving.chat_request import check_request
from synth.task import Message

Json = Any
SYSTEM: Message = {"role": "system", "content": "Rules."}
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def called(tool: str, answer: str, **arguments: Json) -> list[Message]:
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": arguments}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": tool, "content": answer},
    ]


@given(asked=TEXT, turns=st.integers(1, 99), summary=TEXT, words=st.lists(TEXT))
def test_a_recap_is_read_back_as_it_was_written(
    asked: str, turns: int, summary: str, words: list[str]
):
    """Whatever the user and the summary say; what follows the opening stays as it is."""
    opening = [SYSTEM, {"role": "user", "content": asked}]
    rest = called("find", "{}")
    sent = [*with_recap(opening, Recap(turns, summary, words)), *rest]
    assert [each["role"] for each in sent] == ["system", "user", "assistant", "tool"]
    assert sent[1]["content"].startswith(asked)
    plain, recap = without_recap(sent)
    assert list(plain) == [*opening, *rest]
    assert recap == Recap(turns, summary, words)
    assert opening[1]["content"] == asked


def test_a_conversation_without_a_user_gets_one_for_the_recap():
    sent = with_recap([SYSTEM], Recap(2, "Nothing."))
    assert [each["role"] for each in sent] == ["system", "user"]


@given(st.lists(st.tuples(TEXT, TEXT)), st.integers(0, 9))
def test_a_request_for_a_summary_is_read_back_without_what_stays(
    turns: list[tuple[str, str]], count: int
):
    """A valid request of two messages without a tool, whatever tools returned; the system's message
    is not in it.
    """
    messages = [SYSTEM, {"role": "user", "content": "Help."}]
    for answer, argument in turns:
        messages += called("find", answer, name=argument)
    sent = summary_request("Sum up.", messages, count)
    check_request({"model": "m", "messages": [wire_message(each) for each in sent]})
    request = read_request(sent)
    assert request is not None
    assert request.turns == count
    assert [each["content"] for each in request.messages] == [
        each["content"] for each in messages[1:]
    ]
    calls = [
        call["function"]["arguments"]["name"]
        for each in request.messages
        for call in each.get("tool_calls", ())
    ]
    assert calls == [argument for _, argument in turns]


def test_long_results_are_cut_only_where_that_is_asked_for():
    messages = [{"role": "user", "content": "u" * 30}, *called("find", "r" * 30)]
    (_, whole), (_, cut) = (
        summary_request("", messages, 1),
        summary_request("", messages, 1, clip=10),
    )
    assert "r" * 30 in whole["content"]
    assert "r" * 10 + " [... 20 characters more]" in cut["content"]
    assert "u" * 30 in cut["content"]


def test_a_conversation_is_no_request_for_a_summary():
    assert (
        read_request([SYSTEM, {"role": "user", "content": "Please sum up the first 3 turns."}])
        is None
    )
    assert read_request([]) is None


@given(text=TEXT, head=st.integers(0, 50), tail=st.integers(0, 50), size=st.integers(1, 40))
def test_a_kept_result_is_known_by_its_preview_and_whole_again_by_its_pieces(
    text: str, head: int, tail: int, size: int
):
    kept = Kept("output_3", len(text))
    assert kept_in(preview(kept, text, head, tail, "2 rows")) == kept
    offset: int | None = 0
    got = ""
    while offset is not None and offset < len(text):
        read = read_piece(piece(kept, text[offset : offset + size], offset))
        assert read is not None
        got, offset = got + read[0], read[1]
    assert got == text


@given(TEXT)
def test_an_ordinary_result_is_not_taken_for_a_kept_one(text: str):
    assert kept_in(text) is None
    assert kept_in(json.dumps([text])) is None
    assert read_piece(json.dumps([text])) is None


FIND = CallStep("find", save={"pid": "$.id", "all": "$.notes[*].id"})
WRITE = CallStep("write")
READING = CallStep(READ)


def noted(*answers: tuple[Json, str]) -> list[str]:
    notes = Notes()
    for step, content in answers:
        notes.add(step, content, failed=content.startswith("Error:"))
    return read_notes(notes.text)


def test_notes_hold_what_gold_saves_and_what_failed():
    """A result is as long as its saved values, a refusal and the user's words stand as they
    were.
    """
    found = json.dumps({"id": 7, "notes": [{"id": 1, "text": "x" * 1_000}]})
    back = noted(
        (FIND, found),
        (WRITE, '{"ok":true}'),
        (WRITE, "Error: no"),
        (None, "Yes,\nplease."),
        (FIND, "[]"),
    )
    assert remembered(back[0]) == {"pid": 7, "all": [1]}
    assert back[1:] == [DONE, "Error: no", "Yes,\nplease.", "[]"]
    assert remembered(DONE) is remembered("{}") is None


def test_a_result_that_was_read_to_its_end_is_remembered_and_one_that_was_not_stands_as_read():
    whole = json.dumps({"id": 7, "notes": [{"id": at, "text": "x" * 50} for at in range(9)]})
    kept = Kept("output_0", len(whole))
    shown = preview(kept, whole, 10, 10)
    parts = [piece(kept, whole[at : at + 400], at) for at in range(0, len(whole), 400)]
    assert len(parts) > 1
    half = noted((FIND, shown), (READING, parts[0]))
    assert kept_in(half[0]) == kept
    assert half[1] == parts[0]
    done = noted((FIND, shown), *((READING, each) for each in parts))
    assert len(done) == 1 + len(parts)
    assert remembered(done[-1]) == {"pid": 7, "all": list(range(9))}
    assert sum(map(len, done)) < 600
    again = noted((FIND, done[0]), *((READING, each) for each in done[1:]))
    assert again == done


def test_a_result_without_use_is_not_read():
    kept = Kept("output_0", 500)
    assert noted((WRITE, preview(kept, "x" * 500, 10, 0))) == [DONE]
