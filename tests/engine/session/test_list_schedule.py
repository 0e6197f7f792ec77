from __future__ import annotations

from tfteach.engine.session.list_schedule import Slot, Task, scheduled


def test_what_is_ready_first_begins_first() -> None:
    """b is listed before c, but ready later: c does not wait behind it."""
    a = Task(10, (), ("gpu",))
    b = Task(5, (0,), ("cpu",))
    c = Task(4, (), ("cpu",))
    d = Task(1, (1, 2))
    assert scheduled([a, b, c, d]) == [
        Slot(0, 10, -1),
        Slot(10, 15, 0),
        Slot(0, 4, -1),
        Slot(15, 16, 1),
    ]


def test_tasks_wait_in_the_order_in_which_they_became_ready() -> None:
    tasks = [Task(10), Task(2), Task(5, (0,), ("cpu",)), Task(5, (1,), ("cpu",))]
    assert scheduled(tasks)[2:] == [Slot(10, 15, 0), Slot(2, 7, 1)]


def test_one_thing_does_one_task_at_a_time() -> None:
    link = [Task(3, (), ("out", "in")), Task(4, (), ("in",)), Task(2, (), ("out",))]
    assert [(s.begin, s.end, s.after) for s in scheduled(link)] == [
        (0, 3, -1),
        (3, 7, 0),
        (3, 5, 0),
    ]
