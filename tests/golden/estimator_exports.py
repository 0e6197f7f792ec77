"""Models exported for several modes in TensorFlow 1.15, and loaded as Estimators.

`python estimator_exports.py estimator_exports.json`; as in `training_loops.py`.
tests/lib/estimator/test_estimator_exports.py compares.
"""

import os

try:
    from tests.golden import estimators
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import estimators
    import training_loops as loops

X, Y, inputs = estimators.X, estimators.Y, estimators.inputs


def receivers(tf):
    """The receivers of all modes."""
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None])
    raw = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
    supervised = raw({"x": x}, y)
    served = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})
    return {"infer": served, "train": supervised, "eval": supervised}


def described(tf, path, tags):
    """What a MetaGraph of a SavedModel holds."""
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, tags, path)
        values = [
            round(float(v), 4) for v in session.run(graph.get_tensor_by_name("w:0"))
        ]
    signatures = {
        key: [s.method_name, {k: v.name for k, v in s.inputs.items()},
              {k: v.name for k, v in s.outputs.items()}]
        for key, s in meta.signature_def.items()
    }  # fmt: skip
    nodes = [node.name for node in meta.graph_def.node]
    # TensorFlow lists None as the train op of a model that predicts.
    collections = sorted({*meta.collection_def} - {"saved_model_train_op"})
    return [
        list(meta.meta_info_def.tags),
        signatures,
        nodes,
        collections,
        [round(float(v), 4) for v in values],
    ]


def trained(tf, folder):
    """An Estimator trained for two steps, and its model exported for all modes."""
    made = estimators.estimator(tf, os.path.join(folder, "first"))
    made.train(inputs(tf), steps=2)
    place = os.path.join(folder, "exports")
    path = made.experimental_export_all_saved_models(place, receivers(tf))
    return made, path.decode()


def trained_on(tf, path, folder, steps=3):
    """Results of a SavedModel trained on, predictions, and the path of its export."""
    made = tf.contrib.estimator.SavedModelEstimator(path, folder)
    if steps:
        made.train(inputs(tf), steps=steps)
    results = made.evaluate(inputs(tf, 1))
    rows = [float(row["value"]) for row in made.predict(inputs(tf, 1))]
    again = made.experimental_export_all_saved_models(
        os.path.join(folder, "exports"), receivers(tf)
    ).decode()
    return {key: float(value) for key, value in results.items()}, rows, again


def modes(tf, folder):
    """Exports for one mode, and for all."""
    made, path = trained(tf, folder)
    found = [described(tf, path, [tag]) for tag in ("train", "eval", "serve")]
    for mode, receiver in sorted(receivers(tf).items()):
        place = os.path.join(folder, "exports", mode)
        one = made.export_saved_model(place, receiver, experimental_mode=mode).decode()
        tag = "serve" if mode == "infer" else mode
        found.append(described(tf, one, [tag])[:2])
    return {"found": found, "files": loops.files(path)}


def refused_exports(tf, folder):
    made = estimators.estimator(tf, folder)
    known = receivers(tf)
    every = made.experimental_export_all_saved_models
    one = made.export_saved_model
    place = os.path.join(folder, "exports")
    found = [loops.outcome(lambda: one(place, known["infer"]))]
    made.train(inputs(tf), steps=1)

    def other(features, labels, mode):
        tf.Variable(1.0, name="absent")
        step = tf.train.get_global_step()
        return tf.estimator.EstimatorSpec(
            mode, tf.constant(1.0), tf.constant(1.0), tf.assign_add(step, 1)
        )

    changed = tf.estimator.Estimator(other, folder)
    for call in (
        lambda: every(place, {}), lambda: every(place, {"infer": None}),
        lambda: every(place, {"other": known["infer"]}), lambda: one(place, None),
        lambda: one(place, known["train"], experimental_mode="other"),
        lambda: one(place, known["infer"], experimental_mode="train"),
        lambda: every(place, known, checkpoint_path=os.path.join(folder, "absent")),
    ):  # fmt: skip
        found.append(loops.outcome(call))
    error = loops.outcome(lambda: changed.export_saved_model(place, known["infer"]))
    found.append([error[0], error[1].split("Full Traceback")[0]])
    return {"found": found}


def supervised_outputs(tf, folder):
    """The names of losses, predictions and metrics in signatures."""
    if tf.__name__ == "tfteach":
        from tfteach.lib.estimator import supervised_output as output
        from tfteach.lib.estimator.export_outputs import PredictOutput
    else:
        from tensorflow_estimator.python.estimator.export import export_output as output

        PredictOutput = output.PredictOutput

    def one():
        return tf.constant(1.0)

    def named(**given):
        made = output.TrainOutput(given.pop("loss", None) or one(), **given)
        signature = made.as_signature_def({"x": one()})
        names = sorted((key, value.name) for key, value in signature.outputs.items())
        return [signature.method_name, names]

    pair = one(), one()
    calls = [
        lambda: named(predictions=one(), metrics={"m": pair}),
        lambda: named(
            loss={"a": one(), "loss": one(), "lossy": one(), ("x", "y"): one()},
            predictions={"p": one(), ("a", "b"): one(), "predictions/q": one()},
            metrics={"m": pair, ("u", "v"): pair, "metrics": pair, "metricsx": pair},
        ),
        lambda: named(predictions={"a": one(), "predictions/a": one()}),
        lambda: named(metrics={"m": (one(), tf.no_op(name="update"))}),
        lambda: sorted(output.EvalOutput().as_signature_def({"x": one()}).outputs),
        lambda: output.EvalOutput(1.0),
        lambda: output.EvalOutput({1: one()}),
        lambda: output.EvalOutput(one(), 1.0),
        lambda: output.EvalOutput(one(), {1: one()}),
        lambda: output.EvalOutput(one(), None, {"a": (1.0, one())}),
        lambda: output.EvalOutput(one(), None, {"a": (one(), 1.0)}),
        lambda: output.EvalOutput(one(), None, {3: pair}),
        lambda: output.EvalOutput(one(), None, {"a": (pair, one())}).metrics,
        lambda: sorted(PredictOutput({("a", "b"): one(), "c": one()}).outputs),
    ]  # fmt: skip
    found = [loops.outcome(call) for call in calls]
    graph = tf.get_default_graph()
    wrapper = graph.get_operation_by_name("metric_op_wrapper")
    found.append([op.name for op in wrapper.control_inputs])
    return {"found": found}


def default_outputs(tf, folder):
    """The outputs of EstimatorSpecs."""
    spec, one = tf.estimator.EstimatorSpec, tf.constant([1.0])
    exported = tf.estimator.export.PredictOutput(one)

    def outputs(*arguments, **options):
        found = spec(*arguments, **options).export_outputs
        return found and sorted(
            [key, sorted(out.outputs)] for key, out in found.items()
        )

    step, loss = tf.no_op(), tf.constant(1.0)
    calls = [
        lambda: outputs("infer", one),
        lambda: outputs("infer", {"a": one, ("b", "c"): one}),
        lambda: outputs("infer", {}),
        lambda: outputs("infer", {3: one}),
        lambda: outputs("infer", one, export_outputs={"a": exported}),
        lambda: outputs("infer", one, export_outputs={"a": exported, "b": exported}),
        lambda: outputs("infer", one, export_outputs=3),
        lambda: outputs("infer", one, export_outputs={"a": 3}),
        lambda: outputs("train", one, loss, step),
        lambda: outputs("train", one, loss, step, export_outputs={"a": exported}),
        lambda: spec("train", one, loss, step, export_outputs=3).export_outputs,
        lambda: spec("eval", one, loss, eval_metric_ops={"m": [one, one]}),
        lambda: sorted(
            spec("eval", one, loss, eval_metric_ops={"m": ((one, (one, loss)), step)})
            .eval_metric_ops
        ),
    ]  # fmt: skip
    return {"found": [loops.outcome(call) for call in calls]}


def reloaded(tf, folder):
    """A SavedModelEstimator trains on, evaluates, predicts, and is exported again."""
    _, path = trained(tf, folder)
    make = tf.contrib.estimator.SavedModelEstimator
    made = make(path, os.path.join(folder, "second"))
    seen = {}

    class Record(tf.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            operations = tf.get_default_graph().get_operations()
            seen[self.name] = [f"{op.name}: {op.type}" for op in operations]

    def results(found):
        return {key: round(float(value), 4) for key, value in found.items()}

    found = [results(made.evaluate(inputs(tf, 1), hooks=[Record("eval")]))]
    made.train(inputs(tf), steps=3, hooks=[Record("train")])
    found.append(results(made.evaluate(inputs(tf, 1))))
    rows = list(made.predict(inputs(tf, 1), hooks=[Record("infer")]))
    found.append([round(float(row["value"]), 4) for row in rows])
    found.append(made.get_variable_names())
    again = made.experimental_export_all_saved_models(
        os.path.join(folder, "exports", "again"), receivers(tf)
    ).decode()
    found += [described(tf, again, [tag]) for tag in ("train", "eval", "serve")]
    third = make(again, os.path.join(folder, "third"))
    found.append(results(third.evaluate(inputs(tf, 1))))
    return {"found": found, "nodes": seen}


def refused_reloads(tf, folder):
    made, path = trained(tf, folder)
    make = tf.contrib.estimator.SavedModelEstimator
    place = os.path.join(folder, "exports", "one")
    one = made.export_saved_model(place, receivers(tf)["infer"]).decode()
    served = make(one, os.path.join(folder, "second"))
    loaded = make(path, os.path.join(folder, "third"))

    def train(features, labels=None):
        def input_fn():
            given = features()
            return given if labels is None else (given, labels())

        kind, text = loops.outcome(lambda: loaded.train(input_fn, steps=1))
        return [kind, text.split(" All required keys")[0]]

    def number(dtype=tf.float32, shape=(1, 2)):
        return tf.zeros(shape, dtype)

    def stepped():
        tf.train.get_or_create_global_step()
        return {"x": number()}

    def labels():
        return number(shape=[1])

    found = [
        loops.outcome(lambda: served.train(inputs(tf), steps=1)),
        loops.outcome(lambda: served.evaluate(inputs(tf, 1))),
        [round(float(row["value"]), 4) for row in served.predict(inputs(tf, 1))],
        loops.outcome(lambda: make(os.path.join(folder, "absent"))),
        train(lambda: {"y": number()}, labels), train(number, labels),
        train(lambda: {"x": number(shape=[1])}, labels),
        train(lambda: {"x": number(tf.int32)}, labels),
        train(lambda: {"x": number(tf.int32, [1])}, labels),
        train(lambda: {"x": number()}),
        train(lambda: {"x": number()}, lambda: {"other": labels()}),
        train(lambda: {"x": number()}, number), train(stepped, labels),
    ]  # fmt: skip
    return {"found": found}


def overridden(tf, folder):
    """Estimators' subclasses, and the checkpoints to start from."""
    build = estimators.model_fn(tf)

    class Allowed(tf.estimator.Estimator):
        def predict_probabilities(self):
            return None

    class Refused(tf.estimator.Estimator):
        def train(self):
            return None

    class Several(tf.estimator.Estimator):
        config = 3

        def predict(self):
            return None

        def export_saved_model(self):
            return None

    found = [type(Allowed(build, folder, params={})).__name__]
    for kind in (Refused, Several):
        error, text = loops.outcome(lambda kind=kind: kind(build, folder, params={}))
        found.append(
            [error, sorted(text.split("override ")[-1].strip("[]").split(", "))]
        )
    made, path = trained(tf, folder)
    for start in (path, path.encode(), made.model_dir):
        begun = tf.estimator.Estimator(
            build, os.path.join(folder, "other"), params={"rate": 0.0},
            warm_start_from=start,
        )  # fmt: skip
        place = os.path.join(folder, "exports", "begun")
        exported = begun.export_saved_model(place, receivers(tf)["infer"]).decode()
        found.append(described(tf, exported, ["serve"])[-1])
    return {"found": found}


PROGRAMS = [
    modes, refused_exports, supervised_outputs, default_outputs, reloaded,
    refused_reloads, overridden,
]  # fmt: skip


def run(tf, program):
    found = loops.run(tf, program)
    found["log"] = [line for line in found["log"] if "Using config" not in line]
    return found


if __name__ == "__main__":
    loops.main(PROGRAMS, run)
