"""Threads of datasets: what waits ends, the order holds, no thread remains."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.framework.threads import thread_count
from tfteach.ops.data import background

Dataset = tf.data.Dataset
INTERLEAVE = tf.data.experimental.parallel_interleave


@pytest.fixture(autouse=True)
def no_thread_remains() -> Iterator[None]:
    with tf.Graph().as_default():
        yield
    gc.collect()
    wait_for(lambda: not dataset_threads())


def dataset_threads() -> list[threading.Thread]:
    names = "tfteach-prefetch", "tfteach-map", "tfteach-interleave", "tfteach-iterator"
    return [t for t in threading.enumerate() if t.name in names]


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def elements(session: tf.Session, tensor: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(tensor))
        except tf.errors.OutOfRangeError:
            return found


def python(function: Callable[..., Any], *inputs: Any) -> Any:
    return tf.py_func(function, list(inputs), tf.int64)


class Together:
    """A function that returns when `count` threads are calling it."""

    def __init__(self, count: int) -> None:
        self._barrier = threading.Barrier(count, timeout=60)

    def __call__(self, i: Any) -> Any:
        self._barrier.wait()
        return i


def mapped(together: Together) -> Dataset:
    return Dataset.range(8).map(lambda i: python(together, i), num_parallel_calls=4)


def mapped_and_batched(together: Together) -> Dataset:
    apply = tf.data.experimental.map_and_batch
    function = apply(lambda i: python(together, i), 1, num_parallel_calls=4)
    return Dataset.range(8).apply(function).map(lambda i: i[0])


def inner(together: Together) -> Callable[[Any], Dataset]:
    return lambda i: Dataset.range(2).map(lambda j: python(together, i + 4 * j))


def interleaved(together: Together) -> Dataset:
    return Dataset.range(4).interleave(inner(together), 4, num_parallel_calls=4)


def interleaved_apart(together: Together) -> Dataset:
    return Dataset.range(4).apply(INTERLEAVE(inner(together), 4))


@pytest.mark.parametrize(
    "build", [mapped, mapped_and_batched, interleaved, interleaved_apart]
)
def test_four_threads_call_at_the_same_time_and_keep_the_order(build: Any) -> None:
    element = build(Together(4)).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert elements(session, element) == list(range(8))


def test_no_more_calls_than_asked_for() -> None:
    lock = threading.Lock()
    now, most, limit = 0, 0, 0
    reached = threading.Event()

    def count(i: Any) -> Any:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == limit:
                reached.set()
        assert reached.wait(60)
        time.sleep(0.001)  # in which one more might come
        with lock:
            now -= 1
        return i

    datasets = [
        Dataset.range(30).map(lambda i: python(count, i), num_parallel_calls=3),
        Dataset.range(6).interleave(
            lambda i: Dataset.range(3).map(lambda j: python(count, j)),
            6,
            num_parallel_calls=3,
        ),
    ]
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 2
    for dataset, limit in [(d, 3) for d in datasets] + [
        (d.with_options(options), 2) for d in datasets
    ]:
        most = 0
        reached.clear()
        element = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            elements(session, element)
        assert most == limit


def waits(session: tf.Session) -> list[threading.Condition]:
    """What threads of a session wait for."""
    return session.resources.cancellation.condition_of_waits


def slow_until(event: threading.Event) -> Callable[[Any], Any]:
    """A function whose call for 0 waits until the event."""

    def function(i: Any) -> Any:
        assert i or event.wait(60)
        return i

    return function


def out_of_order(event: threading.Event) -> list[Dataset]:
    wait = slow_until(event)
    dataset = Dataset.range(6).map(lambda i: python(wait, i), num_parallel_calls=3)
    options = tf.data.Options()
    options.experimental_deterministic = False
    one = dataset.with_options(options)

    def of(i: Any) -> Dataset:
        return Dataset.from_tensors(i).map(lambda i: python(wait, i))

    two = Dataset.range(6).apply(INTERLEAVE(of, 3, sloppy=True))
    three = Dataset.range(6).interleave(of, 3, num_parallel_calls=3)
    return [one, two, three.with_options(options)]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_sloppy_datasets_pass_over_what_takes_long(number: int) -> None:
    event = threading.Event()
    element = out_of_order(event)[number].make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [int(session.run(element)) for _ in range(5)]
        assert sorted(found) == [1, 2, 3, 4, 5]
        event.set()
        assert elements(session, element) == [0]


class Blocking:
    """A generator that waits after two elements."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.waits = threading.Event()

    def __call__(self) -> Iterator[int]:
        yield 1
        yield 2
        self.waits.set()
        assert self.go_on.wait(60)
        yield 3

    def dataset(self) -> Dataset:
        return Dataset.from_generator(self, tf.int64, [])


TRANSFORMATIONS: dict[str, Callable[[Dataset], Dataset]] = {
    "plain": lambda d: d,
    "prefetch": lambda d: d.prefetch(1),
    "prefetch twice": lambda d: d.prefetch(2).map(lambda i: i).prefetch(1),
    "map": lambda d: d.map(lambda i: python(int, i), num_parallel_calls=2),
    "interleave": lambda d: Dataset.range(1).interleave(
        lambda _: d, 1, num_parallel_calls=1
    ),
    "sloppy": lambda d: Dataset.range(2).apply(
        INTERLEAVE(lambda i: d.skip(2 * i), 2, sloppy=True)
    ),
}


@pytest.mark.parametrize("name", sorted(set(TRANSFORMATIONS) - {"plain"}))
def test_closing_the_session_ends_a_wait(name: str) -> None:
    blocking = Blocking()
    dataset = TRANSFORMATIONS[name](blocking.dataset())
    element = dataset.make_one_shot_iterator().get_next()
    session = tf.Session()
    assert [session.run(element) for _ in range(2)] == [1, 2]

    def close() -> None:
        count = 2 if name == "prefetch twice" else 1
        wait_for(lambda: len(waits(session)) == count)
        session.close()

    closing = threading.Thread(target=close)
    closing.start()
    message = r"(Operation|Run call) was cancelled|^PrefetchDatasetOp::Dataset"
    with pytest.raises(tf.errors.CancelledError, match=message):
        session.run(element)
    closing.join()
    blocking.go_on.set()


def test_a_generator_that_the_run_itself_draws_from_ends_it_afterwards() -> None:
    blocking = Blocking()
    element = blocking.dataset().make_one_shot_iterator().get_next()
    session = tf.Session()
    assert [session.run(element) for _ in range(2)] == [1, 2]

    def close() -> None:
        assert blocking.waits.wait(60)
        session.close()
        blocking.go_on.set()

    closing = threading.Thread(target=close)
    closing.start()
    with pytest.raises(tf.errors.CancelledError, match="Run call was cancelled"):
        session.run(element)
    closing.join()


@pytest.mark.parametrize("name", sorted(TRANSFORMATIONS))
def test_a_time_limit_ends_a_wait_and_loses_no_element(name: str) -> None:
    blocking = Blocking()
    dataset = TRANSFORMATIONS[name](blocking.dataset())
    element = dataset.make_one_shot_iterator().get_next()
    limit = tf.RunOptions(timeout_in_ms=20)
    with tf.Session() as session:
        assert [session.run(element) for _ in range(2)] == [1, 2]
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out wait"):
                session.run(element, options=limit)
        blocking.go_on.set()
        assert session.run(element) == 3


def test_the_time_limit_of_a_session_ends_a_wait() -> None:
    blocking = Blocking()
    element = blocking.dataset().skip(2).make_one_shot_iterator().get_next()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as session:
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
            session.run(element)
        blocking.go_on.set()


def test_runs_that_wait_for_the_same_iterator_end_with_the_session() -> None:
    blocking = Blocking()
    element = blocking.dataset().prefetch(1).make_one_shot_iterator().get_next()
    session = tf.Session()
    assert [session.run(element) for _ in range(2)] == [1, 2]
    caught: list[str] = []

    def draw() -> None:
        try:
            session.run(element)
        except tf.errors.CancelledError as error:
            caught.append(error.message)

    threads = [threading.Thread(target=draw) for _ in range(5)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(waits(session)) == 5)
    session.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    messages = {
        "Operation was cancelled",
        "PrefetchDatasetOp::Dataset::Iterator::GetNext",
        "Run call was cancelled",
    }
    assert {message.split("\n")[0] for message in caught} <= messages
    assert len(caught) == 5
    blocking.go_on.set()


def test_a_slow_function_moves_to_threads() -> None:
    names: set[str] = set()
    calls = 0
    real = tf.data.Dataset.range(40).map(lambda i: i + 1, num_parallel_calls=2)
    element = real.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        original = background._PAYS_S
        background._PAYS_S = 0.0  # all calls are slow
        try:
            for _ in range(20):
                calls += int(session.run(element))
                names |= {t.name for t in dataset_threads()}
        finally:
            background._PAYS_S = original
        assert elements(session, element) == list(range(21, 41))
    assert calls == 210
    if thread_count() > 1:
        assert names == {"tfteach-map"}


def test_seeded_random_numbers_do_not_depend_on_threads() -> None:
    def noisy(i: Any) -> Any:
        return python(int, i) + tf.random_uniform([], 0, 1000, tf.int64, seed=7)

    found = []
    for calls in (None, 4):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(3)
            dataset = Dataset.range(20).map(noisy, num_parallel_calls=calls)
            element = dataset.make_one_shot_iterator().get_next()
            found.append(elements(session, element))
    assert len(found[0]) == 20


def test_errors_come_in_the_place_of_their_elements() -> None:
    def fail(i: Any) -> Any:
        if i % 3 == 1:
            raise ValueError(f"no {i}")
        return i

    dataset = Dataset.range(6).map(lambda i: python(fail, i), num_parallel_calls=3)
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="no 1"):
            session.run(element)
        assert [session.run(element) for _ in range(2)] == [2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="no 4"):
            session.run(element)
        assert elements(session, element) == [5]


@pytest.mark.parametrize("stateful", [False, True])
def test_maps_without_state_are_called_by_several_threads_if_an_option_asks(
    stateful: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfteach.ops.data.background.thread_count", lambda: 4)
    names = set()
    together = Together(1 if stateful else 4)

    def call(i: Any) -> Any:
        names.add(threading.current_thread().name)
        return together(i)

    options = tf.data.Options()
    options.experimental_optimization.map_parallelization = True
    dataset = Dataset.range(8).map(
        lambda i: tf.py_func(call, [i], tf.int64, stateful=stateful)
    )
    element = dataset.with_options(options).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert elements(session, element) == list(range(8))
    assert (names == {"tfteach-map"}) is not stateful
