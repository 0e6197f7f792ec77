"""A few random calls, without TensorFlow: see `random_calls.py`."""

from __future__ import annotations

import pytest

import tfteach as tf
from tests.fuzz import random_calls
from tests.fuzz.call_text import CallMaker
from tests.fuzz.call_worker import evaluate, names
from tests.fuzz.random_calls import Answer, difference

# What an error in tfteach itself would look like.
OWN_MISTAKES = (
    "NameError UnboundLocalError RecursionError SystemError MemoryError".split()
)
MAKER = CallMaker(seed=20)


@pytest.mark.filterwarnings("ignore")
def test_calls_have_an_answer_or_an_error_of_the_caller() -> None:
    known = names(tf)
    answers = {
        call: evaluate(tf, call, known) for call in map(MAKER.call, range(0, 400, 8))
    }
    refused = {call: random_calls.refused(answer) for call, answer in answers.items()}
    assert {c: e for c, e in refused.items() if e and e[0] in OWN_MISTAKES} == {}
    assert 10 < sum(e is None for e in refused.values()) < 40


def test_a_seed_makes_the_same_calls() -> None:
    again = CallMaker(seed=20)
    assert [again.call(n) for n in range(9)] == [MAKER.call(n) for n in range(9)]
    assert CallMaker(seed=21).call(0) != MAKER.call(0)


def answer(
    values: object, result: str = "float32 (2,)", random: bool = False
) -> Answer:
    return {"result": result, "values": [["float32", [2], values]], "random": random}


REFUSAL: Answer = {"build": ["TypeError", "no"]}


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        (answer([1.0, 2.0]), answer([1.00001, 2.0]), ""),
        (answer([1.0, 2.0]), answer([1.1, 2.0]), "values"),
        (answer([1.0, 2.0], random=True), answer([3.0, 4.0], random=True), ""),
        (answer([1.0, 2.0]), answer([1.0, 2.0], "float32 (?,)"), "result"),
        (answer([1.0, 2.0]), REFUSAL, "we accept: TypeError"),
        (REFUSAL, answer([1.0, 2.0]), "we refuse: TypeError"),
        (REFUSAL, {"run": ["TypeError", "other words"]}, ""),
        (REFUSAL, {"run": ["ValueError", "no"]}, "class TypeError, not ValueError"),
        (REFUSAL, {"died": "status -11"}, ""),
        ({"died": "hang"}, REFUSAL, "we hang"),
    ],
)
def test_differences_are_found(ours: Answer, theirs: Answer, found: str) -> None:
    assert difference(ours, theirs) == found
