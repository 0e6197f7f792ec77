"""Ensembles and quantiles as objects; numbers and names as TensorFlow 1.15's."""

from __future__ import annotations

import pytest

import tfteach as tf
from tfteach.framework.protos.pool import proto_module
from tfteach.lib.estimator.boosted_trees.ensemble_resources import (
    PruningMode,
    QuantileAccumulator,
    TreeEnsemble,
)
from tfteach.lib.training.resources import (
    initialize_resources,
    local_resources,
    shared_resources,
)

PRUNED = """
trees { nodes { leaf { vector { value: 0 } vector { value: 0 } } } }
tree_weights: 1
tree_metadata {
  num_layers_grown: 1 is_finalized: true
  post_pruned_nodes_meta { new_node_id: 0 logit_change: 0 logit_change: 0 }
  post_pruned_nodes_meta { new_node_id: 0 logit_change: -6 logit_change: -2 }
  post_pruned_nodes_meta { new_node_id: 0 logit_change: 5 logit_change: -0.4 }
}
"""


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def message(text):
    from google.protobuf import text_format

    return text_format.Merge(text, proto_module("boosted_trees").TreeEnsemble())


def test_an_ensemble_starts_with_the_given_trees(graph):
    start = message("trees { nodes { leaf { scalar: 2 } } } tree_weights: 0.5")
    made = TreeEnsemble("ens", 3, serialized_proto=start.SerializeToString())
    assert [op.name for op in graph.get_operations()] == [
        "ens", "ens/BoostedTreesCreateEnsemble/stamp_token",
        "ens/BoostedTreesCreateEnsemble/tree_ensemble_serialized",
        "ens/BoostedTreesCreateEnsemble", "ens/IsBoostedTreesEnsembleInitialized",
        "ens/BoostedTreesSerializeEnsemble",
    ]  # fmt: skip
    assert shared_resources()[0].create is made.initializer
    predicted = tf.raw_ops.BoostedTreesPredict(
        tree_ensemble_handle=made.resource_handle, bucketized_features=[[1, 2]],
        logits_dimension=1,
    )  # fmt: skip
    with tf.Session() as session:
        assert not session.run(made.is_initialized())
        session.run(made.initializer)
        assert session.run(made.is_initialized())
        assert session.run(made.get_stamp_token()) == 3
        # Without metadata an ensemble predicts all the same.
        assert session.run(predicted).tolist() == [[1.0], [1.0]]
        assert session.run(made.serialize().tree_ensemble_serialized) == (
            start.SerializeToString()
        )
        session.run(made.deserialize(7, b""))
        assert session.run(made.serialize()) == (7, b"")


def test_a_local_ensemble_is_a_local_resource():
    made = TreeEnsemble("ens", is_local=True)
    assert shared_resources() == []
    assert local_resources()[0].handle is made.resource_handle


def test_predictions_cached_before_a_tree_of_two_logits_was_pruned():
    made = TreeEnsemble("ens", serialized_proto=message(PRUNED).SerializeToString())
    predicted = tf.raw_ops.BoostedTreesTrainingPredict(
        tree_ensemble_handle=made.resource_handle, cached_tree_ids=[0, 0],
        cached_node_ids=[1, 2], bucketized_features=[[12, 17]], logits_dimension=2,
    )  # fmt: skip
    with tf.Session() as session:
        session.run(initialize_resources(shared_resources()))
        logits, trees, nodes = session.run(predicted)
    assert logits.ravel() == pytest.approx([-6.0, -2.0, 5.0, -0.4])
    assert (trees.tolist(), nodes.tolist()) == ([0, 0], [0, 0])


def test_quantiles_hold_as_many_values_as_given(graph):
    made = QuantileAccumulator(0.5, 1, 2, name="q", max_elements=8)
    assert made.initializer.get_attr("max_elements") == 8
    assert graph.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == [made.saveable]
    with tf.Session() as session:
        assert not session.run(made.is_initialized())
        session.run(made.initializer)
        assert session.run(made.is_initialized())


def test_pruning_modes():
    assert [PruningMode.from_str(name) for name in ("none", "pre", "post")] == [0, 1, 2]
    with pytest.raises(ValueError, match="must be one of: none, post, pre"):
        PruningMode.from_str("later")
