"""tf.contrib.predictor, on a SavedModel of real TensorFlow."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import saved_models

GOLDEN = json.loads(Path(saved_models.__file__).with_suffix(".json").read_text())
from_saved_model = tf.contrib.predictor.from_saved_model


@pytest.fixture
def folder(tmp_path):
    for path, data in GOLDEN["trained"]["files"].items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(zlib.decompress(base64.b64decode(data)))
    return str(tmp_path)


def test_signatures_and_names(folder):
    wanted = np.array(GOLDEN["trained"]["result"])
    words = {"words": saved_models.WORDS}
    for given, name, factor in (
        ({}, "result", 1),
        ({"signature_def_key": "double"}, "double", 2),
        (
            {"input_names": {"words": "words:0"}, "output_names": {"r": "result:0"}},
            "r",
            1,
        ),
    ):
        predict = from_saved_model(folder, **given)
        found = predict(words)
        assert list(found) == [name]
        np.testing.assert_allclose(found[name], factor * wanted, rtol=1e-5)
    assert predict.feed_tensors["words"] is predict.graph.get_tensor_by_name("words:0")
    assert "with feed tensors {'words'" in repr(predict)
    with pytest.raises(ValueError, match=r"unexpected keys in input_dict: \{'y'\}"):
        predict({"y": 1})


def test_other_graphs_and_tags(folder):
    graph = tf.Graph()
    predict = from_saved_model(
        folder,
        tags="train",
        graph=graph,
        input_names={"words": "words:0"},
        output_names={"loss": "loss:0"},
    )
    assert predict.graph is graph
    assert predict({"words": ["a"]})["loss"] == 0.0


def test_refused(folder):
    with pytest.raises(ValueError, match="must both be specified or both"):
        from_saved_model(folder, input_names={})
    with pytest.raises(ValueError, match="at most one of signature_def_key"):
        from_saved_model(
            folder, "serving_default", input_names={"a": "b"}, output_names={"c": "d"}
        )
    with pytest.raises(ValueError, match=r"\. Available signatures are \['double'"):
        from_saved_model(folder, "q")
    with pytest.raises(RuntimeError, match="tags 'gpu' could not be found"):
        from_saved_model(folder, tags="gpu")
    with pytest.raises(NotImplementedError, match="from_contrib_estimator"):
        tf.contrib.predictor.from_contrib_estimator(None, None)
