"""Summaries in branches and loops: nodes, values and order of TensorFlow 1.15."""

import pytest

import tfteach as tf

summary = tf.contrib.summary


def recording(value, result, name="s"):
    summary.scalar(name, value, step=0)
    return result


def in_branches():
    one, two = tf.constant(1.0), tf.constant(2.0)
    pred = tf.placeholder_with_default(True, [], name="pred")
    return tf.cond(pred, lambda: recording(1.0, one), lambda: recording(2.0, two))


def in_one_branch():
    pred = tf.placeholder_with_default(True, [], name="pred")
    nest = (1.0, {"a": 3}), (2.0, {"a": 4})
    return tf.cond(pred, lambda: recording(1.0, nest[0]), lambda: nest[1])


def in_a_branch_of_a_branch():
    pred = tf.placeholder_with_default(True, [], name="pred")
    return tf.cond(pred, in_one_branch, lambda: (2.0, {"a": 4}))


def beside_one_outside():
    return recording(5.0, in_one_branch(), "outside")


def in_a_loop():
    return tf.while_loop(
        lambda i: i < 2, lambda i: recording(tf.cast(i, tf.float32), i + 1), [0]
    )


def in_a_loop_with_an_array():
    def body(i, array):
        x = tf.cast(i, tf.float32)
        return recording(x, (i + 1, array.write(i, x)))

    loop_vars = [0, tf.TensorArray(tf.float32, 2)]
    return tf.while_loop(lambda i, _: i < 2, body, loop_vars)[1].stack()


def in_map_fn():
    return tf.map_fn(lambda x: recording(x, 2 * x), tf.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    ("build", "values", "false", "written"),
    [
        (in_branches, 1.0, 2.0, [1.0, 2.0]),
        (in_one_branch, (1.0, {"a": 3}), (2.0, {"a": 4}), [1.0]),
        (in_a_branch_of_a_branch, (1.0, {"a": 3}), (2.0, {"a": 4}), [1.0]),
        (beside_one_outside, (1.0, {"a": 3}), (2.0, {"a": 4}), [1.0]),
        (in_a_loop, 2, None, [0.0, 1.0]),
        (in_a_loop_with_an_array, [0.0, 1.0], None, [0.0, 1.0]),
        (in_map_fn, [2.0, 4.0], None, [1.0, 2.0]),
    ],
)
def test_results_wait_for_summaries(build, values, false, written, tmp_path):
    with tf.Graph().as_default():
        writer = summary.create_file_writer(str(tmp_path))
        with writer.as_default(), summary.always_record_summaries():
            result = build()
        outside = [tensor.name for tensor in summary.all_summary_ops()]
        assert outside == ["outside/Const_1:0"] * (build is beside_one_outside)
        with tf.Session() as session:
            session.run(summary.summary_writer_initializer_op())
            assert same(session.run(result), values)
            if false is not None:
                assert same(session.run(result, {"pred:0": False}), false)
            session.run(writer.close())
    (path,) = tmp_path.iterdir()
    events = tf.train.summary_iterator(str(path))
    found = [value.simple_value for event in events for value in event.summary.value]
    assert found == written


def same(found, expected):
    if isinstance(expected, list):
        return found.tolist() == expected
    return tf.nest.flatten(found) == tf.nest.flatten(expected)


def test_branches_without_tensors():
    pred = tf.placeholder(tf.bool, [])
    writer = summary.create_file_writer("unused")
    with writer.as_default(), summary.always_record_summaries():
        with pytest.raises(ValueError, match="must have a return value"):
            tf.cond(pred, lambda: recording(1.0, None), lambda: None)
        with pytest.raises(TypeError, match="Can't convert Operation"):
            tf.cond(pred, lambda: recording(1.0, tf.no_op()), tf.no_op)


def test_a_graph_without_summaries_has_no_collection_of_them():
    with tf.Graph().as_default() as graph:
        tf.cond(tf.placeholder(tf.bool, []), lambda: 1, lambda: 2)
        assert "_SUMMARY_V2" not in graph.get_all_collection_keys()
