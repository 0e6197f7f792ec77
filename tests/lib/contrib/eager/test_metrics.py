"""`tf.contrib.eager.metrics` in both modes; values as real TensorFlow computes them."""

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly

metrics = tf.contrib.eager.metrics


def test_means(eagerly):
    mean = metrics.Mean("loss")
    assert mean([1.0, 3.0, 5.0]).numpy() == 9.0
    assert mean.result().numpy() == 3.0
    mean([1.0, 1.0], weights=[0.0, 2.0])
    assert mean.result().numpy() == 2.2
    assert mean.value()().numpy() == 2.2
    assert [v.name for v in mean.variables] == ["loss/numer:0", "loss/denom:0"]
    assert mean.init_variables() is None
    mean(4.0)
    assert mean.result().numpy() == 4.0


def test_a_metric_is_built_once(eagerly):
    mean = metrics.Mean()
    mean.build()
    first = mean.numer
    mean(2.0)
    assert mean.numer is first
    assert mean.result().numpy() == 2.0


def test_names(eagerly):
    made = metrics.Mean("loss"), metrics.Mean("loss"), metrics.Accuracy("a b")
    assert [metric.name for metric in made] == ["loss", "loss", "a b"]
    assert metrics.Mean().name == "Mean"


def test_accuracies(eagerly):
    accuracy = metrics.Accuracy()
    accuracy([0, 1, 2, 3], [0, 0, 0, 3])
    accuracy([4], [4], weights=[2.0])
    assert accuracy.result().numpy() == 4 / 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="are unequal"):
        accuracy([1, 2], [1])
    categorical = metrics.CategoricalAccuracy()
    categorical([[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.4], [0.7, 0.3]])
    assert categorical.result().numpy() == 0.5
    binary = metrics.BinaryAccuracy(0.5)
    binary([1, 0, 1, 1], [0.9, 0.9, 0.3, 0.8])
    assert binary.result().numpy() == 0.5
    sparse = metrics.SparseAccuracy()
    sparse([0, 2], [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]])
    assert sparse.result().numpy() == 0.5


def test_sums_of_metrics(eagerly):
    first, second = metrics.Mean("x"), metrics.Mean("x")
    first(2.0)
    second(4.0)
    first.aggregate([second])
    assert first.result().numpy() == 3.0
    other = metrics.Mean("y")
    other(1.0)
    with pytest.raises(ValueError, match="variables in the same order"):
        first.aggregate([other])
    with pytest.raises(TypeError, match="All metrics must be the same type"):
        first.aggregate([metrics.Accuracy()])
    with pytest.raises(RuntimeError, match="except in build"):
        first.add_variable("more")
    with pytest.raises(NotImplementedError, match="must define a build"):
        metrics.Metric()(3.0)


def test_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        mean, value = metrics.Mean("g"), tf.placeholder(tf.float32)
        update, result = mean(value), mean.result()
        session.run(mean.init_variables())
        assert session.run(update, {value: 3.0}) == 3.0
        session.run(update, {value: 5.0})
        assert session.run(result) == session.run(mean.value()) == 4.0
        names = [v.name for v in tf.local_variables()]
        assert names == [v.name for v in mean.variables] == ["g/numer:0", "g/denom:0"]
        assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == mean.variables
        assert tf.global_variables() == []
        everywhere = metrics.Mean("e", use_global_variables=True)
        everywhere(1.0)
        assert tf.global_variables() == everywhere.variables


def test_checkpoints(eagerly, tmp_path):
    mean = metrics.Mean("m")
    mean([7.0])
    path = tf.train.Checkpoint(mean=mean).save(str(tmp_path / "m"))
    later = metrics.Mean("later")
    tf.train.Checkpoint(mean=later).restore(path)
    later([9.0])
    assert later.result().numpy() == 8.0


def scalars_in(folder):
    [file] = folder.iterdir()
    values = [(v, e.step) for e in tf.train.summary_iterator(str(file))
              for v in e.summary.value]  # fmt: skip
    return [(value.tag, step, value.simple_value) for value, step in values]


def test_results_are_recorded(eagerly, tmp_path):
    summary = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    mean, accuracy = metrics.Mean("loss"), metrics.Accuracy("a b")
    mean([1.0, 2.0])
    accuracy([1], [1])
    mean.result()  # there is no writer
    writer = summary.create_file_writer(tmp_path)
    with writer.as_default(), summary.always_record_summaries():
        mean.result()
        mean(6.0)
        mean.result(write_summary=False)
        step.assign(3)
        mean.result(write_summary=tf.constant(True))
        accuracy.result()
    wanted = [("loss", 0, 1.5), ("loss", 3, 3.0), ("a_b", 3, 1.0)]
    assert scalars_in(tmp_path) == wanted


def test_results_are_recorded_by_nodes(tmp_path):
    summary = tf.contrib.summary
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.get_or_create_global_step()
        mean = metrics.Mean("loss")
        update = mean([1.0, 2.0])
        mean.result()
        before = len(graph.get_operations())
        writer = summary.create_file_writer(tmp_path)
        with writer.as_default(), summary.always_record_summaries():
            mean.result()
            ops = graph.get_operations()[before:]
            assert [op.type for op in ops][-7:] == [
                *("Const", "Const", "LogicalAnd", "Identity", "Const"),
                *("WriteScalarSummary", "Const"),
            ]
            session.run(summary.summary_writer_initializer_op())
            session.run([tf.global_variables_initializer(), mean.init_variables()])
            session.run(update)
            session.run([summary.all_summary_ops(), writer.flush()])
            session.run(writer.flush())
        assert [number for *_, number in scalars_in(tmp_path)] == [1.5]
