"""Canned estimators that begin here continue in TensorFlow, and the other way round."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import canned_runs

# Asks an exported model; trains an estimator to some global steps, each evaluated.
PROGRAM = """
import json, sys
import tensorflow as tf
import canned_runs

folder, kind, exported, *steps = sys.argv[1:]
predict = tf.contrib.predictor.from_saved_model(exported, "predict")
served = predict({"x": canned_runs.X, "word": canned_runs.WORDS})
found = [{"logits": served["logits"]}]
for last in map(int, steps):
    made = canned_runs.estimators(tf, folder)[kind]
    made.train(canned_runs.dataset(tf), max_steps=last)
    found.append(made.evaluate(canned_runs.dataset(tf, 1)))
print(json.dumps(canned_runs.rounded(found)))
"""


def close(results):
    return {key: pytest.approx(value, rel=1e-4) for key, value in results.items()}


def ours(folder, kind, last):
    """The evaluation, predicted logits, and the path of the exported model."""
    made = canned_runs.estimators(tf, folder)[kind]
    made.train(canned_runs.dataset(tf), max_steps=last)
    results = canned_runs.rounded(made.evaluate(canned_runs.dataset(tf, 1)))
    rows = made.predict(canned_runs.dataset(tf, 1))
    logits = [canned_runs.rounded(row["logits"]) for row in rows]
    with tf.Graph().as_default():
        given = {
            "x": tf.placeholder(tf.float32, [None, 2]),
            "word": tf.placeholder(tf.string, [None]),
        }
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(given)
        path = made.export_saved_model(folder + "_exports", receiver)
    tf.summary.FileWriterCache.clear()
    return results, logits, path.decode()


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["baseline", "linear", "dnn", "combined"])
def test_a_model_goes_on(tmp_path, tensorflow, kind):
    folder = str(tmp_path / "logs")

    def theirs(exported, *steps):
        place = Path(canned_runs.__file__).parent
        words = (folder, kind, exported, *map(str, steps))
        printed = tensorflow.run(PROGRAM, *words, folder=place)
        return json.loads(printed.splitlines()[-1])

    results, logits, path = ours(folder, kind, 4)
    # At 4 it is already there: it only evaluates.
    served, evaluated, trained = theirs(path, 4, 8)
    assert evaluated == close(results)
    for mine, other in zip(logits, served["logits"], strict=True):
        assert other == pytest.approx(mine, rel=1e-4, abs=1e-5)
    assert trained["global_step"] == 8
    assert ours(folder, kind, 8)[0] == close(trained)
    results, _, path = ours(folder, kind, 10)
    assert theirs(path, 10)[1] == close(results)
