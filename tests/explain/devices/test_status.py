from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.explain.devices.status import status


def test_what_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFTEACH_SIMULATED_GPUS", "1:1GiB")
    monkeypatch.setattr("tfteach.engine.devices.devices._simulated", None)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.constant(1.0)
        found = status()
        text = str(found)
        graph.finalize()
        assert status().graph == "1 op, finalized"
    assert found.versions[0] == ("tfteach", _version())
    assert dict(found.versions)["numpy"] != "unknown"
    assert [name for name, _ in found.devices] == ["CPU:0", "GPU:0"]
    assert "simulated GPU with 1.00 GiB" in found.devices[1][1]
    assert dict(found.settings)["TFTEACH_SIMULATED_GPUS"] == "1:1GiB"
    assert found.threads[0][0] == "tfteach"
    assert int(found.threads[0][1]) >= 1
    said = dict(found.sessions)[f"session {session.number}"]
    assert said == "on the default graph, 1 ops, 2 devices, the default session"
    assert text.startswith("Versions\n  tfteach ")
    assert "Open sessions\n" in text


def test_what_a_session_was_asked_for() -> None:
    config = tf.ConfigProto(allow_soft_placement=True)
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Session(graph=tf.Graph(), config=config) as session:
        said = dict(status().sessions)[f"session {session.number}"]
    assert said.endswith("soft placement, nothing optimized")


def _version() -> str:
    return f"{tf.__version__}, TensorFlow 1.15's graphs and sessions"


def test_what_is_not_installed_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    extras = status().extras
    assert not any(there for *_, there in extras)
    assert "llvmlite" in str(status())
    text = str(status())
    assert "not installed (NVIDIA GPUs): pip install tfteach[gpu]" in text
