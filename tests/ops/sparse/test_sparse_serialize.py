"""Serialized sparse tensors: what is refused here and not in TensorFlow."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.ops.sparse.sparse_serialize import deserialize_sparse

SPARSE = tf.SparseTensorValue([[0, 1]], [1.0], [2, 3])


@pytest.mark.parametrize("many", [False, True])
def test_variants_come_back(many):
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [1, 0]], ["a", "b"], [2, 3])
        function = tf.serialize_many_sparse if many else tf.serialize_sparse
        parts = function(sparse, out_type=tf.variant)
        assert parts.dtype == tf.variant
        assert parts.shape.as_list() == ([None, 3] if many else [3])
        found = session.run(deserialize_sparse(parts, tf.string, 2 if many else None))
    assert found.indices.tolist() == [[0, 1], [1, 0]]
    assert found.values.tolist() == [b"a", b"b"]
    assert found.dense_shape.tolist() == [2, 3]
