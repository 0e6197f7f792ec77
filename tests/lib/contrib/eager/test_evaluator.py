"""Evaluators of `tensorflow.contrib.eager.python`, in both modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eager_program
from tfteach.lib.contrib.eager.evaluator import Evaluator, SparseSoftmaxEvaluator

metrics = tf.contrib.eager.metrics


class Model:
    def eval_data(self, batch: Any, factor: float = 1.0) -> Any:
        return batch if isinstance(batch, dict) else batch * factor


class Inner(Evaluator):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.mean = self.track_metric(metrics.Mean("mean"))

    def call(self, eval_data: Any) -> Any:
        self.mean(eval_data)


class Outer(Evaluator):
    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.mean = self.track_metric(metrics.Mean("outer-mean"))
        self.inner = self.track_evaluator("inner", Inner(model))

    def call(self, eval_data: Any) -> Any:
        self.mean(eval_data["outer"])
        self.inner.call(eval_data["inner"])


def scalars_in(folder: Path) -> list[tuple[str, float]]:
    [file] = folder.iterdir()
    events = tf.train.summary_iterator(str(file))
    return [(v.tag, v.simple_value) for e in events for v in e.summary.value]


def test_in_an_eager_program(tmp_path: Path) -> None:
    with eager_program():
        model = Model()
        evaluator = Outer(model)
        assert evaluator.model is model
        evaluator({"inner": 2.0, "outer": 100.0})
        evaluator({"inner": 4.0, "outer": 1000.0})
        found: Any = evaluator.all_metric_results()
        assert {name: value.numpy() for name, value in found.items()} == {
            "inner/mean": 3.0,
            "outer-mean": 550.0,
        }
        assert [(prefix, metric.name) for prefix, metric in evaluator.metrics] == [
            ("", "outer-mean"),
            ("inner/", "mean"),
        ]
        names = [v.name for v in evaluator.metric_variables]
        assert names == [f"{a}/{b}:0" for a in ("outer_mean", "mean")
                         for b in ("numer", "denom")]  # fmt: skip
        numbers = tf.data.Dataset.from_tensor_slices([3.0, 5.0])
        tf.train.get_or_create_global_step()
        found = Inner(model).evaluate_on_dataset(
            numbers, factor=2.0, summary_logdir=tmp_path
        )
        assert found["mean"].numpy() == 8.0
        assert scalars_in(tmp_path) == [("mean", 8.0)]
        for call in (evaluator.init_variables, evaluator.run_evaluation):
            arguments = [None] * 3 if call == evaluator.run_evaluation else []
            with pytest.raises(RuntimeError, match="when eager execution is enabled"):
                call(*arguments)  # type: ignore[operator]


def test_in_a_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        numbers = tf.data.Dataset.from_tensor_slices([3.0, 5.0, 7.0, 9.0])
        evaluator = Inner(Model())
        ops: Any = evaluator.evaluate_on_dataset(numbers, summary_logdir=tmp_path)
        session.run(tf.global_variables_initializer())
        assert evaluator.run_evaluation(*ops) == {"mean": 6.0}
    assert scalars_in(tmp_path) == [("mean", 6.0)]


def test_classifiers() -> None:
    with eager_program():
        evaluator = SparseSoftmaxEvaluator(Model())
        evaluator({"loss": 1.0, "label": 5, "predicted_class": 5})
        classes = {"label": [1, 2, 3], "predicted_class": [1, 1, 3]}
        evaluator({"loss": [0.0, 3.0, 4.0], **classes})
        found: Any = evaluator.all_metric_results()
        assert found["Avg Loss"].numpy() == 2.0
        assert found["Accuracy"].numpy() == 0.75
        evaluator({"loss": 4.0, "label": 1, "predicted_class": 1, "weights": 4.0})
        assert evaluator.avg_loss.result().numpy() == 3.0


def test_what_is_tracked() -> None:
    with eager_program():
        first, second = Inner(Model()), Inner(Model())
        assert first.track_metric(first.mean) is first.mean
        with pytest.raises(ValueError, match="two Metrics with the name 'mean'"):
            first.track_metric(second.mean)
        with pytest.raises(ValueError, match="Metric mean already added to Evaluator"):
            Evaluator(Model()).track_metric(second.mean)
        with pytest.raises(TypeError, match="not a tfe"):
            first.track_metric(3)  # type: ignore[arg-type]
        assert first.track_evaluator("a", second) is second
        with pytest.raises(RuntimeError, match="with the same prefix 'a'"):
            first.track_evaluator("a", Inner(Model()))
        with pytest.raises(TypeError, match="not a tfe"):
            first.track_evaluator("b", 3)  # type: ignore[arg-type]
        bare = Evaluator.__new__(Evaluator)
        for track in (lambda: bare.track_metric(second.mean),
                      lambda: bare.track_evaluator("a", second)):  # fmt: skip
            with pytest.raises(RuntimeError, match=r"Need to call Evaluator.__init__"):
                track()
        with pytest.raises(NotImplementedError, match="must define a call"):
            Evaluator(Model())({})
