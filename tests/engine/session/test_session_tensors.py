"""Tensors that stay in a session: what TensorFlow 1.15 does with their handles."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tfteach as tf

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def kept(sess, value=(1.0, 2.0), name="h"):
    return sess.run(tf.get_session_handle(tf.constant(value), name=name))


def test_a_handle_is_fetched_read_and_deleted(sess):
    node = tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0, name="h")
    assert node.op.node_def.attr["_class"].list.s == [b"loc:@mul"]
    handle = sess.run(node)
    assert str(handle) == handle.handle == f"h;0;{CPU}"
    np.testing.assert_array_equal(handle.eval(), [2.0, 4.0])
    holder, tensor = tf.get_session_tensor(handle.handle, tf.float32)
    assert (holder.op.device, tensor.op.device) == (CPU, CPU)
    result = sess.run(tensor * 10.0, {holder: handle.handle})
    np.testing.assert_array_equal(result, [20.0, 40.0])
    holder, deleter = tf.delete_session_tensor(handle.handle)
    assert sess.run(deleter, {holder: handle.handle}) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to delete"):
        sess.run(deleter, {holder: handle.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session sto"):
        handle.eval()


def test_handles_in_nested_fetches_are_numbered_in_a_session(sess):
    a, b = (tf.get_session_handle(tf.constant(v), name="h") for v in ([1.0], ["a"]))
    first = sess.run(a)
    found = sess.run([a, {"b": b, "c": tf.constant(3)}])
    numbers = sorted(h.handle.split(";")[1] for h in (first, found[0], found[1]["b"]))
    assert numbers == ["0", "1", "2"]
    assert found[1]["c"] == 3
    assert found[1]["b"].eval().tolist() == [b"a"]
    with tf.Session() as other:
        assert other.run(a).handle == f"h;0;{CPU}"


def test_a_handle_is_fed_in_place_of_a_value(sess):
    handle = kept(sess)
    x = tf.placeholder(tf.float32, [2])
    np.testing.assert_array_equal(sess.run(x + 1.0, {x: handle}), [2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="to be int32 but float"):
        sess.run(tf.placeholder(tf.int32, name="i") + 1, {"i:0": handle})


def test_a_handle_is_a_string_for_other_ops(sess):
    node = tf.get_session_handle(tf.constant(1.0), name="h")
    assert sess.run(tf.strings.length(node)) == len(f"h;0;{CPU}")


def test_a_kept_value_is_not_the_variable_that_it_was_read_from(sess):
    w = tf.Variable(np.ones(5000, np.float32))
    sess.run(w.initializer)
    handle = sess.run(tf.get_session_handle(w.read_value()))
    sess.run(w.assign_add(np.ones(5000, np.float32)))
    np.testing.assert_array_equal(handle.eval(), np.ones(5000))


def test_used_up_handles_are_refused(sess):
    handle = kept(sess)
    handle.delete()
    for use in (handle.eval, handle.delete):
        with pytest.raises(TypeError, match="may have already been deleted"):
            use()
    raw = kept(sess, name="r")
    name = raw.get_raw_handle()
    with pytest.raises(TypeError, match="Persistent tensor r;1;"):
        raw.eval()
    holder, tensor = tf.get_session_tensor(name, tf.float32)
    del raw
    for _ in range(20):
        kept(sess, name="other")
    np.testing.assert_array_equal(sess.run(tensor, {holder: name}), [1.0, 2.0])


def test_tensors_of_lost_handles_are_deleted(sess):
    names = [kept(sess).handle for _ in range(30)]
    holder, tensor = tf.get_session_tensor(names[0], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session sto"):
        sess.run(tensor, {holder: names[0]})


def test_handles_keep_no_graph_alive():
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        kept(session).eval()
    gone = weakref.ref(graph)
    del graph, session
    gc.collect()
    assert gone() is None


def test_what_is_refused(sess):
    with pytest.raises(TypeError, match="`data` must be of type Tensor"):
        tf.get_session_handle(3.0)
    with pytest.raises(ValueError, match="Unknown attribute: 'x' in 'x'"):
        tf.get_session_tensor("x", tf.float32)
    handle = kept(sess)
    holder, wrong = tf.get_session_tensor(handle.handle, tf.int32)
    with pytest.raises(tf.errors.InternalError, match="declared output type int32"):
        sess.run(wrong, {holder: handle.handle})
    with tf.Session() as other:
        holder, tensor = tf.get_session_tensor(handle.handle, tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="session store"):
            other.run(tensor, {holder: handle.handle})
