"""Estimators that build and restore in every call: the line, the cost, the cure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.building.graph_log import GraphLog, watch_graphs
from tfteach.explain.building.rebuilding import MOST_COSTS
from tfteach.framework.type_aliases import Array

ROWS = np.arange(32, dtype=np.float32).reshape(8, 4)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    x = features["x"] if isinstance(features, dict) else features
    y = tf.layers.dense(x, 1, name="out")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    step = tf.train.get_global_step()
    train = tf.train.GradientDescentOptimizer(1e-4).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def inputs_of(rows: Array, **kwargs: Any) -> Any:
    return tf.estimator.inputs.numpy_input_fn({"x": rows}, shuffle=False, **kwargs)


@pytest.fixture(scope="module")
def estimator(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("model")
    found = tf.estimator.Estimator(model_fn, str(folder))
    labels = inputs_of(ROWS, y=ROWS[:, :1], num_epochs=None)
    return found.train(labels, steps=3)


def predicted_in_a_loop(estimator: Any, rows: Array) -> tuple[GraphLog, list[Array]]:
    found = []
    with watch_graphs() as log:
        for row in rows:
            x = {"x": np.array([row])}
            input_fn = tf.estimator.inputs.numpy_input_fn(x, shuffle=False)
            for prediction in estimator.predict(input_fn):
                found.append(prediction["y"])
    return log, found


LOOP_LINE = predicted_in_a_loop.__code__.co_firstlineno + 6


def test_predict_in_a_loop(estimator: Any) -> None:
    log, _ = predicted_in_a_loop(estimator, ROWS)
    verdict = log.verdict
    assert verdict.kind == "rebuilt"
    assert verdict.line is not None
    assert (verdict.line.file, verdict.line.line) == (__file__, LOOP_LINE)
    ops = log.graphs[0].ops_built
    assert verdict.headline() == (
        f"Rebuilt: line {LOOP_LINE}, `estimator.predict(input_fn)`, made 8 graphs of "
        f"the same {ops} ops and 8 sessions, and restored 8 times, for 8 runs."
    )
    cost = verdict.cost()
    assert "8 sessions opened, checkpoints restored 8 times" in cost
    assert "Each call spent " in cost
    assert "`tf.data.Dataset.from_generator`" in verdict.fix()


def test_a_card_for_each_call(estimator: Any) -> None:
    log, _ = predicted_in_a_loop(estimator, ROWS)
    verdict = log.verdict
    assert len(verdict.costs) == MOST_COSTS
    assert verdict.more_costs == 8 - MOST_COSTS
    for cost in verdict.costs:
        # one graph, one session, one restore and one run in each call; the runs that
        # look whether all is initialized, that fill the queue and that find the end of
        # the input are the library's
        assert (cost.counts["open"], cost.counts["restore"]) == (1, 1)
        assert (cost.counts["initialize"], cost.counts["run"]) == (0, 1)
        assert cost.counts["library"] >= 5
        assert all(seconds >= 0 for seconds in cost.seconds.values())
        assert cost.preparing_s > cost.seconds["run"]
        kinds = [kind for kind, _ in cost.parts]
        assert kinds == ["build", "open", "restore", "library", "compile", "run"]
    # A run of a few microseconds may end before the clock advances.
    assert any(cost.seconds["run"] > 0 for cost in verdict.costs)
    text = str(log)
    assert f"  predict {MOST_COSTS}, " in text
    assert f"  and {8 - MOST_COSTS} more" in text


def test_the_cure_predicts_the_same(estimator: Any) -> None:
    log, expected = predicted_in_a_loop(estimator, ROWS)
    program = log.verdict.code()
    assert 'from_generator(\n            self.elements, {"x": tf.float32}' in program
    assert program.endswith(
        "for row in rows:\n"
        '    prediction = predict({"x": row})\n'
        "predict.predictions.close()  # closes the session"
    )
    kept = program.replace("prediction = ", "found.append(").replace(
        '{"x": row})', '{"x": row})["y"])'
    )
    found: list[Array] = []
    with watch_graphs() as cured:
        names = {"tf": tf, "estimator": estimator, "rows": ROWS, "found": found}
        exec(kept, names)
    np.testing.assert_array_equal(found, expected)
    verdict = cured.verdict
    assert (verdict.kind, verdict.is_waste) == ("kept", False)
    assert verdict.sign() == "built and restored once"
    assert "opened one session and restored once, for 8 runs: " in verdict.headline()
    assert verdict.cost() == verdict.fix() == verdict.code() == ""
    (session,) = cured.sessions
    assert session.end == "closed"


def test_a_generator_that_is_read_elsewhere(estimator: Any) -> None:
    with watch_graphs() as log:
        for _ in range(3):
            predictions = estimator.predict(  # this line, not the next but one
                inputs_of(ROWS[:1]), yield_single_examples=False
            )
            next(predictions)
            predictions.close()
    verdict = log.verdict
    assert verdict.line is not None
    line = test_a_generator_that_is_read_elsewhere.__code__.co_firstlineno + 3
    assert (verdict.kind, verdict.line.line) == ("rebuilt", line)
    assert "self.input_fn, yield_single_examples=False)" in verdict.code()


def test_a_progress_bar_between(estimator: Any) -> None:
    # an installed package asks for the predictions; the line is the program's
    source = "def bar(found):\n    yield from found\n"
    names: dict[str, Any] = {}
    exec(compile(source, "/lib/site-packages/bar/std.py", "exec"), names)
    with watch_graphs() as log:
        for _ in range(3):
            list(names["bar"](estimator.predict(inputs_of(ROWS[:1]))))
    line = test_a_progress_bar_between.__code__.co_firstlineno + 7
    assert log.verdict.line is not None
    assert (log.verdict.line.file, log.verdict.line.line) == (__file__, line)
    lines = {at and at.file for life in log.graphs for _, _, at in life.rounds}
    assert lines == {__file__, None}  # None: threads that fill queues


def test_a_function_of_one_feature(estimator: Any, tmp_path: Path) -> None:
    alone = tf.estimator.Estimator(model_fn, str(tmp_path))

    def classify(row: Array) -> Any:
        def input_fn() -> Any:
            return tf.data.Dataset.from_tensors(row).batch(1)

        return next(alone.predict(input_fn))["y"]

    with watch_graphs() as log:
        for row in ROWS[:3]:
            classify(row)
    verdict = log.verdict
    assert verdict.kind == "rebuilt"
    # without a checkpoint the variables are initialized
    assert verdict.costs[0].counts["initialize"] == 1
    assert "restored" not in verdict.headline()
    program = verdict.code()
    assert "self.elements, tf.float32,\n            [4])" in program
    assert "predict = FastPredict(alone)\n" in program
    assert "prediction = predict(row)  # in classify" in program


def test_an_input_whose_features_are_not_dense(estimator: Any) -> None:
    def model(features: Any, mode: str) -> Any:
        y = tf.sparse_tensor_to_dense(features["s"])
        return tf.estimator.EstimatorSpec(mode, predictions=y)

    def input_fn() -> Any:
        sparse = tf.SparseTensor([[0, 0]], [1.0], [1, 2])
        return tf.data.Dataset.from_tensors({"s": sparse})

    sparse = tf.estimator.Estimator(model, estimator.model_dir)
    with watch_graphs() as log:
        for _ in range(3):
            list(sparse.predict(input_fn))
    assert log.verdict.kind == "rebuilt"
    assert log.verdict.code() == ""
    assert "`tf.data.Dataset.from_generator`" in log.verdict.fix()


@pytest.mark.parametrize("method", ["evaluate", "train"])
def test_other_methods(estimator: Any, tmp_path: Path, method: str) -> None:
    other = tf.estimator.Estimator(model_fn, str(tmp_path))
    labelled = inputs_of(ROWS, y=ROWS[:, :1])
    other.train(labelled, steps=1)
    with watch_graphs() as log:
        for _ in range(3):
            if method == "evaluate":
                other.evaluate(labelled, steps=1)
            else:
                other.train(labelled, steps=1)
    verdict = log.verdict
    assert verdict.kind == "rebuilt"
    assert f", `other.{method}(labelled, steps=1)`, made 3 graphs" in verdict.headline()
    assert "restored 3 times, for 3 runs" in verdict.headline()
    assert verdict.fix().startswith(f"{method[:-1].capitalize()}")
    assert verdict.code() == ""


def test_one_call_that_predicts_a_whole_file_is_no_waste(estimator: Any) -> None:
    with watch_graphs() as log:
        found = list(estimator.predict(inputs_of(ROWS, batch_size=2)))
    assert len(found) == 8
    assert (log.verdict.kind, log.verdict.costs[0].counts["run"]) == ("kept", 4)


def test_one_evaluation_is_nothing_to_speak_of(estimator: Any) -> None:
    with watch_graphs() as log:
        estimator.evaluate(inputs_of(ROWS, y=ROWS[:, :1]))
    assert (log.verdict.kind, log.verdict.costs) == ("clean", [])


def test_a_saver_that_restores_over_values(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess, watch_graphs() as log:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        saver = tf.train.Saver()
        sess.run(w.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
        saver.restore(sess, path)  # the variable has a value before
        sess.run(w)
    counts = log.graphs[0].cost.counts
    assert (counts["initialize"], counts["library"], counts["restore"]) == (1, 1, 1)
    assert counts["run"] == 1
