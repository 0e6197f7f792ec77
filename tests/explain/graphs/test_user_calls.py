"""Calls in a user's program, found in its source."""

from __future__ import annotations

import linecache

import pytest

from tfteach.explain.graphs.user_calls import UserCall, find_call, is_in_loop
from tfteach.framework.graph import SourceLine

PROGRAM = """\
import estimators
for row in rows[:9]:
    x = row[None]
    features = {"x": x[np.newaxis], "n": np.array([row.n])}
    input_fn = numpy_input_fn(features, shuffle=False)
    for one in model.dnn.predict(input_fn, predict_keys="y"):
        print(one)

def classify(a, b):
    def read():
        return {"a": np.expand_dims(a, 0), "b": [b], "c": np.array(b)}
    found = model.predict(input_fn=read)
    say("nothing")
    return next(found)

def whole(model): return list(model.predict(lambda: {"a": 1}))

while True:
    model.predict(
        lambda: read_a_very_long_list_of_files(folder, "*.csv", of_each=1000))
    model.train(input_fn)

class Open:
    def __init__(self):
        self.other = other.predict(f)
        self.found = model.predict(g)
    def __call__(self):
        return next(self.found)
"""


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in [("p.py", PROGRAM), ("magic.txt", "! a shell's line\n")]:
        lines = text.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, name, (1, None, lines, name))


def call_at(line: int, *features: str, method: str = "predict") -> UserCall:
    found = find_call(SourceLine("p.py", line, "f"), method, features)
    assert found is not None
    return found


def test_a_call_in_the_head_of_a_loop() -> None:
    call = call_at(6, "x", "n")
    assert (call.source.line, call.receiver, call.first) == (6, "model.dnn", "input_fn")
    assert call.rest == ("predict_keys='y'",)
    # the inner loop iterates over one call's result; the outer one repeats the call
    assert (call.is_in_loop, call.loop) == (True, ("row", "rows[:9]"))
    assert call.given == {"x": "x", "n": "row.n"}


def test_a_generator_that_is_read_below_its_call() -> None:
    call = call_at(14, "a", "b", "c")
    assert (call.source, call.function) == (SourceLine("p.py", 12, "f"), "classify")
    assert (call.is_in_loop, call.loop, call.rest) == (False, None, ())
    # examples without the dimension of the batch
    assert call.given == {"a": "a", "b": "b", "c": "np.array(b)"}


def test_a_generator_that_an_object_holds() -> None:
    call = call_at(28)
    assert (call.source.line, call.first, call.function) == (26, "g", "__init__")


@pytest.mark.parametrize(
    ("batch", "example"),
    [
        ("rows[i:i + 1]", "rows[i]"),
        ("rows[:1]", "rows[0]"),
        ("rows[7:8]", "rows[7]"),
        ("rows[7:9]", "rows[7:9]"),
        ("rows[i:]", "rows[i:]"),
        ("rows[::2]", "rows[::2]"),
        ("np.reshape(row, [1, -1])", "row"),
        ("np.array([row.x])[np.newaxis]", "row.x"),
        ("table.rows()", "table.rows()"),
    ],
)
def test_the_example_of_a_batch_of_one(
    monkeypatch: pytest.MonkeyPatch, batch: str, example: str
) -> None:
    lines = [f'model.predict(read({{"x": {batch}}}))\n']
    monkeypatch.setitem(linecache.cache, "q.py", (1, None, lines, "q.py"))
    call = find_call(SourceLine("q.py", 1, "f"), "predict", ["x"])
    assert call is not None
    assert call.given == {"x": example}


def test_features_of_other_names_are_not_given() -> None:
    assert call_at(14, "a", "b").given == {}
    assert call_at(14).given == {}


def test_functions_of_one_line_and_lambdas() -> None:
    call = call_at(16, "a")
    assert (call.function, call.given) == ("whole", {"a": "1"})


def test_a_call_of_several_lines_is_shortened() -> None:
    call = call_at(20)
    assert call.source.line == 19
    assert call.text.startswith("model.predict(lambda: read_a_very_long")
    assert len(call.text) == 60
    assert call.text.endswith("...)")
    assert (call.is_in_loop, call.loop) == (True, None)  # a loop, but over nothing


def test_the_last_call_before_the_line_is_meant() -> None:
    assert call_at(21, method="train").source.line == 21
    # at the top level the calls of functions are also seen
    assert call_at(18).source.line == 16


def test_no_call_and_no_program() -> None:
    assert find_call(SourceLine("p.py", 5, "f"), "predict") is None
    assert find_call(SourceLine("p.py", 21, "f"), "evaluate") is None
    assert find_call(SourceLine("magic.txt", 1, "f"), "predict") is None
    assert find_call(SourceLine("nowhere.py", 1, "f"), "predict") is None


@pytest.mark.parametrize(
    ("line", "repeated"),
    [(1, False), (2, False), (3, True), (6, True), (7, True), (12, False), (19, True)],
)
def test_lines_that_a_loop_repeats(line: int, repeated: bool) -> None:
    assert is_in_loop(SourceLine("p.py", line, "f")) is repeated


def test_a_loop_in_a_program_that_cannot_be_read() -> None:
    assert not is_in_loop(SourceLine("magic.txt", 1, "f"))
