"""Experiments and exports of `tf.contrib.learn` in TensorFlow 1.15:
`python contrib_learn_experiment.py contrib_learn_experiment.json`.

As in `training_loops.py`; tests/lib/contrib/learn/test_contrib_learn.py compares.
"""

import os
import re
from functools import partial

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

outcome = loops.outcome


def rows(tf):
    return lambda: (
        {"x": tf.constant([[1.0], [2.0], [3.0]])},
        tf.constant([[2.0], [4.0], [6.0]]),
    )


def labeled(tf):
    return lambda: ({"x": tf.constant([[1.0], [2.0]])}, tf.constant([[1], [0]]))


def core(tf, folder, **options):
    config = tf.estimator.RunConfig(folder, tf_random_seed=1, **options)
    columns = [tf.feature_column.numeric_column("x")]
    return tf.estimator.LinearRegressor(columns, config=config)


def older(tf, folder, **options):
    config = tf.contrib.learn.RunConfig(model_dir=folder, tf_random_seed=1, **options)
    columns = [tf.contrib.layers.real_valued_column("x")]
    return tf.contrib.learn.LinearRegressor(columns, config=config)


def experiment(tf, estimator, **options):
    options = {"train_steps": 3, "eval_steps": 1, "eval_delay_secs": 0, **options}
    every = options.pop("input_fn", rows(tf))
    return tf.contrib.learn.Experiment(estimator, every, every, **options)


def rounded(value):
    if isinstance(value, dict):
        return {key: round(float(item), 4) for key, item in sorted(value.items())}
    return value


def export_utils(tf):
    if tf.__name__ == "tfteach":
        from tfteach.lib.contrib.learn import saved_model_exports as utils
    else:
        from tensorflow.contrib.learn.python.learn.utils import (
            saved_model_export_utils as utils,
        )
    return utils


class Folders:
    """Another folder for each estimator."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def __call__(self):
        self.count += 1
        path = os.path.join(self.folder, str(self.count))
        os.mkdir(path)
        return path


def recording(tf, seen):
    """Strategies that record what they are called with."""

    def all_of_it(estimator, path, checkpoint_path=None, eval_result=None):
        place = os.path.basename(path).decode()
        seen.append([place, checkpoint_path and os.path.basename(checkpoint_path),
                     rounded(eval_result)])  # fmt: skip
        return "exported"

    strategy = tf.contrib.learn.ExportStrategy
    return [strategy("a", all_of_it), strategy("b", lambda estimator, path: None)]


def once(tf, folder):
    """train_and_evaluate, train, evaluate and test, with both kinds of estimators."""
    new, found, seen = Folders(folder), [], []

    class Hook(tf.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            seen.append(self.name)

    mean = tf.contrib.metrics.streaming_mean_absolute_error
    metrics = {"mae": tf.contrib.learn.MetricSpec(mean, prediction_key="scores")}
    for estimator in (core, older):
        kind = estimator is older
        for options in (
            {"export_strategies": recording(tf, seen)},
            {"min_eval_frequency": 0},
            {"train_monitors": [Hook("train")], "eval_hooks": [Hook("evaluate")]},
            {"eval_metrics": metrics} if kind else {"eval_steps": 2},
        ):
            made = experiment(tf, estimator(tf, new()), **options)
            metrics_found, exported = made.train_and_evaluate()
            found.append([rounded(metrics_found), exported])
    made = experiment(tf, core(tf, new()), local_eval_frequency=1)
    made.extend_train_hooks([Hook("more")])
    found.append(rounded(made.local_run()[0]))
    found.append(rounded(experiment(tf, core(tf, new())).local_run()[0]))
    place = new()
    made = experiment(tf, core(tf, place), export_strategies=recording(tf, seen))
    assert made.train() is made.estimator
    found += [rounded(made.evaluate(name="q")), rounded(made.test())]
    found.append(sorted(name for name in os.listdir(place) if "eval" in name))
    found.append([made.train_steps, made.eval_steps, made.eval_metrics])
    before = made.reset_export_strategies()
    found.append([[s.name for s in before], made.reset_export_strategies()])
    return {"found": found, "seen": seen}


def again(tf, folder):
    """The loops that evaluate several times, and what ends them."""
    new, found, seen = Folders(folder), [], []

    def limit(count, asked):
        def predicate(metrics):
            asked.append(rounded(metrics))
            return len(asked) < count

        return predicate

    strategies = recording(tf, seen)
    place = new()
    made = experiment(tf, core(tf, place), export_strategies=strategies)
    made.train()
    options = {"delay_secs": 0, "throttle_delay_secs": 0}
    for count, only_once in ((1, True), (2, True), (4, True), (4, False)):
        found.append([])
        made.continuous_eval(
            evaluate_checkpoint_only_once=only_once,
            continuous_eval_predicate_fn=limit(count, found[-1]), **options,
        )  # fmt: skip
    made.continuous_eval(**options)
    made.continuous_eval_on_train_data(**options)
    endless = experiment(tf, core(tf, place), train_steps=None)
    for only_once in (True, False):
        found.append([])
        endless.continuous_eval(
            evaluate_checkpoint_only_once=only_once,
            continuous_eval_predicate_fn=limit(4, found[-1]), **options,
        )  # fmt: skip
    found.append(sorted(name for name in os.listdir(place) if "eval" in name))
    found.append([])
    unfitted = experiment(tf, older(tf, new()))
    unfitted.continuous_eval(
        continuous_eval_predicate_fn=limit(3, found[-1]), **options
    )
    made = experiment(
        tf, core(tf, new()), train_steps_per_iteration=2, export_strategies=strategies
    )
    metrics, exported = made.continuous_train_and_eval()
    found.append([rounded(metrics), exported])
    found.append([])
    made = experiment(tf, core(tf, new()), train_steps=10)
    made.continuous_train_and_eval(limit(3, found[-1]))
    found.append(outcome(lambda: made.continuous_eval(continuous_eval_predicate_fn=3)))
    found.append(outcome(lambda: made.continuous_train_and_eval(3)))
    return {"found": found, "seen": seen}


def refusals(tf, folder):
    new, learn = Folders(folder), tf.contrib.learn
    listener = tf.train.CheckpointSaverListener()
    return {"found": [
        outcome(lambda: experiment(tf, 3)),
        outcome(lambda: experiment(tf, core(tf, new()), eval_metrics={"a": 1})),
        outcome(lambda: experiment(tf, older(tf, new()), saving_listeners=[listener])),
        outcome(lambda: experiment(tf, core(tf, new()), export_strategies=[3])),
        outcome(lambda: learn.make_export_strategy(
            rows(tf), default_output_alternative_key="x").export(core(tf, new()), "x")),
    ]}  # fmt: skip


def runner(tf, folder):
    """learn_runner.run: what it calls, what it returns, and its errors."""
    new, found = Folders(folder), []
    learn, params = tf.contrib.learn, tf.contrib.training.HParams(steps=2)
    run = learn.learn_runner.run

    def in_folder(output_dir):
        return experiment(tf, core(tf, output_dir))

    def with_config(run_config, hparams):
        columns = [tf.feature_column.numeric_column("x")]
        estimator = tf.estimator.LinearRegressor(columns, config=run_config)
        steps = None if hparams is None else hparams.steps
        return experiment(tf, estimator, train_steps=steps)

    def config(**options):
        return learn.RunConfig(model_dir=new(), tf_random_seed=1, **options)

    metrics, exported = run(in_folder, new())
    found.append([rounded(metrics), exported])
    metrics, exported = run(with_config, run_config=config(), hparams=params)
    found.append([rounded(metrics), exported])
    found.append(rounded(run(in_folder, new(), "test")))
    place = new()
    for call in (
        lambda: run(in_folder, place, "nothing"),
        lambda: run(in_folder, place, "train_steps"),
        lambda: run(in_folder),
        lambda: run(in_folder, ""),
        lambda: run(3, place),
        lambda: run(in_folder, place, hparams=params),
        lambda: run(lambda output_dir: 3, place),
        lambda: run(with_config, place, run_config=config()),
        lambda: run(with_config, run_config=config(), hparams=3),
        lambda: run(with_config, run_config=3),
        lambda: run(with_config, run_config=learn.RunConfig()),
        lambda: run(with_config, run_config=tf.estimator.RunConfig(place)),
        lambda: run(lambda config, params: 3, run_config=config()),
        lambda: run(lambda run_config, hparams: in_folder(place), run_config=config()),
    ):
        found.append(outcome(call))
    return {"found": found}


def signature(value):
    def named(infos):
        return {
            key: [info.name, info.dtype, [dim.size for dim in info.tensor_shape.dim]]
            for key, info in sorted(infos.items())
        }

    return [value.method_name, named(value.inputs), named(value.outputs)]


def signed(utils, inputs, outputs, problem):
    return signature(utils.build_standardized_signature_def(inputs, outputs, problem))


def exports(tf, folder):
    """The graphs and signatures of SavedModels, and the outputs to choose from."""
    utils = export_utils(tf)
    learn, new, found = tf.contrib.learn, Folders(folder), []
    serving = learn.build_parsing_serving_input_fn(
        {"x": tf.FixedLenFeature([1], tf.float32)}
    )

    def classifier(classes):
        columns = [tf.contrib.layers.real_valued_column("x")]
        return learn.LinearClassifier(columns, new(), n_classes=classes)

    def own(features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        found = features["x"] * weight
        loss = train = None
        if labels is not None:
            loss = tf.reduce_sum(tf.square(found - labels))
        if mode == "train":
            step = tf.train.get_global_step()
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        return learn.ModelFnOps(mode, {"p": found, "q": found + 1}, loss, train)

    def raw():
        numbers = tf.placeholder(tf.float32, [None, 1], name="raw")
        return learn.InputFnOps({"x": numbers}, None, {"x": numbers})

    for make, input_fn in (
        (lambda: older(tf, new()), rows(tf)),
        (lambda: classifier(2), labeled(tf)),
        (lambda: classifier(3), labeled(tf)),
        (lambda: learn.Estimator(own, new()), rows(tf)),
    ):
        estimator = make()
        estimator.fit(input_fn=input_fn, steps=2)
        base = os.path.join(estimator.model_dir, "export")
        path = estimator.export_savedmodel(base, serving).decode()
        with tf.Graph().as_default(), tf.Session() as session:
            meta = tf.saved_model.loader.load(session, ["serve"], path)
            found.append([
                [[k, signature(v)] for k, v in sorted(meta.signature_def.items())],
                [node.name for node in meta.graph_def.node],
                sorted(meta.collection_def),
                [key.decode() for key in tf.get_collection("input_feature_keys")],
            ])  # fmt: skip
        export = estimator.export_savedmodel
        found.append(outcome(partial(export, base, serving, "no")))
        found.append(outcome(partial(export, base, None)))
        if isinstance(estimator, learn.LinearClassifier):  # serves Examples only
            found.append(outcome(partial(export, base, raw)))
    text = {"e": tf.placeholder(tf.string, [None], name="e")}
    numbers = {"n": tf.placeholder(tf.float32, [None], name="n")}
    classes = {"classes": tf.constant(["a"], name="c")}
    ids = {"classes": tf.constant([1], name="i")}
    likely = {"probabilities": tf.constant([0.1], name="p")}
    scores = {"scores": tf.constant([0.1], name="s")}
    for problem in range(4):
        for given in (text, numbers, {**text, **numbers}):
            for out in (classes, likely, scores, {**ids, **likely},
                        {**classes, **scores}, {**classes, **likely, **scores},
                        ):  # fmt: skip
                found.append(outcome(partial(signed, utils, given, out, problem)))
    for names, key in ((["a"], None), (["a"], "b"), (["a", "b"], None),
                       (["a", "b"], "b"), (None, "x"), (None, None)):  # fmt: skip
        ops = learn.ModelFnOps(
            "infer", {"p": tf.constant(1.0)},
            output_alternatives=names and dict.fromkeys(names, (1, likely)),
        )  # fmt: skip

        def alternatives(ops=ops, key=key):
            every, default = utils.get_output_alternatives(ops, key)
            return [[[k, v[0], sorted(v[1])] for k, v in every.items()], default]

        found.append(outcome(alternatives))
    return {"found": found}


def kept(tf, folder):
    """Which exports are deleted, and the names of their folders."""
    utils = export_utils(tf)
    for name in ("1000000005", "1000000012", "1000000100", "12", "other"):
        os.mkdir(os.path.join(folder, name))
    found = []
    for count in (None, 5, 2, 1):
        utils.garbage_collect_exports(folder, count)
        found.append(sorted(os.listdir(folder)))
    newest = utils.get_most_recent_export(folder)
    found.append([os.path.basename(newest.path), newest.export_version])
    found.append(utils.get_most_recent_export(os.path.join(folder, "12")))
    found.append(utils.get_temp_export_dir(b"/a/12").decode())
    made = utils.get_timestamped_export_dir(folder).decode()
    found.append(bool(re.match(r"\d{10}$", os.path.basename(made))))
    return {"found": found}


PROGRAMS = [once, again, refusals, runner, exports, kept]

if __name__ == "__main__":
    loops.main(PROGRAMS)
