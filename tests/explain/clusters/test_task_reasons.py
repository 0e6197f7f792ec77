"""Why an op is on its task, what it waits for there, and what it sends to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain import explain_task


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        cluster = {"ps": ["a:1"], "worker": ["b:1"]}
        with tf.device(tf.train.replica_device_setter(cluster=cluster)):
            x = tf.placeholder(tf.float32, [2, 3], name="x")
            w = tf.get_variable("w", [3, 1])
            loss = tf.reduce_sum(tf.matmul(x, w, name="y"), name="loss")
            tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        yield graph


@pytest.mark.parametrize(
    ("op", "lines"),
    [
        ("loss", ["'loss' is on worker:0: asked for /job:worker"]),
        (
            "y",
            [
                "'y' is on worker:0: asked for /job:worker",
                "  it waits for w/read:0 (12 B) from ps:0: w/read is on ps:0, "
                "colocated with w",
            ],
        ),
        (
            "gradients/y_grad/tuple/control_dependency_1",
            [
                "'gradients/y_grad/tuple/control_dependency_1' is on worker:0: "
                "colocated with gradients/y_grad/MatMul_1",
                "  gradients/y_grad/tuple/control_dependency_1:0 (12 B) goes to ps:0: "
                "train/update_w/ApplyGradientDescent is on ps:0, colocated with w",
            ],
        ),
    ],
)
def test_reasons(graph: tf.Graph, op: str, lines: list[str]) -> None:
    assert str(explain_task(graph, op, ["loss", "train"], ["x:0"])).split("\n") == lines


def test_what_does_not_run_is_on_no_task(graph: tf.Graph) -> None:
    with pytest.raises(KeyError, match="the run does not need it"):
        explain_task(graph, "x", "loss:0", ["x:0"])


def test_an_order_that_crosses_tasks() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            first = tf.get_variable("v", [], initializer=tf.zeros_initializer()).op
        with tf.device("/job:worker/task:0"):
            x = tf.placeholder(tf.float32, [], name="x")
            with tf.control_dependencies([first]):
                tf.square(x, name="second")
    found = str(explain_task(graph, "second", "second", ["x:0"]))
    assert "it waits for the end of v from ps:0: v is on ps:0, asked for" in found


def test_the_magic_says_it_of_sessions_on_servers(
    shell: Any,  # noqa: F811
    session: tf.Session,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shell.user_ns["far"] = session
    assert run(shell, "%why y --fetch y --feed x --session far").success
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("'y' runs: it is fetched")
    assert lines[1] == "'y' is on worker:0: asked for /job:worker/task:0"
    assert lines[2].startswith("  it waits for w/read:0 (8 B) from ps:0")
