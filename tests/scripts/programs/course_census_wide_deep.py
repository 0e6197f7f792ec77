"""Wide models, and wide and deep models of the census columns, read from CSV files."""

import os
import tempfile

import numpy as np
import tensorflow as tf

_CSV_COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status",
    "occupation", "relationship", "race", "gender", "capital_gain", "capital_loss",
    "hours_per_week", "native_country", "income_bracket",
]  # fmt: skip
_CSV_COLUMN_DEFAULTS = [
    [0], [""], [0], [""], [0], [""], [""], [""], [""], [""], [0], [0], [0], [""], [""]
]  # fmt: skip
_HASH_BUCKET_SIZE = 100
EDUCATION = [
    "Bachelors", "HS-grad", "11th", "Masters", "9th", "Some-college", "Assoc-acdm",
    "Assoc-voc", "7th-8th", "Doctorate", "Prof-school", "5th-6th", "10th", "1st-4th",
    "Preschool", "12th",
]  # fmt: skip
MARITAL = [
    "Married-civ-spouse", "Divorced", "Married-spouse-absent", "Never-married",
    "Separated", "Married-AF-spouse", "Widowed",
]  # fmt: skip
RELATIONSHIP = [
    "Husband", "Not-in-family", "Wife", "Own-child", "Unmarried", "Other-relative"
]  # fmt: skip
WORKCLASS = [
    "Self-emp-not-inc", "Private", "State-gov", "Federal-gov", "Local-gov", "?",
    "Self-emp-inc", "Without-pay", "Never-worked",
]  # fmt: skip
OCCUPATION = ["Tech-support", "Craft-repair", "Sales", "Exec-managerial", "?", "Other"]


def write_census(path, rows, seed):
    """People of whom age, education and hours say something about their income."""
    random = np.random.RandomState(seed)
    with open(path, "w") as file:
        for _ in range(rows):
            age = random.randint(17, 80)
            education = random.randint(len(EDUCATION))
            hours = random.randint(10, 70)
            occupation = random.randint(len(OCCUPATION))
            score = age / 40.0 + hours / 40.0 + (education in (0, 3, 9, 10)) * 1.5
            rich = score + (occupation == 3) + random.standard_normal() * 0.4 > 3.1
            row = [
                age, WORKCLASS[random.randint(len(WORKCLASS))], 77516,
                EDUCATION[education], 16 - education,
                MARITAL[random.randint(len(MARITAL))], OCCUPATION[occupation],
                RELATIONSHIP[random.randint(len(RELATIONSHIP))], "White",
                ["Male", "Female"][random.randint(2)],
                random.randint(9999) if random.randint(10) == 0 else 0, 0, hours,
                "United-States", ">50K" if rich else "<=50K",
            ]  # fmt: skip
            file.write(", ".join(str(value) for value in row).replace(", ", ",") + "\n")


def build_model_columns():
    fc = tf.feature_column
    age = fc.numeric_column("age")
    education_num = fc.numeric_column("education_num")
    capital_gain = fc.numeric_column(
        "capital_gain", normalizer_fn=lambda x: tf.log1p(tf.to_float(x))
    )
    hours_per_week = fc.numeric_column("hours_per_week")
    education = fc.categorical_column_with_vocabulary_list("education", EDUCATION)
    marital_status = fc.categorical_column_with_vocabulary_list(
        "marital_status", MARITAL
    )
    relationship = fc.categorical_column_with_vocabulary_list(
        "relationship", RELATIONSHIP
    )
    workclass = fc.categorical_column_with_vocabulary_list("workclass", WORKCLASS)
    occupation = fc.categorical_column_with_hash_bucket(
        "occupation", hash_bucket_size=_HASH_BUCKET_SIZE
    )
    age_buckets = fc.bucketized_column(
        age, boundaries=[18, 25, 30, 35, 40, 45, 50, 55, 60, 65]
    )
    base_columns = [
        education, marital_status, relationship, workclass, occupation, age_buckets
    ]  # fmt: skip
    crossed_columns = [
        fc.crossed_column(["education", "occupation"], _HASH_BUCKET_SIZE),
        fc.crossed_column([age_buckets, "education", "occupation"], _HASH_BUCKET_SIZE),
    ]
    deep_columns = [
        age, education_num, capital_gain, hours_per_week,
        fc.indicator_column(workclass), fc.indicator_column(education),
        fc.indicator_column(marital_status), fc.indicator_column(relationship),
        fc.embedding_column(occupation, dimension=8),
    ]  # fmt: skip
    return base_columns + crossed_columns, deep_columns


def build_estimator(model_dir, model_type, wide_columns, deep_columns):
    hidden_units = [20, 10]
    run_config = tf.estimator.RunConfig(model_dir, tf_random_seed=42).replace(
        session_config=tf.ConfigProto(device_count={"GPU": 0})
    )
    if model_type == "wide":
        return tf.estimator.LinearClassifier(
            model_dir=model_dir, feature_columns=wide_columns,
            optimizer=tf.train.FtrlOptimizer(
                learning_rate=0.1, l1_regularization_strength=1.0,
                l2_regularization_strength=1.0,
            ),
            config=run_config,
        )  # fmt: skip
    if model_type == "deep":
        return tf.estimator.DNNClassifier(
            model_dir=model_dir, feature_columns=deep_columns,
            hidden_units=hidden_units, config=run_config,
        )  # fmt: skip
    return tf.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir, linear_feature_columns=wide_columns,
        dnn_feature_columns=deep_columns, dnn_hidden_units=hidden_units,
        config=run_config,
    )  # fmt: skip


def input_fn(data_file, num_epochs, shuffle, batch_size):
    def parse_csv(value):
        columns = tf.decode_csv(value, record_defaults=_CSV_COLUMN_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        labels = features.pop("income_bracket")
        return features, tf.equal(labels, ">50K")

    dataset = tf.data.TextLineDataset(data_file)
    if shuffle:
        dataset = dataset.shuffle(buffer_size=200, seed=3)
    dataset = dataset.map(parse_csv, num_parallel_calls=5)
    return dataset.repeat(num_epochs).batch(batch_size)


class PrintLoss(tf.train.LoggingTensorHook):
    """Prints the mean loss of an example now and then."""

    def __init__(self, every):
        name = "head/truediv"
        super(PrintLoss, self).__init__({"loss": name}, every_n_iter=every)

    def begin(self):
        graph = tf.get_default_graph()
        names = [op.name for op in graph.get_operations()]
        name = [n for n in names if n.endswith("head/truediv")][0]
        self._tensors = {"loss": name + ":0"}
        super(PrintLoss, self).begin()

    def _log_tensors(self, tensor_values):
        print("  loss %.5f" % tensor_values["loss"])


def run(model_type, train_file, test_file, rounds=1):
    wide_columns, deep_columns = build_model_columns()
    model = build_estimator(tempfile.mkdtemp(), model_type, wide_columns, deep_columns)
    for _ in range(rounds):
        model.train(
            input_fn=lambda: input_fn(train_file, 2, True, 40), hooks=[PrintLoss(12)]
        )
        results = model.evaluate(input_fn=lambda: input_fn(test_file, 1, False, 40))
        print(model_type)
        for key in sorted(results):
            print("  %s: %.5f" % (key, results[key]))
    predictions = model.predict(lambda: input_fn(test_file, 1, False, 40))
    first = [next(predictions) for _ in range(5)]
    print(["%.4f %s" % (p["logistic"][0], p["classes"][0].decode()) for p in first])

    columns = wide_columns if model_type == "wide" else deep_columns
    if model_type == "wide_deep":
        columns = wide_columns + deep_columns
    feature_spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(feature_spec)
    path = model.export_savedmodel(tempfile.mkdtemp(), receiver)
    predict = tf.contrib.predictor.from_saved_model(path, "predict")
    example = tf.train.Example()
    feature = example.features.feature
    for key, number in (("age", 38), ("education_num", 13), ("capital_gain", 100),
                        ("hours_per_week", 50)):
        feature[key].float_list.value.append(number)
    for key, word in (("education", "Masters"), ("occupation", "Sales"),
                      ("marital_status", "Divorced"), ("relationship", "Wife"),
                      ("workclass", "Private")):
        feature[key].bytes_list.value.append(word.encode())
    served = predict({"examples": [example.SerializeToString()]})
    print(np.round(served["probabilities"], 4), served["classes"])


def main(_):
    folder = tempfile.mkdtemp()
    train_file = os.path.join(folder, "adult.data")
    test_file = os.path.join(folder, "adult.test")
    write_census(train_file, 240, seed=1)
    write_census(test_file, 120, seed=2)
    run("wide", train_file, test_file)
    run("wide_deep", train_file, test_file, rounds=2)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
