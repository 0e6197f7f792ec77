"""What the placer makes of requests: moved, pruned, malformed, without help."""

from __future__ import annotations

import pytest

import tfteach
import tfteach as tf
from tests.engine.plan.test_place import INVALID, LOCAL, placed, product, session

pytestmark = pytest.mark.usefixtures("no_cards")
PRUNED = tf.GraphOptions(place_pruned_graph=True)


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_moved_variable_is_reported_once(
    cpus: int, use_resource: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with tf.device("/gpu:2"):
        v = tf.Variable(1.0, name="v", use_resource=use_resource)
        free = tf.identity(1.0)
    with session(soft=True, cpus=cpus) as sess:
        sess.run(v.initializer)
        sess.run(v)
        sess.run(tf.identity(v))
        err = capsys.readouterr().err
        assert err.count("W tensorflow/core/common_runtime/colocation_graph.cc") == 1
        assert "Failed to place the graph without changing the devices of some" in err
        names = "\n  ".join(f"{LOCAL}CPU:{i}" for i in range(cpus))
        assert f"Current candidate devices are [\n  {names}]." in err
        assert f"  v ({v.op.type}) /device:GPU:2\n" in err
        with tf.device("/gpu:3"):
            w = tf.Variable(2.0, name="w", use_resource=use_resource)
        sess.run(w.initializer)
        again = capsys.readouterr().err
        assert again.count("Failed to place") == 1
        assert "  w (" in again
        assert "  v (" not in again
    with session(soft=True, cpus=cpus, graph_options=PRUNED) as sess:
        sess.run(free)  # it takes no variable
        assert capsys.readouterr() == ("", "")


def test_only_what_a_run_needs_is_placed() -> None:
    with tf.device("/gpu:2"):
        bad = tf.constant(1.0, name="bad")
    good = tf.constant(2.0, name="good")
    for cpus in (1, 2):
        with session(cpus=cpus, graph_options=PRUNED) as sess:
            assert sess.run(good) == 2.0
            assert placed(sess).keys() == {"good"}
            for _ in range(2):
                with pytest.raises(INVALID, match="assign a device for operation bad:"):
                    sess.run(bad)
            assert sess.run(good) == 2.0
        with session(cpus=cpus) as sess, pytest.raises(INVALID, match="bad"):
            sess.run(good)


def test_a_pruned_graph_keeps_variables_where_they_are() -> None:
    tfteach.simulate_gpus(2)
    v = tf.Variable(1.0, name="v")
    with session(graph_options=PRUNED) as sess:
        sess.run(v.initializer)
        assert placed(sess)["v"][0] == "GPU:0"
        with tf.device("/gpu:1"):
            y = tf.identity(v, name="y")
        assert sess.run(y) == 1.0
        assert placed(sess)["v"][0] == "GPU:0"
        assert placed(sess)["y"][0] == "GPU:1"


def test_a_bad_op_that_comes_later_stops_every_run() -> None:
    for cpus in (1, 2):
        with tf.Graph().as_default(), session(cpus=cpus) as sess:
            y = product()
            for _ in range(3):
                sess.run(y)
            with tf.device("/gpu:0"):
                tf.identity(y, name="bad")
            for _ in range(2):
                with pytest.raises(INVALID, match="assign a device for operation bad:"):
                    sess.run(y)


def test_hints_are_about_what_can_help() -> None:
    def hint(request: str, soft: bool) -> str:
        with tf.Graph().as_default():
            with tf.device(request):
                x = tf.constant(1.0)
            with session(soft=soft) as sess, pytest.raises(INVALID) as caught:
                sess.run(x)
        return str(caught.value).partition("valid device.")[2].split("\n")[1]

    assert hint("/cpu:3", False) == (
        "Name one of these devices, or let ConfigProto(allow_soft_placement=True) "
        "choose another."
    )
    for soft in (False, True):
        for request in ("/job:worker/task:0", "/task:1/cpu:0"):
            assert hint(request, soft) == (
                "Name one of these devices: a local session has one job, replica and "
                "task, and soft placement never chooses others."
            )


@pytest.mark.parametrize(
    "request_",
    ["/gpu:-1", "/task:-1", "/job:1a", "/job:a-b", "/job:", "foo", "cpu:0", "/cpu",
     "/cpu:a", "/cpu:0/", "//cpu:0", "/tpu:0", "/device:1:0", "/cpu:0:0"],
)  # fmt: skip
def test_malformed_requests(request_: str) -> None:
    with tf.device(lambda op: request_):
        x = tf.constant(1.0, name="x")
    for soft in (False, True):
        with session(soft=soft) as sess, pytest.raises(INVALID) as caught:
            sess.run(x)
        assert str(caught.value).startswith(
            f"Malformed device specification '{request_}' in node: {{name:'x' id:2 op "
            "device:{} def:{node x (defined at "
        )


@pytest.mark.parametrize(
    "request_",
    ["/cpu:0", "/CPU:*", "/device:CPU", "/device:*:0", "/device:*", "/job:*",
     "/job:*/cpu:0", "/replica:*", "/task:*", "/task:0/job:localhost", "/cpu:00"],
)  # fmt: skip
def test_requests_of_device_functions_that_fit(request_: str) -> None:
    with tf.device(lambda op: request_):
        x = tf.constant(1.0, name="x")
    assert x.op.device == request_
    with session() as sess:
        assert sess.run(x) == 1.0
