from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tfteach.explain.building.user_loops import LoopTracker, loops_around
from tfteach.framework.call_origin import user_frames


class Follower:
    """Calls the tracker as an op would, from the library's side of a call."""

    def __init__(self) -> None:
        self.tracker = LoopTracker()
        self.found: list[list[tuple[str, int]]] = []

    def __call__(self) -> None:
        self._note()

    def _note(self) -> None:
        frames = [pair for pair in user_frames() if self._is_of_the_test(pair[0])]
        base = frames[-1][0].f_code.co_firstlineno
        self.found.append(
            [
                (f"{o.loop.kind}+{o.loop.line - base}", o.iteration)
                for o in self.tracker.at_call(frames)
            ]
        )

    @staticmethod
    def _is_of_the_test(frame: Any) -> bool:
        return "program" in frame.f_code.co_name


@pytest.fixture
def call() -> Iterator[Callable[[], None]]:
    follower = Follower()
    yield follower
    follower.tracker.close()


def test_a_call_at_one_place_of_a_loop(call: Any) -> None:
    def program() -> None:
        call()
        for _ in range(3):
            call()
        call()

    program()
    assert call.found == [[], *[[("for+2", i)] for i in range(3)], []]


def test_several_calls_in_each_iteration(call: Any) -> None:
    def program() -> None:
        for i in range(3):
            call()
            if i == 1:
                call()
            call()

    program()
    assert call.found == [[("for+1", i)] for i in (0, 0, 1, 1, 1, 2, 2)]


def test_an_iteration_that_begins_further_down(call: Any) -> None:
    def program() -> None:
        for i in range(4):
            if i % 2 == 0:
                call()
            else:
                call()

    program()
    assert call.found == [[("for+1", i)] for i in range(4)]


def test_loops_in_loops(call: Any) -> None:
    def program() -> None:
        for _ in range(2):
            call()
            for _ in range(2):
                call()

    program()
    assert call.found == [
        [("for+1", 0)],
        [("for+1", 0), ("for+3", 0)],
        [("for+1", 0), ("for+3", 1)],
        [("for+1", 1)],
        [("for+1", 1), ("for+3", 0)],
        [("for+1", 1), ("for+3", 1)],
    ]


def test_only_the_inner_loop_calls(call: Any) -> None:
    def program() -> None:
        for _x in ("a", "b"):
            for _y in ("c", "d"):
                call()

    program()
    assert call.found == [
        [("for+1", x), ("for+2", y)] for x in range(2) for y in range(2)
    ]


def test_while(call: Any) -> None:
    def program() -> None:
        left = 3
        while left:
            call()
            left -= 1

    program()
    assert call.found == [[("while+2", i)] for i in range(3)]


def test_the_same_object_again(call: Any) -> None:
    def program() -> None:
        for _ in (None, None, None):
            call()

    program()
    assert call.found == [[("for+1", i)] for i in range(3)]


def test_several_events_of_one_call_are_of_one_iteration(call: Any) -> None:
    def program() -> None:
        for _ in (None, None):
            library()

    def library() -> None:  # as seen from the program: one call
        call()
        call()

    program()
    assert call.found == [[("for+1", i)] for i in (0, 0, 1, 1)]


def test_a_function_called_in_a_loop_has_loops_of_its_own(call: Any) -> None:
    def program() -> None:
        for _ in range(2):
            inner_program()

    def inner_program() -> None:
        for _ in range(2):
            call()

    program()
    assert [[i for _, i in each] for each in call.found] == [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
    ]


def test_a_loop_whose_variable_its_body_assigns(call: Any) -> None:
    def program() -> None:
        for x in (1, 2):
            call()
            x = 10 * x
            call()

    program()
    assert call.found == [[("for+1", i)] for i in (0, 0, 1, 1)]


def test_two_loops_one_after_the_other(call: Any) -> None:
    def program() -> None:
        for _ in range(2):
            call()
        for _ in range(2):
            call()

    program()
    assert call.found == [
        *[[("for+1", i)] for i in range(2)],
        *[[("for+3", i)] for i in range(2)],
    ]


def test_what_is_iterated_over_is_outside(call: Any) -> None:
    def program() -> None:
        for _ in [call(), 2]:
            pass
        call()

    program()
    assert call.found == [[], []]


def test_what_gives_the_values_is_inside(call: Any) -> None:
    def values() -> Iterator[int]:
        for i in range(2):
            call()  # as the op that gets the next element of a dataset
            yield i

    def program() -> None:
        for _ in range(2):
            for _x in values():
                call()

    program()
    assert call.found == [
        [("for+1", outer), ("for+2", inner)]
        for outer in range(2)
        for inner in (0, 0, 1, 1)
    ]


def test_loops_of_an_unknown_file() -> None:
    assert loops_around("<nowhere>", 3) == ()
