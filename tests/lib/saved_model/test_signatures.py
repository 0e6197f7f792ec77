"""SignatureDefs and TensorInfos."""

import pytest

import tfteach as tf

model = tf.saved_model


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_tensor_infos_and_back(graph):
    x = tf.placeholder(tf.float32, [None, 2], name="a/x")
    info = model.build_tensor_info(x)
    assert (info.name, info.dtype) == ("a/x:0", tf.float32.as_datatype_enum)
    assert [d.size for d in info.tensor_shape.dim] == [-1, 2]
    assert model.get_tensor_from_tensor_info(info) is x
    info.name = "x:0"
    assert model.get_tensor_from_tensor_info(info, graph, "a") is x
    with pytest.raises(KeyError, match="x:0"):
        model.get_tensor_from_tensor_info(info)
    v = tf.Variable(1.0, name="v")
    info = model.build_tensor_info(v)
    assert (info.name, info.dtype) == ("v:0", tf.float32.as_datatype_enum)
    sparse = tf.sparse_placeholder(tf.int32, name="s")
    info = model.build_tensor_info(sparse)
    assert info.coo_sparse.indices_tensor_name == "s/indices:0"
    found = model.get_tensor_from_tensor_info(info)
    assert found.values is sparse.values
    assert found.dense_shape is sparse.dense_shape
    with pytest.raises(ValueError, match=r"Invalid TensorInfo\.encoding: None"):
        model.get_tensor_from_tensor_info(tf.TensorInfo())
    info = tf.TensorInfo()
    info.composite_tensor.SetInParent()
    with pytest.raises(NotImplementedError, match="composite tensor"):
        model.get_tensor_from_tensor_info(info)
    with pytest.raises(AttributeError, match="dtype"):
        model.build_tensor_info(3)


def test_signatures_for_serving():
    texts = tf.placeholder(tf.string, [None], name="texts")
    scores = tf.placeholder(tf.float32, [None], name="scores")
    made = model.classification_signature_def(texts, texts, scores)
    assert made.method_name == "tensorflow/serving/classify"
    assert sorted(made.outputs) == ["classes", "scores"]
    assert made.inputs["inputs"].name == "texts:0"
    assert model.is_valid_signature(made)
    made.outputs["classes"].dtype = tf.int32.as_datatype_enum
    assert not model.is_valid_signature(made)
    made = model.regression_signature_def(texts, scores)
    assert model.is_valid_signature(made)
    made.inputs["more"].name = "x"
    assert not model.is_valid_signature(made)
    made = model.predict_signature_def({"a": scores}, {"b": scores})
    assert made.method_name == model.PREDICT_METHOD_NAME
    assert model.is_valid_signature(made)
    made.method_name = "other"
    assert not model.is_valid_signature(made)
    assert not model.is_valid_signature(None)


def test_refused():
    texts = tf.placeholder(tf.string, [None])
    scores = tf.placeholder(tf.float32, [None])
    for call, message in (
        (lambda: model.predict_signature_def({}, {"y": scores}), "inputs cannot be"),
        (lambda: model.predict_signature_def({"x": scores}, None), "outputs cannot be"),
        (lambda: model.regression_signature_def(None, scores), "examples cannot be"),
        (lambda: model.regression_signature_def(scores, scores), "must be a string"),
        (lambda: model.regression_signature_def(texts, None), "predictions cannot"),
        (lambda: model.regression_signature_def(texts, texts), "must be a float"),
        (lambda: model.classification_signature_def(None, None, scores), "cannot be"),
        (lambda: model.classification_signature_def(texts, None, None), "both be None"),
        (
            lambda: model.classification_signature_def(texts, scores, None),
            "classes must be a string",
        ),
        (
            lambda: model.classification_signature_def(texts, None, texts),
            "scores must be a float",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_constants():
    assert model.tag_constants.SERVING == model.SERVING == "serve"
    assert model.constants.ASSETS_KEY == "saved_model_assets"
    key = model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    assert key == "serving_default"
