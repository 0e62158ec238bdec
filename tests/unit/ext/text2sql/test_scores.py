"""Scores of answers: the share that was executed, execution accuracy and F1, by kind."""

from __future__ import annotations

from typing import Any

from synth.ext.text2sql.scores import SqlScores


def verdict(family: str, execution: bool, f1: float, *, executed: bool = True) -> dict[str, Any]:
    detail = {
        "execution": execution,
        "f1": f1,
        "agrees": {"bag": execution} if executed else {},
        "difficulty": "simple",
        "family": family,
    }
    return {"verifier": "sql", "score": float(execution), "detail": detail}


def test_scores_by_database() -> None:
    scores = SqlScores()
    for one, tokens in (
        (verdict("schools", True, 1.0), 40),
        (verdict("schools", False, 0.5), 20),
        (verdict("cards", False, 0.0, executed=False), None),
    ):
        effort = {"num_tool_calls": 3, "output_tokens": tokens, "latency_s": 0.5}
        scores.add({"verdicts": [one], **effort})
    found = {part.get("family") or part["difficulty"]: part for part in scores.to_json()}
    assert list(found) == ["simple", "cards", "schools", "all"]
    schools, cards, every = found["schools"], found["cards"], found["all"]
    assert (schools["validated"], schools["execution_accuracy"], schools["f1"]) == (1.0, 0.5, 0.75)
    assert (cards["validated"], cards["execution_accuracy"]) == (0.0, 0.0)
    assert every["validated"] == 2 / 3
    assert (schools["steps"], schools["tokens"], schools["seconds"]) == (3, 30, 0.5)
    assert (every["steps"], every["tokens"]) == (3, None)
