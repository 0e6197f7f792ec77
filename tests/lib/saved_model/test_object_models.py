"""SavedModels of objects with functions: TensorFlow's run here, ours in TensorFlow."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly
from tests.golden import object_models, saved_models

__all__ = ["eagerly"]

GOLDEN = json.loads(Path(object_models.__file__).with_suffix(".json").read_text())
ANSWERS, SERVED = GOLDEN["1.15.5"]["answers"], GOLDEN["1.15.5"]["served"]


def unpacked(files, folder):
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(folder)


# ---- theirs, here


@pytest.mark.parametrize("version", GOLDEN)
def test_tensorflows_model_runs_here(eagerly, version, tmp_path):
    """Functions with state, control flow, tables and nested results; its gradient."""
    folder = unpacked(GOLDEN[version]["files"], tmp_path / "model")
    assert object_models.answers(tf, folder) == ANSWERS
    model = tf.saved_model.load_v2(folder)
    assert model.tensorflow_version == version
    assert [model.w.name, model.w.trainable, model.count.trainable] == [
        "w:0", True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("version", GOLDEN)
def test_sessions_serve_tensorflows_model(version, tmp_path):
    assert (
        object_models.served(tf, unpacked(GOLDEN[version]["files"], tmp_path / "model"))
        == SERVED
    )


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


# ---- SavedModels of graphs, as objects


@pytest.mark.parametrize("name", ["trained", "text", "simple", "later", "functions"])
def test_signatures_of_graphs_are_functions(eagerly, name, tmp_path):
    """With variables of either kind, tables of assets, and functions of TF 2."""
    path = Path(saved_models.__file__).with_suffix(".json")
    golden = json.loads(path.read_text())[name]
    folder = unpacked(golden["files"], tmp_path / "model")
    model = tf.saved_model.load_v2(folder, "serve")
    serve = model.signatures["serving_default"]
    [key] = serve._arg_keywords
    given = saved_models.WORDS if key == "words" else saved_models.NUMBERS
    [found] = serve(tf.constant(given)).values()
    np.testing.assert_allclose(found.numpy(), golden["result"], rtol=1e-5)
