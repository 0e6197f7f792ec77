from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.plan import place
from tfteach.explain.devices.placement import kind_of, placement
from tfteach.explain.runs.cluster_plan import label_of


@pytest.fixture
def two_gpus() -> Iterator[None]:
    tf.simulate_gpus(2, memory="64MiB")
    yield
    tf.simulate_gpus(0)


SOFT = tf.ConfigProto(allow_soft_placement=True)


def two_devices() -> tf.Graph:
    """x (fed) -> GPU:0 -> GPU:1 -> fetch."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 4], name="x")
        with tf.device("/gpu:0"):
            w = tf.get_variable("w", [4, 4])
            y = tf.matmul(x, w, name="y")
        with tf.device("/gpu:1"):
            tf.add(y, y, name="z")
    return graph


def test_devices_reasons_and_copies(two_gpus: None) -> None:
    graph = two_devices()
    with tf.Session(graph=graph) as session:
        found = placement(session, "z:0", ["x"])
        assert session.placements == {}  # asking leaves no trace
    placed = {r.name: (label_of(r.assigned), r.reason) for r in found.rows}
    assert placed == {
        "w": ("GPU:0", "explicit"),
        "w/read": ("GPU:0", "colocated with w"),
        "y": ("GPU:0", "explicit"),
        "z": ("GPU:1", "explicit"),
    }
    copies = [
        (c.tensor.name, label_of(c.source), label_of(c.target), c.size_bytes, c.readers)
        for c in found.copies
    ]
    assert copies == [
        ("x:0", "CPU:0", "GPU:0", 64, ("y",)),
        ("y:0", "GPU:0", "GPU:1", 64, ("z",)),
        ("z:0", "GPU:1", "CPU:0", 64, ()),
    ]
    assert found.copies[0].is_feed
    assert found.copies[2].why == "for the fetch"
    assert found.copied_bytes == 192
    assert found.of("z").requested == "/device:GPU:1"
    with pytest.raises(KeyError, match="does not need it"):
        found.of("x")


def test_the_text_is_the_log_with_reasons(two_gpus: None) -> None:
    with tf.Session(graph=two_devices()) as session:
        text = str(placement(session, "z", ["x"]))
    gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    first, mapping, *rest = text.splitlines()
    assert first == (
        "4 ops: 3 on GPU:0 (simulated), 1 on GPU:1 (simulated); 2 copies, 128 B a run"
    )
    assert mapping.startswith(f"{gpu} -> device: 0, name: simulated GPU with 64.00 MiB")
    read = next(line for line in rest if line.startswith("w/read: "))
    assert read.startswith(f"w/read: (Identity): {gpu} ")
    assert read.endswith("# colocated with w; asked for /device:GPU:0")
    assert "  y:0  GPU:0 -> GPU:1  64 B  for z" in rest
    assert any("GPU:1 (simulated): 1 ops" in line for line in rest)


def test_a_run_measures_what_shapes_do_not_tell(two_gpus: None) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/gpu:0"):
            y = tf.square(x, name="y")
        with tf.Session() as session:
            before = placement(session, y, [x])
            assert before.copies[0].size_bytes is None
            assert "at least 0 B" in before.summary
            session.run(y, {x: np.zeros(10)})
            after = placement(session, y, [x])
    assert [(c.size_bytes, c.is_measured) for c in after.copies] == [(40, True)] * 2
    gpu = after.devices[1]
    assert gpu.is_simulated
    assert gpu.limit_bytes == 64 << 20
    assert gpu.peak_bytes


def test_no_kernel_soft_and_default(two_gpus: None) -> None:
    with tf.Graph().as_default():
        words = tf.constant(["a", "b"], name="words")
        with tf.device("/gpu:0"):
            tf.string_join([words, words], name="joined")
        with tf.device("/gpu:7"):
            tf.constant(1.0, name="far")
        tf.constant(1.0, name="plain")
        with tf.Session(config=SOFT) as session:
            found = placement(session)
        assert found.of("words").reason.startswith("no GPU kernel")
        assert found.of("joined").reason.startswith("soft placement: no GPU kernel")
        assert found.of("far").reason.startswith("soft placement: /device:GPU:7 is not")
        assert found.of("plain").reason == "default: GPU first"
        assert found.reasons["soft placement"] == 2
        assert found.fetches == ()
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="joined"),
        ):
            placement(session)


def test_variables_count_where_they_live(two_gpus: None) -> None:
    with tf.Session(graph=two_devices()) as session:
        devices = {d.label: d for d in placement(session).devices}
    assert devices["GPU:0"].variable_bytes == 64
    assert devices["GPU:1"].variable_bytes == 0
    assert devices["CPU:0"].limit_bytes is None


def test_one_device() -> None:
    with tf.Graph().as_default():
        tf.add(1.0, 2.0, name="sum")
        session = tf.Session()
        found = placement(session, "sum")
        assert found.summary == "3 ops: 3 on CPU:0"
        assert found.copies == ()
        assert {r.reason for r in found.rows} == {place.ONLY_DEVICE}
        session.close()
        with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
            placement(session, "sum")


def test_a_variable_stays_where_it_was_run(two_gpus: None) -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        with tf.Session() as session:
            session.run(v.initializer)
            assert label_of(placement(session, v.op).of("v").assigned) == "GPU:0"
            # An op without a GPU kernel would take the variable's group to the CPU.
            with tf.colocate_with(v.op):
                tf.constant(["text"], name="text")
            found = placement(session)
    assert label_of(found.of("v").assigned) == "GPU:0"
    assert found.of("v").reason == place.KEPT


def test_every_reason_has_a_kind() -> None:
    assert kind_of(place.KEPT) == "kept"
    assert kind_of("no GPU kernel for string (a, which shares the device)") == (
        "no GPU kernel"
    )
    assert kind_of("beside its input x") == "beside its data"
