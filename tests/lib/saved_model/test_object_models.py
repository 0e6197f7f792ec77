"""SavedModels of objects with functions: TensorFlow's run here, ours in TensorFlow."""

import base64
import json
import zlib
from pathlib import Path

import pytest

import tfteach as tf
from tests.eagerly import eagerly
from tests.golden import object_models

__all__ = ["eagerly"]

GOLDEN = json.loads(Path(object_models.__file__).with_suffix(".json").read_text())
ANSWERS, SERVED = GOLDEN["1.15.5"]["answers"], GOLDEN["1.15.5"]["served"]


def unpacked(version, folder):
    for path, data in GOLDEN[version]["files"].items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(folder)


# ---- theirs, here


@pytest.mark.parametrize("version", GOLDEN)
def test_tensorflows_model_runs_here(eagerly, version, tmp_path):
    """Functions with state, control flow, tables and nested results; its gradient."""
    folder = unpacked(version, tmp_path / "model")
    assert object_models.answers(tf, folder) == ANSWERS
    model = tf.saved_model.load_v2(folder)
    assert model.tensorflow_version == version
    assert [model.w.name, model.w.trainable, model.count.trainable] == [
        "w:0", True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("version", GOLDEN)
def test_sessions_serve_tensorflows_model(version, tmp_path):
    assert object_models.served(tf, unpacked(version, tmp_path / "model")) == SERVED


# ---- ours


def test_our_model_is_loaded_and_saved_again(eagerly, tmp_path):
    first, second = str(tmp_path / "1" / "model"), str(tmp_path / "2" / "model")
    (tmp_path / "1").mkdir()
    object_models.save(tf, first)
    assert object_models.answers(tf, first) == ANSWERS
    loaded = tf.saved_model.load_v2(first)
    tf.saved_model.save(loaded, second, loaded.signatures)
    (tmp_path / "1").rename(tmp_path / "gone")
    assert object_models.answers(tf, second) == ANSWERS
    assert object_models.served(tf, second) == SERVED
