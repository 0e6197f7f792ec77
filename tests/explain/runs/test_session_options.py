from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfteach as tf
from tests import strict_card
from tfteach.explain.devices.status import status
from tfteach.explain.runs.session_options import session_options


@pytest.fixture
def two_gpus() -> Iterator[None]:
    tf.simulate_gpus(2, memory="30MiB")
    yield
    tf.simulate_gpus(0)


def frugal() -> tf.ConfigProto:
    config = tf.ConfigProto(
        allow_soft_placement=True,
        device_count={"CPU": 2},
        intra_op_parallelism_threads=4,
        operation_timeout_in_ms=5000,
    )
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.remapping = 2
    return config


def test_options_with_their_effects_beside_each_other(two_gpus: None) -> None:
    graph = tf.Graph()
    with tf.Session(graph=graph) as one, tf.Session(config=frugal()) as other:
        found = session_options([one, other], {one.number: "sess"})
    assert found.sessions == ("sess", f"session {other.number}")
    values = {row.name: row.values for row in found.rows}
    assert values["device_count"] == ("-", "CPU: 2")
    assert values["devices"][1] == "CPU:0, CPU:1, GPU:0, GPU:1"
    assert values["per_process_gpu_memory_fraction"] == ("-", "0.5")
    assert values["limit of GPU:1"] == ("30.00 MiB", "15.00 MiB")
    assert values["allow_growth"] == ("-", "True")
    assert values["reserved on GPU:0"] == ("30.00 MiB, at once", "0 B, as needed")
    assert values["intra_op_parallelism_threads"] == ("-", "4")
    assert len(set(values["threads inside an op"])) == 1  # a hint
    assert values["opt_level"] == ("L1", "L0")
    assert values["constants are folded"] == ("yes", "no")
    assert values["equal ops are merged"] == ("yes", "no")
    assert values["an op that its device cannot run"] == (
        "is an error",
        "goes elsewhere",
    )
    assert values["a run may take"] == ("any time", "5 s")
    assert values["remapping"] == ("-", "OFF")  # any other field that is set
    assert values["effect"][1].startswith("names passes of TF's")
    assert {row.name for row in found.rows if not row.differs} == {
        "visible_device_list",
        "threads inside an op",
        "inter_op_parallelism_threads",
        "ops at a time",
        "log_device_placement",
        "placements are logged",
    }
    assert found.row("allow_growth").field == "gpu_options.allow_growth"
    with pytest.raises(KeyError, match="there are graph, device_count"):
        found.row("growth")


def test_the_effects_are_those_of_the_session(two_gpus: None) -> None:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.constant_folding = 2
    config.gpu_options.visible_device_list = "1"
    with tf.Session(config=config) as session:
        found = session_options([session])
        assert found.row("constants are folded").values == ("no",)
        assert found.row("equal ops are merged").values == ("yes",)
        assert found.row("devices").values == ("CPU:0, GPU:0",)
        assert not any(row.differs for row in found.rows)
    assert "differs" not in str(found)


def test_how_a_card_multiplies(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    config = tf.ConfigProto(device_count={"GPU": 0})
    with tf.Session() as one, tf.Session(config=config) as two:
        row = session_options([one, two]).row("float32 products on GPU:0")
        assert row.values == ("TF32", "no GPU")
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
        row = session_options([one, two]).row("float32 products on GPU:0")
        assert row.values == ("float32", "no GPU")


def test_as_text() -> None:
    with tf.Session(graph=tf.Graph()) as one, tf.Session(config=frugal()) as two:
        names = {one.number: "one", two.number: "two"}
        text = str(session_options([one, two], names))
        table = text.splitlines()
        assert "\nSession options\n" in str(status(names))  # of all that are open
    assert table[0].split() == ["one", "two"]
    assert "* opt_level" in text
    assert any(line.startswith("*   constants are folded") for line in table)
    assert any(
        line.split() == ["memory", "of", "GPUs", *["no", "GPU"] * 2] for line in table
    )
    assert table[-1] == "* differs between the sessions"
    assert max(map(len, table)) < 110


def test_without_sessions_there_is_nothing() -> None:
    assert str(session_options([])) == ""
