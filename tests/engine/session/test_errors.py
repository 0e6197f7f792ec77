"""What goes wrong in a session: TF's class and words; the session works on."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf

INVALID = tf.errors.InvalidArgumentError


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        tf.placeholder(tf.float32, [2], name="x")
        tf.placeholder(tf.float32, name="u")
        tf.placeholder(tf.int32, name="i")
        tf.constant([1.0, 2.0], name="c")
        tf.identity(made.get_tensor_by_name("x:0"), name="y")
        tf.Variable([1.0, 2.0], name="w")
        yield made


def foreign() -> Any:
    with tf.Graph().as_default():
        return tf.constant(1.0, name="o")


# fetch, feeds, class, TF's words (from TF 1.15 itself)
CASES: list[tuple[Any, Any, type, str]] = [
    ("y:0", None, INVALID,
     "You must feed a value for placeholder tensor 'x' with dtype float and shape [2]"),
    ("u:0", None, INVALID,
     "You must feed a value for placeholder tensor 'u' with dtype float\n"),
    ("w:0", None, tf.errors.FailedPreconditionError,
     "Attempting to use uninitialized value w"),
    ("w/read:0", None, tf.errors.FailedPreconditionError,
     "Attempting to use uninitialized value w"),
    (None, None, TypeError,
     "Fetch argument None has invalid type <class 'NoneType'>"),
    ([None], None, TypeError,
     "Fetch argument None has invalid type <class 'NoneType'>"),
    (37.0, None, TypeError,
     "Fetch argument 37.0 has invalid type <class 'float'>, must be a string or "
     "Tensor. (Can not convert a float into a Tensor or Operation.)"),
    ("nope:0", None, ValueError,
     "Fetch argument 'nope:0' cannot be interpreted as a Tensor. (\"The name 'nope:0' "
     "refers to a Tensor which does not exist. The operation, 'nope', does not exist "
     'in the graph.")'),
    ("nope", None, ValueError,
     "Fetch argument 'nope' cannot be interpreted as a Tensor. (\"The name 'nope' "
     'refers to an Operation not in the graph.")'),
    ("x:5", None, ValueError,
     "Fetch argument 'x:5' cannot be interpreted as a Tensor. (\"The name 'x:5' refers "
     "to a Tensor which does not exist. The operation, 'x', exists but only has 1 "
     'outputs.")'),
    (foreign(), None, ValueError,
     "Fetch argument <tf.Tensor 'o:0' shape=() dtype=float32> cannot be interpreted as "
     'a Tensor. (Tensor Tensor("o:0", shape=(), dtype=float32) is not an element of '
     "this graph.)"),
    ("y:0", {"x:0": [1.0, 2.0, 3.0]}, ValueError,
     "Cannot feed value of shape (3,) for Tensor 'x:0', which has shape '(2,)'"),
    ("y:0", {"x:0": 1.0}, ValueError,
     "Cannot feed value of shape () for Tensor 'x:0', which has shape '(2,)'"),
    ("y:0", {foreign(): 1.0}, TypeError,
     'Cannot interpret feed_dict key as Tensor: Tensor Tensor("o:0", shape=(), '
     "dtype=float32) is not an element of this graph."),
    ("y:0", {3: 1.0}, TypeError,
     "Cannot interpret feed_dict key as Tensor: Can not convert a int into a Tensor."),
    ("y:0", {None: 1.0}, TypeError,
     "Cannot interpret feed_dict key as Tensor: Can not convert a NoneType into a "
     "Tensor."),
    ("y:0", {"x": 1.0}, TypeError,
     "Cannot interpret feed_dict key as Tensor: The name 'x' refers to an Operation, "
     'not a Tensor. Tensor names must be of the form "<op_name>:<output_index>".'),
    ("y:0", {"x:0": foreign()}, TypeError,
     "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
     "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, "
     'the tensor object was Tensor("o:0", shape=(), dtype=float32) which was passed to '
     'the feed with key Tensor("x:0", shape=(2,), dtype=float32).'),
    ("y:0", {"x:0": "abc"}, ValueError, "could not convert string to float: 'abc'"),
    ("y:0", {"x:0": [[1.0, 2.0], [3.0]]}, ValueError,
     "setting an array element with a sequence."),
    ("y:0", {"x:0": object()}, TypeError, "float() argument must be a string or a"),
    ("i:0", {"i:0": 2**40}, TypeError,
     "Type of feed value 1099511627776 with type <class 'int'> is not compatible with "
     "Tensor type <class 'numpy.int32'>. Try explicitly setting the type of the feed "
     "tensor to a larger type (e.g. int64)."),
    ("u:0", {"u:0": 2**24 + 1}, TypeError,
     "Type of feed value 16777217 with type <class 'int'> is not compatible"),
    ("y:0", [1.0, 2.0], TypeError, "input must be a dictionary"),
    ("i:0", 3, TypeError, "input must be a dictionary"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fetch", "feeds", "kind", "words"), CASES, ids=[c[3][:50] for c in CASES]
)
def test_tfs_class_and_words(fetch: Any, feeds: Any, kind: type, words: str) -> None:
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(kind) as caught:
                sess.run(fetch, feeds)
            assert words in str(caught.value)
        # The session works on.
        assert sess.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [1.0, 2.0]


def test_uninitialized_resource_variable() -> None:
    v = tf.Variable(3.0, use_resource=True, name="rw")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            sess.run(v)
        assert str(caught.value).startswith(
            "Error while reading resource variable rw from Container: localhost. This "
            "could mean that the variable was uninitialized. Not found: Resource "
            "localhost/rw/N10tensorflow3VarE does not exist."
        )
        sess.run(v.initializer)
        assert sess.run(v) == 3.0


def test_errors_name_the_op_and_the_users_line() -> None:
    a = tf.placeholder(tf.float32, [None], name="a")
    total = tf.add(a, [1.0, 2.0], name="total")  # this line
    with tf.Session() as sess:
        for _ in range(15):  # in the loop and in the generated source
            with pytest.raises(INVALID) as caught:
                sess.run(total, {a: [1.0, 2.0, 3.0]})
            error = caught.value
            assert error.op is total.op
            assert error.node_def.name == "total"
            assert error.error_code == tf.errors.INVALID_ARGUMENT
            assert "[[node total (defined at " in error.message
            assert 'total = tf.add(a, [1.0, 2.0], name="total")  # this line' in str(
                error
            )
            sess.run(total, {a: [1.0, 2.0]})


def test_prevented_fetches_and_feeds(graph: tf.Graph) -> None:
    c = graph.get_tensor_by_name("c:0")
    graph.prevent_feeding(c)
    graph.prevent_fetching(c.op)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match=re.escape(f"Tensor {c} may not be fed.")):
            sess.run("y:0", {c: [1.0, 2.0]})
        with pytest.raises(
            ValueError, match="Operation 'c' has been marked as not fetchable"
        ):
            sess.run(c)


def test_empty_graph() -> None:
    with (
        tf.Session(graph=tf.Graph()) as sess,
        pytest.raises(
            RuntimeError,
            match=r"The Session graph is empty.  Add operations to the graph before "
            r"calling run\(\)",
        ),
    ):
        sess.run([])


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"target": 3}, TypeError, "target must be a string, but got <class 'int'>"),
        ({"graph": 3}, TypeError, "graph must be a tf.Graph, but got <class 'int'>"),
        ({"config": 3}, TypeError,
         "config must be a tf.ConfigProto, but got <class 'int'>"),
        ({"target": "foo"}, tf.errors.NotFoundError,
         'No session factory registered for the given session options: {target: "foo"'),
        ({"config": tf.ConfigProto(device_count={"CPU": 0})}, tf.errors.NotFoundError,
         "No CPU devices are available in this process"),
    ],
)  # fmt: skip
def test_arguments_of_a_session(
    arguments: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        tf.Session(**arguments)


def test_eval_and_run_need_a_session_of_their_graph(graph: tf.Graph) -> None:
    c = graph.get_tensor_by_name("c:0")
    other = tf.Session(graph=tf.Graph())
    calls: list[tuple[Callable[[], Any], str]] = [
        (c.eval, "Cannot evaluate tensor using `eval()`: No default session is "
         "registered. Use `with sess.as_default()` or pass an explicit session to "
         "`eval(session=sess)`"),
        (c.op.run, "Cannot execute operation using `run()`: No default session is "
         "registered. Use `with sess.as_default():` or pass an explicit session to "
         "`run(session=sess)`"),
        (lambda: c.eval(session=other), "Cannot use the given session to evaluate "
         "tensor: the tensor's graph is different from the session's graph."),
        (lambda: c.op.run(session=other), "Cannot use the given session to execute "
         "operation: the operation's graph is different from the session's graph."),
    ]  # fmt: skip
    for call, words in calls:
        with pytest.raises(ValueError, match=re.escape(words)):
            call()
    with other.as_default():
        with pytest.raises(ValueError, match="Cannot use the default session to eval"):
            c.eval()
        with pytest.raises(
            ValueError,
            match=r"Pass an explicit session to run\(session=sess\)\.",
        ):
            c.op.run()
    with tf.Session().as_default():
        assert c.eval().tolist() == [1.0, 2.0]
        c.op.run()


def test_keyboard_interrupt_leaves_the_session_usable() -> None:
    calls: list[int] = []

    def interrupt(value: Any) -> Any:
        calls.append(1)
        if len(calls) % 2:
            raise KeyboardInterrupt
        return value

    v = tf.Variable(1.0)
    y = tf.py_func(interrupt, [v.assign_add(1.0)], tf.float32)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(15):
            with pytest.raises(KeyboardInterrupt):
                sess.run(y)
            assert np.isfinite(sess.run(y))
        assert sess.run(v) == 16.0  # an interrupted run writes nothing


def test_an_error_in_the_middle_undoes_what_was_done() -> None:
    v = tf.Variable([0.0, 0.0])
    a = tf.placeholder(tf.float32, [None])
    with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
        y = tf.add(a, [1.0, 2.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(INVALID):
            sess.run(y, {a: [1.0, 2.0, 3.0]})
        assert sess.run(v).tolist() == [0.0, 0.0]


def test_a_constant_that_does_not_fit_memory() -> None:
    huge = tf.constant(1.0, shape=[10**13])
    with tf.Session() as sess:
        for fetch in (huge, huge + 1.0):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allo"):
                sess.run(fetch)
        assert sess.run(tf.constant(1.0)) == 1.0


def test_constants_beyond_a_type_are_infinite() -> None:
    with tf.Session() as sess:
        assert sess.run(tf.constant(1e9, tf.float16)) == np.inf
        assert sess.run(tf.constant(-1e300)) == -np.inf


def _divided() -> Any:
    return tf.constant(1) // tf.zeros([], tf.int32)


def _divided_in_a_loop() -> Any:
    return tf.while_loop(lambda i: i < 3, lambda i: i + i // (i - i), [0])


def _read_beyond_the_end() -> Any:
    return tf.data.Dataset.range(0).make_one_shot_iterator().get_next()


def _unfit() -> Any:
    return tf.zeros([2]) + tf.placeholder_with_default(np.zeros(3, np.float32), [None])


@pytest.mark.parametrize(
    "build", [_divided, _divided_in_a_loop, _read_beyond_the_end, _unfit]
)
@pytest.mark.parametrize("runs", [1, 12])
def test_an_error_holds_the_callers_frame_no_longer_than_it_lives(
    build: Callable[[], Any], runs: int
) -> None:
    """Generators and files of the caller are closed without the garbage collector."""

    class Held:
        pass

    def call(session: tf.Session, fetch: Any) -> weakref.ref[Held]:
        held = Held()
        with pytest.raises(tf.errors.OpError):
            session.run(fetch)
        return weakref.ref(held)

    fetch = build()
    with tf.Session() as session:
        gc.disable()
        try:
            assert [call(session, fetch)() for _ in range(runs)] == [None] * runs
        finally:
            gc.enable()
