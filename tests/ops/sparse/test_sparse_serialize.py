"""Serialized sparse tensors: what is refused here and not in TensorFlow."""

from __future__ import annotations

import pytest

import tfteach as tf

SPARSE = tf.SparseTensorValue([[0, 1]], [1.0], [2, 3])


@pytest.mark.parametrize("function", [tf.serialize_sparse, tf.serialize_many_sparse])
def test_variants_are_refused_by_name(function):
    with pytest.raises(NotImplementedError, match="out_type=variant"):
        function(SPARSE, out_type=tf.variant)
