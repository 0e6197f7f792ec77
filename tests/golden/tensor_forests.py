"""Random forests in TensorFlow 1.15: `python tensor_forests.py tensor_forests.json`.

tests/lib/contrib/tensor_forest/test_tensor_forest.py compares: hyperparameters, graphs,
and the names in checkpoints.  TensorFlow's trees differ from run to run, even with
seeds.
"""

import json
import sys


def forest(tf, **options):
    arguments = {"num_classes": 3, "num_features": 4, "num_trees": 2, "max_nodes": 50}
    arguments.update(options)
    if "tfteach" in tf.__name__:
        made = tf.contrib.tensor_forest.python.tensor_forest
    else:
        from tensorflow.contrib.tensor_forest.python import tensor_forest as made
    return made, made.ForestHParams(**arguments).fill()


def hyperparameters(tf):
    found = []
    for options in (
        {}, {"num_features": 784, "num_classes": 10}, {"split_after_samples": 20},
        {"feature_bagging_fraction": 0.5, "num_splits_to_consider": 3},
    ):  # fmt: skip
        module, params = forest(tf, **options)
        values = {k: v for k, v in vars(params).items() if k != "bagged_features"}
        message = module.build_params_proto(params).SerializeToString()
        found.append([values, list(bytearray(message))])
    return found


def graph(tf):
    module, params = forest(tf)
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.int32, [None])
    graphs = module.RandomForestGraphs(params)
    outputs = [graphs.training_loss(x, y), *graphs.inference_graph(x)]
    train = graphs.training_graph(x, y)
    saved = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    operations = tf.get_default_graph().get_operations()
    return {
        "outputs": [[o.name, o.dtype.name, str(o.shape)] for o in outputs],
        "train": [train.name, sorted(c.name for c in train.control_inputs)],
        "saved": [[s.name, [spec.name for spec in s.specs]] for s in saved],
        "resources": [r.handle.name for r in tf.get_collection("resources")],
        "nodes": [
            [o.name, o.type, o.device, [i.op.type for i in o.inputs]]
            for o in operations
            if "Tree" in o.type or "Fertile" in o.type or "ProcessInput" in o.type
            or "UpdateModel" in o.type
        ],
    }  # fmt: skip


FUNCTIONS = [hyperparameters, graph]


def run(tf, function):
    with tf.Graph().as_default():
        return json.loads(json.dumps(function(tf)))


def main(path):
    import tensorflow as tf
    from tensorflow.contrib.tensor_forest.python import tensor_forest  # noqa: F401

    found = {f.__name__: run(tf, f) for f in FUNCTIONS}
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
