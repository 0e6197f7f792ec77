"""DNNClassifier on the iris columns, fed in three ways, and a custom Estimator."""

import tempfile

import numpy as np
import tensorflow as tf

CSV_COLUMN_NAMES = ["SepalLength", "SepalWidth", "PetalLength", "PetalWidth", "Species"]
SPECIES = ["Setosa", "Versicolor", "Virginica"]
MEANS = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
SPREADS = np.array([[0.35, 0.38, 0.17, 0.1], [0.5, 0.3, 0.47, 0.2], [0.6, 0.3, 0.55, 0.3]])


def load_data(seed=0):
    """Flowers drawn from the species' means and spreads: (train, test)."""
    random = np.random.RandomState(seed)
    species = random.randint(0, 3, 150)
    values = MEANS[species] + SPREADS[species] * random.standard_normal((150, 4))
    values = np.round(values, 1).astype(np.float32)
    features = {
        name: values[:, i] for i, name in enumerate(CSV_COLUMN_NAMES[:-1])
    }
    train = {k: v[:120] for k, v in features.items()}, species[:120]
    return train, ({k: v[120:] for k, v in features.items()}, species[120:])


def train_input_fn(features, labels, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices((dict(features), labels))
    return dataset.shuffle(1000, seed=5).repeat().batch(batch_size)


def eval_input_fn(features, labels, batch_size):
    inputs = dict(features) if labels is None else (dict(features), labels)
    return tf.data.Dataset.from_tensor_slices(inputs).batch(batch_size)


def parse_line(line):
    fields = tf.decode_csv(line, [[0.0], [0.0], [0.0], [0.0], [0]])
    features = dict(zip(CSV_COLUMN_NAMES, fields))
    return features, features.pop("Species")


class LossHistory(tf.train.SessionRunHook):
    """Keeps the loss of every 20th step."""

    def __init__(self):
        self.losses = []

    def begin(self):
        self.loss = tf.losses.get_losses()[-1]
        self.step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))

    def __str__(self):
        return " ".join("%.4f" % loss for loss in self.losses[::20])


def my_model(features, labels, mode, params):
    net = tf.feature_column.input_layer(features, params["feature_columns"])
    for units in params["hidden_units"]:
        net = tf.layers.dense(net, units=units, activation=tf.nn.relu)
    logits = tf.layers.dense(net, params["n_classes"], activation=None)
    predicted_classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {
            "class_ids": predicted_classes[:, tf.newaxis],
            "probabilities": tf.nn.softmax(logits),
        }
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.metrics.accuracy(labels, predicted_classes, name="acc_op")
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"accuracy": accuracy}
        )
    optimizer = tf.train.AdagradOptimizer(learning_rate=0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def show(name, results):
    print(name, " ".join("%s=%.5f" % pair for pair in sorted(results.items())))


def main(argv):
    (train_x, train_y), (test_x, test_y) = load_data()
    my_feature_columns = [
        tf.feature_column.numeric_column(key=key) for key in train_x.keys()
    ]
    config = tf.estimator.RunConfig(model_dir=tempfile.mkdtemp(), tf_random_seed=11)

    # A Dataset.
    classifier = tf.estimator.DNNClassifier(
        feature_columns=my_feature_columns, hidden_units=[10, 10], n_classes=3,
        config=config,
    )
    history = LossHistory()
    classifier.train(lambda: train_input_fn(train_x, train_y, 30), [history], steps=200)
    print("losses", history)
    show("dataset", classifier.evaluate(lambda: eval_input_fn(test_x, test_y, 30)))
    print(sorted(classifier.get_variable_names()))

    predict_x = {
        "SepalLength": [5.1, 5.9, 6.9],
        "SepalWidth": [3.3, 3.0, 3.1],
        "PetalLength": [1.7, 4.2, 5.4],
        "PetalWidth": [0.5, 1.5, 2.1],
    }
    predictions = classifier.predict(lambda: eval_input_fn(predict_x, None, 30))
    for pred_dict, expected in zip(predictions, SPECIES):
        class_id = pred_dict["class_ids"][0]
        probability = pred_dict["probabilities"][class_id]
        print('Prediction is "%s" (%.2f%%), expected "%s"'
              % (SPECIES[class_id], 100 * probability, expected))

    # Arrays.
    classifier = tf.estimator.DNNClassifier(
        [10, 10], my_feature_columns, n_classes=3, dropout=0.1,
        optimizer=tf.train.AdamOptimizer(0.01),
        config=config.replace(model_dir=tempfile.mkdtemp()),
    )
    numpy_fn = tf.estimator.inputs.numpy_input_fn
    history = LossHistory()
    classifier.train(
        numpy_fn(train_x, train_y, 30, num_epochs=None, shuffle=False), [history], 100
    )
    print("losses", history)
    test_fn = numpy_fn(test_x, test_y, num_epochs=1, shuffle=False)
    show("arrays", classifier.evaluate(test_fn))

    # A file, with species by name, and predictions of a batch at once.
    path = tempfile.mkdtemp() + "/iris_training.csv"
    with open(path, "w") as file:
        file.write("120,4,setosa,versicolor,virginica\n")
        for i, species in enumerate(train_y):
            values = [train_x[name][i] for name in CSV_COLUMN_NAMES[:-1]]
            file.write(",".join("%.1f" % value for value in values))
            file.write(",%d\n" % species)

    def file_input_fn():
        lines = tf.data.TextLineDataset(path).skip(1).map(parse_line)
        lines = lines.map(lambda x, y: (x, tf.gather(SPECIES, y)))
        return lines.shuffle(500, seed=1).repeat(5).batch(16)

    classifier = tf.estimator.LinearClassifier(
        my_feature_columns, n_classes=3, label_vocabulary=SPECIES,
        config=config.replace(model_dir=tempfile.mkdtemp()),
    )
    history = LossHistory()
    classifier.train(file_input_fn, [history])
    print("losses", history)
    test_fn = numpy_fn(test_x, np.array(SPECIES)[test_y], num_epochs=1, shuffle=False)
    show("file", classifier.evaluate(test_fn))
    batch = next(
        classifier.predict(
            lambda: eval_input_fn(predict_x, None, 3), ["classes", "logits"],
            yield_single_examples=False,
        )
    )
    print(batch["classes"].ravel(), np.round(batch["logits"], 3))

    # The model as a function of one's own.
    classifier = tf.estimator.Estimator(
        model_fn=my_model,
        params={
            "feature_columns": my_feature_columns,
            "hidden_units": [10, 10],
            "n_classes": 3,
        },
        config=config.replace(model_dir=tempfile.mkdtemp()),
    )
    classifier.train(lambda: train_input_fn(train_x, train_y, 30), steps=100)
    show("custom", classifier.evaluate(lambda: eval_input_fn(test_x, test_y, 30)))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run(main)
