"""What the ops of boosted trees return and refuse in real TensorFlow 1.15.

`python boosted_trees.py boosted_trees.json`; tests/ops/trees runs the same functions.
Each returns what a program sees, as JSON; ensembles are the text of their message,
errors the class and the first line.
"""

import importlib
import json
import os
import sys

import numpy as np


def seen(call):
    """The value as JSON; the class and first line of an error."""
    try:
        return plain(call())
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        first = message.split("\n\t [[")[0].split("\n")[0]
        return type(error).__name__ + ": " + first.split(" Run Boosted")[0]


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.7g}") if np.isfinite(value) else str(value)
    return value


def messages(tf):
    """TensorFlow's module of the messages of boosted trees."""
    if "tfteach" in tf.__name__:
        from tfteach.framework.protos.pool import proto_module

        return proto_module("boosted_trees")
    return importlib.import_module(
        "tensorflow.core.kernels.boosted_trees.boosted_trees_pb2"
    )


def floats(*values):
    return np.array(values, np.float32)


class Ensemble:
    """An ensemble in a session, made from the text of its message."""

    def __init__(self, tf, text="", stamp=0):
        from google.protobuf import text_format

        self.tf, self.ops, self.messages = tf, tf.raw_ops, messages(tf)
        message = text_format.Parse(text, self.messages.TreeEnsemble())
        self.session = tf.Session()
        self.handle = self.ops.BoostedTreesEnsembleResourceHandleOp()
        self.session.run(
            self.ops.BoostedTreesCreateEnsemble(
                tree_ensemble_handle=self.handle,
                stamp_token=np.int64(stamp),
                tree_ensemble_serialized=message.SerializeToString(),
            )
        )

    def run(self, kind, **arguments):
        op = getattr(self.ops, "BoostedTrees" + kind)
        return seen(
            lambda: self.session.run(op(tree_ensemble_handle=self.handle, **arguments))
        )

    def state(self):
        """The stamp token, and the message as text."""
        stamp, found = self.session.run(
            self.ops.BoostedTreesSerializeEnsemble(tree_ensemble_handle=self.handle)
        )
        text = str(self.messages.TreeEnsemble.FromString(found))
        return [int(stamp), " ".join(text.split())]

    def states(self):
        return self.run("GetEnsembleStates")

    def predict(self, *features, **arguments):
        arguments.setdefault("logits_dimension", 1)
        return self.run("Predict", bucketized_features=features, **arguments)

    def training_predict(self, trees, nodes, *features, **arguments):
        arguments.setdefault("logits_dimension", 1)
        return self.run(
            "TrainingPredict",
            cached_tree_ids=trees,
            cached_node_ids=nodes,
            bucketized_features=features,
            **arguments,
        )


TWO_TREES = """
trees {
  nodes { bucketized_split { feature_id: 0 threshold: 4 left_id: 1 right_id: 2 }
          metadata { gain: 7.62 original_leaf { scalar: 0.2 } } }
  nodes { leaf { scalar: 1.14 } }
  nodes { bucketized_split { feature_id: 1 threshold: 7 left_id: 3 right_id: 4 }
          metadata { gain: 1.4 original_leaf { scalar: 7.14 } } }
  nodes { leaf { scalar: 5.0 } }
  nodes { leaf { scalar: 6.0 } }
}
trees {
  nodes { bucketized_split { feature_id: 1 threshold: 34 left_id: 1 right_id: 2 }
          metadata { gain: 2.5 original_leaf { scalar: 0.5 } } }
  nodes { leaf { scalar: -1.0 } }
  nodes { leaf { scalar: 3.5 } }
}
tree_weights: 0.1
tree_weights: 0.5
tree_metadata { num_layers_grown: 2 is_finalized: true }
tree_metadata { num_layers_grown: 1 }
growing_metadata { num_trees_attempted: 2 num_layers_attempted: 3
  last_layer_node_start: 1 last_layer_node_end: 3 }
"""
FEATURES = [[0, 5, 9, 2, 5], [0, 5, 9, 40, 33]]

SPLITS = """
trees {
  nodes { bucketized_split { feature_id: 0 threshold: 2 left_id: 1
          right_id: 2 default_direction: DEFAULT_RIGHT } }
  nodes { categorical_split { feature_id: 1 value: 3 left_id: 3 right_id: 4 } }
  nodes { leaf { vector { value: 0.5 value: -2.0 } } }
  nodes { leaf { vector { value: 1.0 value: 4.0 } } }
  nodes { leaf { vector { value: -1.0 value: 8.0 } } }
}
tree_weights: 0.5
tree_metadata { num_layers_grown: 2 is_finalized: true }
"""


def creating(tf):
    empty = Ensemble(tf)
    log = [empty.state(), empty.states()]
    full = Ensemble(tf, TWO_TREES, 5)
    log += [full.state(), full.states()]
    message = empty.messages.TreeEnsemble()
    for stamp, text, kind in (
        (1, message.SerializeToString(), "CreateEnsemble"),
        (2, message.SerializeToString(), "DeserializeEnsemble"),
        (3, b"\xff", "DeserializeEnsemble"),
    ):
        arguments = {
            "stamp_token": np.int64(stamp), "tree_ensemble_serialized": text,
        }  # fmt: skip
        log += [full.run(kind, **arguments), full.state()]
    ops = tf.raw_ops
    with tf.Session() as session:
        is_made = ops.IsBoostedTreesEnsembleInitialized(
            tree_ensemble_handle=full.handle
        )
        session.run(tf.Variable(1, name="v", use_resource=True).initializer)
        found = ops.BoostedTreesGetEnsembleStates(tree_ensemble_handle=full.handle)
        log += [seen(lambda: session.run(is_made)), seen(lambda: session.run(found))]
        log.append(seen(lambda: full.session.run(is_made)))
    made = tf.get_default_graph().get_operations()
    nodes = [[op.name, op.type, [str(o.shape) for o in op.outputs]] for op in made]
    return log + [node for node in nodes if "Boosted" in node[1]]


def predicting(tf):
    log = []
    for text in ("", TWO_TREES):
        ensemble = Ensemble(tf, text)
        log += [ensemble.predict(*FEATURES), ensemble.predict([], [])]
        for dimension in (1, 2):
            log.append(ensemble.predict([1], [2], logits_dimension=dimension))
        log.append(ensemble.predict([[0, 1], [2, 3]], [[1], [9]]))
        log.append(ensemble.predict([1, 2], [2]))
        log.append(ensemble.predict([[[1]]], [2]))
    splits = Ensemble(tf, SPLITS)
    for dimension in (2, 1, 3):
        log.append(splits.predict([2, 3, 2], [3, 3, 2], logits_dimension=dimension))
    return log


def predicting_while_training(tf):
    log = []
    n = len(FEATURES[0])
    for text in ("", TWO_TREES):
        ensemble = Ensemble(tf, text)
        log.append(ensemble.training_predict([0] * n, [0] * n, *FEATURES))
        log.append(ensemble.training_predict([0] * n, [2, 1, 3, 4, 2], *FEATURES))
        log.append(ensemble.training_predict([1] * n, [0, 1, 2, 1, 0], *FEATURES))
        log.append(ensemble.training_predict([0], [0], *FEATURES))
    vectors = Ensemble(tf, SPLITS.replace("is_finalized: true", ""))
    log.append(
        vectors.training_predict(
            [0, 0, 0], [0, 1, 0], [0, 2, 3], [3, 3, 3], logits_dimension=2
        )
    )
    pruned = Ensemble(tf, PRUNED)
    log.append(pruned.training_predict([0] * 5, [0, 1, 2, 3, 4], *FEATURES))
    return log


PRUNED = """
trees {
  nodes { bucketized_split { feature_id: 0 threshold: 4 left_id: 1 right_id: 2 }
          metadata { gain: 7.62 } }
  nodes { leaf { scalar: 1.14 } }
  nodes { leaf { scalar: 5.0 } }
}
trees { nodes { leaf { scalar: 0.0 } } }
tree_weights: 0.1
tree_weights: 1.0
tree_metadata { num_layers_grown: 2 is_finalized: true
  post_pruned_nodes_meta { new_node_id: 0 logit_change: 0.0 }
  post_pruned_nodes_meta { new_node_id: 1 logit_change: 0.0 }
  post_pruned_nodes_meta { new_node_id: 2 logit_change: 0.0 }
  post_pruned_nodes_meta { new_node_id: 1 logit_change: -0.25 }
  post_pruned_nodes_meta { new_node_id: 1 logit_change: 0.75 } }
tree_metadata { }
"""


def explaining(tf):
    log = []
    for text in (TWO_TREES,):
        ensemble = Ensemble(tf, text)
        outputs = ensemble.session.run(
            tf.raw_ops.BoostedTreesExampleDebugOutputs(
                tree_ensemble_handle=ensemble.handle,
                bucketized_features=FEATURES,
                logits_dimension=1,
            )
        )
        log.append(
            [
                str(ensemble.messages.DebugOutput.FromString(o)).splitlines()
                for o in outputs
            ]
        )
    return log


def layer(*features, **arguments):
    """What UpdateEnsemble takes: for each feature its splits, (node, gain, l, r)."""
    table = [np.array(splits, np.float64).reshape(-1, 4) for _, splits in features]
    found = {
        "feature_ids": np.array([feature for feature, _ in features], np.int32),
        "node_ids": [t[:, 0].astype(np.int32) for t in table],
        "gains": [t[:, 1].astype(np.float32) for t in table],
        "thresholds": [np.arange(3, 3 + len(t), dtype=np.int32) for t in table],
        "left_node_contribs": [t[:, 2:3].astype(np.float32) for t in table],
        "right_node_contribs": [t[:, 3:].astype(np.float32) for t in table],
        "max_depth": np.int32(2),
        "learning_rate": np.float32(0.1),
        "pruning_mode": 0,
    }
    return dict(found, **arguments)


LAYERS = [
    ([(0, [(0, 7.62, -4.3, 7.1)]), (62, [(0, 7.62, -0.9, 0.2)])], {}),
    ([(1, [(1, -1.4, -6, 5.1), (2, -0.5, -0.4, 1.1)]), (2, [(1, -0.2, 0.5, 0.7)])], {}),
    ([(5, [(0, -1.0, 0.3, 0.0)])], {"max_depth": np.int32(3)}),
    ([], {}),
    ([(5, [])], {}),
    ([(6, [(0, 2.0, 0.0, 0.4)])], {"max_depth": np.int32(3)}),
]


def growing(tf):
    log = []
    for mode in (0, 1, 2):
        ensemble = Ensemble(tf)
        for features, more in LAYERS[: 3 if mode == 1 else None]:
            arguments = layer(*features, pruning_mode=mode, **more)
            log.append(ensemble.run("UpdateEnsemble", **arguments))
            log += [ensemble.state(), ensemble.states()]
    return log


def growing_at_random(tf):
    """Deep trees, pruned in part, with the predictions of cached nodes."""
    log = []
    for mode, depth in ((0, 3), (1, 4), (2, 4), (2, 6)):
        random = np.random.RandomState(depth)
        ensemble = Ensemble(tf)
        features = random.randint(0, 9, (3, 40)).astype(np.int32)
        trees = nodes = np.zeros(40, np.int32)
        for _ in range(2 * depth + 1):
            first, last = ensemble.states()[-1]
            splits = [
                (f, list(zip(
                    np.flatnonzero(random.rand(last - first) < 0.8) + first,
                    random.randn(99) + 0.3, random.randn(99), random.randn(99))))
                for f in range(3)
            ]  # fmt: skip
            arguments = layer(*splits, pruning_mode=mode, max_depth=np.int32(depth))
            ensemble.run("UpdateEnsemble", **arguments)
            found = ensemble.training_predict(trees, nodes, *features)
            trees, nodes = (np.array(x, np.int32) for x in found[1:])
            log += [ensemble.state(), ensemble.states(), found]
        log.append(ensemble.predict(*features))
    return log


def growing_several_kinds(tf):
    log = []
    for types in ("INEQUALITY_DEFAULT_RIGHT", "EQUALITY_DEFAULT_RIGHT", "bogus"):
        ensemble = Ensemble(tf)
        for features, more in LAYERS:
            arguments = layer(*features, **more)
            counts = [len(nodes) for nodes in arguments["node_ids"]]
            arguments.update(
                pruning_mode=np.int32(2 if types.startswith("IN") else 0),
                dimension_ids=[np.arange(n, dtype=np.int32) for n in counts],
                split_types=[np.array([types] * n, "S30") for n in counts],
            )
            log.append(ensemble.run("UpdateEnsembleV2", **arguments))
            log += [ensemble.state()[1], ensemble.states()]
    arguments["left_node_contribs"] = [np.zeros((1, 2), np.float32)]
    log.append(ensemble.run("UpdateEnsembleV2", **arguments))
    return log


def centering(tf):
    log = []
    for text, steps in (
        ("", [(0.4, 0.9, 0, 0), (0.2, 0.9, 0, 0.1), (0, 1, 0, 0), (0.4, 0.9, 0.1, 0.1),
              (0.009, 0.9, 0, 0), (0.01, 1, 0, 0), (0.4, 0, 0, 0), (-3, 1, 5, 0)]),
        ("", [(0.0, 1, 0, 0)]),
        (TWO_TREES, [(-0.4, 1, 0, 0)]),
    ):  # fmt: skip
        ensemble = Ensemble(tf, text)
        for gradient, hessian, l1, l2 in steps:
            again = ensemble.run(
                "CenterBias",
                mean_gradients=floats([gradient]),
                mean_hessians=floats([hessian]),
                l1=np.float32(l1),
                l2=np.float32(l2),
            )
            log += [again, ensemble.state()]
        log.append(ensemble.run("UpdateEnsemble", **layer(*LAYERS[0][0])))
        log.append(ensemble.state())
    return log


def results(tf, kind, **arguments):
    """What an op without a resource returns, and its static shapes."""
    op = getattr(tf.raw_ops, "BoostedTrees" + kind)
    with tf.Session() as session:

        def call():
            made = op(**arguments)
            outputs = made if isinstance(made, (list, tuple)) else [made]
            flat = []
            for output in outputs:
                flat += output if isinstance(output, list) else [output]
            return [session.run(flat), [str(output.shape) for output in flat]]

        return seen(call)


SCALARS = ("l1", "l2", "tree_complexity", "min_node_weight")
REGULARIZED = [
    (0, 0, 0, 0), (0, 0.1, 0, 0), (0.1, 1, 0, 0), (0, 0, 0.1, 0), (0, 0, 0, 3.5),
    (0, 0, 0, 1e6), (0.3, 0, 0.2, 1),
]  # fmt: skip


def regularized():
    for values in REGULARIZED:
        yield {k: np.float32(v) for k, v in zip(SCALARS, values)}


def examples(count=60, logits=1, hessians=1):
    random = np.random.RandomState(count)
    return {
        "node_ids": random.randint(0, 4, count).astype(np.int32),
        "gradients": random.randn(count, logits).astype(np.float32),
        "hessians": random.rand(count, hessians).astype(np.float32),
    }


def summing(tf):
    random = np.random.RandomState(7)
    features = [random.randint(0, 3, 60).astype(np.int32) for _ in range(2)]
    sizes = {"max_splits": 4, "num_buckets": 3}
    made = examples()
    log = [
        results(tf, "MakeStatsSummary", bucketized_features_list=features,
                **dict(made, **sizes)),
        results(tf, "MakeStatsSummary", bucketized_features_list=[features[0][:9]],
                **dict(made, **sizes)),
        results(tf, "MakeStatsSummary", bucketized_features_list=[[features[0]]],
                **dict(made, **sizes)),
    ]  # fmt: skip
    for logits, hessians in ((1, 1), (2, 2), (2, 4)):
        made = examples(60, logits, hessians)
        feature = random.randint(-1, 3, (60, 2)).astype(np.int32)
        found = results(tf, "AggregateStats", feature=feature, **dict(made, **sizes))
        log.append(found[0])  # its static shape is not that of the result
        indices = np.argwhere(random.rand(60, 3) < 0.5).astype(np.int32)
        sparse = {
            "feature_indices": indices,
            "feature_values": random.randint(0, 3, len(indices)).astype(np.int32),
            "feature_shape": np.array([60, 3], np.int32),
        }
        log.append(
            results(tf, "SparseAggregateStats", **dict(made, **dict(sizes, **sparse)))
        )
    return log


def splitting(tf):
    log = []
    random = np.random.RandomState(11)
    sums = [random.randn(4, buckets, 2).astype(np.float32) for buckets in (5, 5)]
    for found in sums:
        found[..., 1] = abs(found[..., 1])
    sums[1][2] = 0
    for scalars in regularized():
        for limits in ([0, 4], [1, 2], [2, 2]):
            log.append(
                results(
                    tf,
                    "CalculateBestGainsPerFeature",
                    node_id_range=np.array(limits, np.int32),
                    stats_summary_list=sums,
                    max_splits=4,
                    **scalars,
                )
            )
    return log


def splitting_one_feature(tf):
    log = []
    random = np.random.RandomState(13)
    tied = [[[[3, 0.5], [-2, 1], [3, 0.5], [-2, 1]]],
            [[[1, 1], [1, 1], [1, 1], [0, 0]]],
            [[[0, 0], [0, 0], [0, 0], [1, 1]]], [[[0, 0]] * 4]]  # fmt: skip
    for logits, hessians in ((1, 1), (2, 2), (2, 4)):
        sums = random.randn(4, 2, 5, logits + hessians).astype(np.float32)
        sums[..., logits:] = abs(sums[..., logits:])
        if hessians > logits:  # positive definite
            sums[..., [logits, -1]] += 2
        sums[2, :, -1] = 0
        for kind in ("inequality", "equality"):
            for scalars in regularized():
                arguments = {
                    "node_id_range": np.array([0, 4], np.int32),
                    "logits_dimension": logits,
                    "split_type": kind,
                }
                arguments.update(scalars)
                for summary in (sums, np.array(tied, np.float32))[: 3 - logits]:
                    found = results(
                        tf,
                        "CalculateBestFeatureSplit",
                        stats_summary=summary,
                        **arguments,
                    )
                    log.append(found[0])  # its static shapes are not the result's
            for summary in (sums, np.array(tied, np.float32))[: 4 - 2 * logits]:
                found = results(
                    tf,
                    "SparseCalculateBestFeatureSplit",
                    stats_summary_indices=np.argwhere(summary != 0).astype(np.int32),
                    stats_summary_values=summary[summary != 0],
                    stats_summary_shape=np.array(summary.shape, np.int32),
                    **arguments,
                )
                log.append(found if kind == "equality" else found[0])
    singular = np.zeros((1, 1, 3, 6), np.float32)
    singular[0, 0, :2] = [[1, 2, 1, 1, 1, 1], [3, -1, 1, 0, 0, 1]]
    arguments.update(node_id_range=np.array([0, 1], np.int32), split_type="inequality")
    log.append(
        results(tf, "CalculateBestFeatureSplit", stats_summary=singular, **arguments)[0]
    )
    return log


def bucketizing(tf):
    values, limits = floats(-1, 0, 0.5, 1, 2, 3, 9, np.nan, np.inf), floats(0, 1, 3)
    log = []
    for several, boundaries in (
        ([values, values], [limits, floats(7)]),
        ([values], [floats()]),
        ([], []),
        ([floats()], [limits]),
        ([values, limits], [limits, limits]),
        ([floats([1, 2])], [limits]),
        ([limits], [floats([1, 2])]),
    ):
        log.append(
            results(tf, "Bucketize", float_values=several, bucket_boundaries=boundaries)
        )
    return log


def streaming(tf):
    ops, session, log = tf.raw_ops, tf.Session(), []
    prefix = "BoostedTreesQuantileStreamResource"
    handle = getattr(ops, prefix + "HandleOp")(shared_name="streams")
    other = getattr(ops, prefix + "HandleOp")(shared_name="other")
    of_handle = {"quantile_stream_resource_handle": handle}

    def ran(kind, name=None, **arguments):
        op = getattr(ops, name or prefix + kind)
        arguments = dict(of_handle, **arguments)
        log.append(seen(lambda: session.run(op(**arguments))))
        return log[-1]

    def limits(number=2):
        return ran("GetBucketBoundaries", num_features=number)

    ran("", "Is" + prefix + "Initialized")
    create = getattr(ops, prefix.replace("Quantile", "CreateQuantile", 1))
    make = {"epsilon": np.float32(0.1), "num_streams": np.int64(2)}
    create = create(max_elements=100, **dict(of_handle, **make))
    log.append(session.run(create))
    ran("", "Is" + prefix + "Initialized")
    of_handle = {"quantile_stream_resource_handle": other}
    limits()
    of_handle = {"quantile_stream_resource_handle": handle}
    limits()
    values = [floats(1, 5, 3, 3, 2, 9), floats(0, 0, 0, 1, 1, 7)]
    for weights in (
        [1] * 6,
        [0.5],
        [1, 2, 3, 4, 5, 6],
        [0, 1, 1, 1, 1, 1],
        [-1, 1] * 3,
    ):
        found = results(
            tf,
            "MakeQuantileSummaries",
            float_values=values,
            example_weights=floats(*weights),
            epsilon=np.float32(0.1),
        )
        log.append(found)
        summaries = [np.array(found, np.float32) for found in found[0]]
        for number, exact in ((3, False), (4, True), (10, True), (10, False)):
            ran("AddSummaries", summaries=summaries)
            ran("Flush", num_buckets=np.int64(number), generate_quantiles=exact)
            limits()
    ran("AddSummaries", summaries=summaries)
    ran("", "BoostedTreesFlushQuantileSummaries", num_features=2)
    ran("", "BoostedTreesFlushQuantileSummaries", num_features=2)
    limits()
    restored = [tf.placeholder_with_default(floats(1, 2), None)] * 2
    ran("Deserialize", bucket_boundaries=restored)
    limits()
    ran("Flush", num_buckets=np.int64(3))
    limits()
    return log


def streaming_long(tf):
    ops, session, log = tf.raw_ops, tf.Session(), []
    prefix = "BoostedTreesQuantileStreamResource"
    random = np.random.RandomState(3)
    create = prefix.replace("Quantile", "CreateQuantile", 1)
    for epsilon, most, size, steps in (
        (0.1, 1000, 40, 9), (0.01, 2000, 300, 5), (0.3, 10 ** 6, 25, 12),
        (0.02, 1 << 40, 1500, 4), (0.25, 50, 70, 6),
    ):  # fmt: skip
        handle = getattr(ops, prefix + "HandleOp")(shared_name="s" + str(size))
        of_handle = {"quantile_stream_resource_handle": handle}
        session.run(
            getattr(ops, create)(
                epsilon=np.float32(epsilon),
                num_streams=np.int64(1),
                max_elements=most,
                **of_handle,
            )
        )
        for exact in (True, False, None):
            for _ in range(steps):
                made = session.run(
                    ops.BoostedTreesMakeQuantileSummaries(
                        float_values=[random.randn(size).astype(np.float32).round(2)],
                        example_weights=random.rand(size).astype(np.float32),
                        epsilon=np.float32(epsilon),
                    )
                )
                log.append(plain(np.sum(made[0], axis=0, dtype=np.float64)))
                log.append(len(made[0]))
                add = getattr(ops, prefix + "AddSummaries")
                session.run(add(summaries=made, **of_handle))
            if exact is None:
                flush = ops.BoostedTreesFlushQuantileSummaries
                found = session.run(flush(num_features=1, **of_handle))[0]
                log += [len(found), plain(found[::7])]
                continue
            flush = getattr(ops, prefix + "Flush")(
                num_buckets=np.int64(20), generate_quantiles=exact, **of_handle
            )
            session.run(flush)
            get = getattr(ops, prefix + "GetBucketBoundaries")
            log.append(plain(session.run(get(num_features=1, **of_handle))))
    return log


FUNCTIONS = [
    creating, predicting, predicting_while_training, explaining, growing,
    growing_at_random, growing_several_kinds, centering, summing, splitting,
    splitting_one_feature, bucketizing, streaming, streaming_long,
]  # fmt: skip


def run(tf, function):
    with tf.Graph().as_default():
        return json.loads(json.dumps(function(tf)))


def main(path):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    found = {f.__name__: run(tf, f) for f in FUNCTIONS}
    with open(path, "w") as file:
        lines = [json.dumps(k) + ": " + json.dumps(v) for k, v in found.items()]
        file.write("{\n" + ",\n".join(sorted(lines)) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
