"""Programs with distribution strategies, in real TF 1.15, on two CPUs.

`python -m tests.golden.distribution`, with TensorFlow's Python, records what they
return.
"""

import json
from pathlib import Path

import numpy as np

PATH = Path(__file__).with_suffix(".json")
DEVICES = ["/cpu:0", "/cpu:1"]


def session(tf):
    config = tf.ConfigProto(device_count={"CPU": 2})
    made = tf.Session(config=config)
    made.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return made


def strategy(tf):
    return tf.distribute.MirroredStrategy(DEVICES)


def contexts(tf):
    """Which strategy and which replica a block is in."""
    of, found = tf.distribute, []

    def here():
        context = of.get_replica_context()
        found.append([
            of.has_strategy(), of.in_cross_replica_context(),
            of.get_strategy().num_replicas_in_sync, context is None,
        ])  # fmt: skip

    def merged(where):
        here()
        return where.num_replicas_in_sync

    def replica():
        here()
        count = of.get_replica_context().merge_call(merged)
        here()
        return count

    here()
    own = strategy(tf)
    with own.scope():
        here()
        found.append(own.experimental_run_v2(replica))
    found.append(list(own.extended.worker_devices))
    return found


def variables(tf):
    """Names, devices and collections of mirrored variables."""
    with strategy(tf).scope(), tf.name_scope("outer"):
        made = [
            tf.get_variable("v", [2], initializer=tf.ones_initializer()),
            tf.Variable(3.0, name="w", trainable=False),
            tf.Variable(lambda: 4.0, collections=["mine"], trainable=False),
        ]
    found = [
        [v.name, [c.name for c in v.values], [c.device for c in v.values],
         v.dtype.name, v.shape.as_list()] for v in made
    ]  # fmt: skip
    keys = "variables", "trainable_variables", "mine"
    found.append([[v.name for v in tf.get_collection(k)] for k in keys[::2]])
    found.append(tf.get_collection(keys[1])[0] is made[0])
    found.append(made[0].initializer.type)
    return found


def training(tf, folder):
    """Adam's steps with two replicas; the checkpoint; what is restored."""
    own = strategy(tf)
    rows = np.arange(8, dtype=np.float32)
    with own.scope():
        w = tf.Variable(3.0, name="w")
        data = tf.data.Dataset.from_tensor_slices(rows).batch(4)
        iterator = own.make_dataset_iterator(data)
        optimizer = tf.train.AdamOptimizer(0.1)
        table = tf.get_variable("table", [3, 1], initializer=tf.ones_initializer())

        def step(x):
            context = tf.distribute.get_replica_context()
            y = tf.layers.dense(
                tf.reshape(x, [-1, 1]), 1, kernel_initializer=tf.ones_initializer()
            )
            index = context.replica_id_in_sync_group
            rows = tf.nn.embedding_lookup(table, [index, 2])
            loss = tf.reduce_mean(tf.square(y)) + w + tf.reduce_sum(tf.square(rows))
            with tf.control_dependencies([loss]):  # which reads before the update
                train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
            with tf.control_dependencies([train]):
                return tf.identity(loss), x

        losses, xs = own.experimental_run(step, iterator)
        reduced = [
            own.reduce(tf.distribute.ReduceOp.SUM, losses),
            own.reduce("mean", losses),
            own.reduce(tf.distribute.ReduceOp.SUM, xs, axis=0),
            own.reduce(tf.distribute.ReduceOp.MEAN, xs, axis=0),
        ]
        initialize = iterator.initialize()
    found = [sorted(v.name for v in tf.global_variables())]
    saver = tf.train.Saver()
    with session(tf) as one:
        one.run(initialize)
        for _ in range(2):
            results = one.run([*reduced, own.experimental_local_results(xs)])
            found.append([np.asarray(value).tolist() for value in results])
        copies = {v.name: [c.value() for c in v.values] for v in tf.global_variables()}
        after = {k: [np.asarray(v).tolist() for v in one.run(copies[k])]
                 for k in sorted(copies)}  # fmt: skip
        path = saver.save(one, folder + "/model")
        found += [after, sorted(tf.train.list_variables(path))]
        one.run(tf.global_variables_initializer())
        saver.restore(one, path)
        found.append(after == {k: [np.asarray(v).tolist() for v in one.run(copies[k])]
                               for k in sorted(copies)})  # fmt: skip
        try:
            one.run(reduced)
        except tf.errors.OutOfRangeError:
            found.append("end")
    return found


def assignments(tf):
    """Assigning to variables in replicas and between them."""
    own, found = strategy(tf), []
    kinds = tf.VariableAggregation
    for aggregation in (kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA, kinds.NONE):
        with own.scope():
            v = tf.Variable(1.0, aggregation=aggregation)

            def add(v=v):
                index = tf.distribute.get_replica_context().replica_id_in_sync_group
                return v.assign_add(tf.cast(index + 1, tf.float32))

            try:
                update = own.group(own.experimental_run_v2(add))
            except ValueError as error:
                found.append(str(error)[:60])
                continue
            between = v.assign(10.0)
        with session(tf) as one:
            one.run(update)
            found.append(np.asarray(one.run([c.value() for c in v.values])).tolist())
            one.run(between)
            found.append(np.asarray(one.run([c.value() for c in v.values])).tolist())
    return found


def counted_when_read(tf):
    """Variables that each replica changes for itself, such as a metric's."""
    own, found = strategy(tf), []
    kinds = tf.VariableAggregation
    for aggregation in (kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA):
        with own.scope():
            v = tf.get_variable(
                "v" + str(aggregation.value), initializer=1.0, aggregation=aggregation,
                synchronization=tf.VariableSynchronization.ON_READ,
            )  # fmt: skip

            def add(v=v):
                index = tf.distribute.get_replica_context().replica_id_in_sync_group
                return v.assign_add(tf.cast(index + 1, tf.float32))

            update = own.group(own.experimental_run_v2(add))
            read = own.extended.read_var(v)
            assign = v.assign(7.0)
        with session(tf) as one:
            one.run(update)
            found.append(
                np.asarray(one.run([read, *[c.value() for c in v.values]])).tolist()
            )
            one.run(assign)
            found.append(
                np.asarray(one.run([read, *[c.value() for c in v.values]])).tolist()
            )
        found.append(v in tf.trainable_variables())
    return found


def inputs(tf):
    """Batches of an input function, and all_reduce."""
    own = strategy(tf)

    def input_fn(context):
        size = context.get_per_replica_batch_size(4)
        return tf.data.Dataset.range(6).batch(size)

    with own.scope():
        iterator = own.make_input_fn_iterator(input_fn)

        def step(x):
            context = tf.distribute.get_replica_context()
            return (
                x,
                context.all_reduce("sum", x),
                context.all_reduce(tf.distribute.ReduceOp.MEAN, tf.cast(x, tf.float32)),
            )

        results = [
            own.experimental_local_results(value)
            for value in own.experimental_run(step, iterator)
        ]
        initialize = iterator.initialize()
    with session(tf) as one:
        one.run(initialize)
        return [np.asarray(value).tolist() for value in one.run(results)]


def gradients(tf):
    """Through all_reduce, whose results depend on all replicas' values."""
    own, found = strategy(tf), []
    with own.scope():

        def step(operation):
            context = tf.distribute.get_replica_context()
            x = tf.cast(context.replica_id_in_sync_group + 1, tf.float32) * [1.0, 2.0]
            y = context.all_reduce(operation, x * x)
            return y, tf.gradients(y * [1.0, 3.0], x)[0]

        for operation in (tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN):
            results = own.experimental_run_v2(step, (operation,))
            found.append([own.experimental_local_results(r) for r in results])
    with session(tf) as one:
        return [[np.asarray(v).tolist() for v in one.run(row)] for row in found]


def averages(tf):
    """Moving averages of variables and of values, in replicas and between them."""
    own, found = strategy(tf), []
    average = tf.train.ExponentialMovingAverage(0.75)
    with own.scope():
        v = tf.Variable(2.0, name="v")

        def step():
            index = tf.distribute.get_replica_context().replica_id_in_sync_group
            value = tf.cast(index + 1, tf.float32)
            with tf.control_dependencies([average.apply([v])]):
                return tf.identity(value)

        update = own.group(own.experimental_run_v2(step))
        change = v.assign(6.0)
        shadow = average.average(v)
    with session(tf) as one:
        for _ in range(2):
            one.run(change)
            one.run(update)
            found.append([shadow.op.name, *one.run([c.value() for c in shadow.values])])
    return [[row[0], *map(float, row[1:])] for row in found]


def metrics(tf):
    """Metrics count what all replicas saw; an update returns its replica's count."""
    own, of = strategy(tf), tf.metrics
    data = np.array([[[0, 1, 1], [1, 1, 0]], [[1, 0, 1], [0, 0, 1]]])

    def step(batch):
        labels, said = batch[0], batch[1]
        scores = tf.cast(said, tf.float32) * 0.75 + 0.125
        return {
            "accuracy": of.accuracy(labels, said, metrics_collections="values"),
            "auc": of.auc(labels, scores, num_thresholds=5),
            "iou": of.mean_iou(labels, said, 2),
            "per_class": of.mean_per_class_accuracy(labels, said, 2),
            "precision": of.precision(
                labels, said, metrics_collections="values", updates_collections="all"
            ),
            "precision_at": of.precision_at_thresholds(labels, scores, [0.1, 0.5]),
            "positives": of.true_positives(labels, said),
            "recall_at": of.recall_at_thresholds(labels, scores, [0.1, 0.5]),
            "rmse": of.root_mean_squared_error(
                tf.cast(labels, tf.float32), scores, updates_collections="all"
            ),
            "sensitivity": of.sensitivity_at_specificity(labels, scores, 0.5, None, 5),
            "tensor": of.mean_tensor(said, weights=[1, 2, 0]),
            "negatives": of.true_negatives_at_thresholds(labels, scores, [0.1, 0.5]),
        }

    with own.scope():
        iterator = own.make_input_fn_iterator(
            lambda context: tf.data.Dataset.from_tensor_slices(data)
        )
        results = own.experimental_run(step, iterator)
    keys = sorted(results)
    values = {key: results[key][0] for key in keys}
    updates = {key: own.experimental_local_results(results[key][1]) for key in keys}
    found = [[values[key].name for key in keys]]
    found.append([[u.name for u in updates[key]] for key in keys])
    found.append([v.name for v in tf.get_collection("values")])
    found.append([u.name for u in tf.get_collection("all")])
    with session(tf) as one:
        one.run(iterator.initialize())
        for fetches in (updates, values):
            numbers = one.run(fetches)
            found.append({k: np.asarray(v).tolist() for k, v in numbers.items()})
    return found


def on_parameter_servers(tf):
    """Where a worker's variables and ops stand; the filters of its session."""
    own = tf.distribute.experimental.ParameterServerStrategy()
    jobs = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]}
    config = tf.ConfigProto()
    own.configure(config, tf.train.ClusterSpec(jobs), "worker", 1)
    pipelines = []

    def input_fn(context):
        pipelines.append([context.num_input_pipelines, context.input_pipeline_id])
        return tf.data.Dataset.range(6).batch(2)

    with own.scope():
        iterator = own.make_input_fn_iterator(input_fn)
        global_step = tf.train.get_or_create_global_step()

        def step(x):
            v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
            w = tf.Variable(1.0, name="w")
            loss = tf.reduce_sum(v * tf.cast(x, tf.float32)) + w
            optimizer = tf.train.AdamOptimizer(0.1)
            return loss, optimizer.minimize(loss, global_step)

        loss, train = own.experimental_run(step, iterator)
        outside = tf.constant(1.0)
    extended = own.extended
    return [
        sorted([x.name, x.device, x.op.type] for x in tf.global_variables()),
        [loss.device, outside.device, iterator.get_next().device],
        sorted([op.type, op.device] for op in tf.get_default_graph().get_operations()
               if "Apply" in op.type or "AssignAdd" in op.type),
        [train.device, pipelines, own.num_replicas_in_sync],
        [list(extended.worker_devices), list(extended.parameter_devices)],
        [extended.should_checkpoint, extended.experimental_between_graph],
        [list(config.device_filters), config.isolate_session_state],
        [v.name for v in tf.trainable_variables()],
    ]  # fmt: skip


def without_servers(tf, folder):
    """Steps of a parameter server strategy that was told of no cluster."""
    own, found = tf.distribute.experimental.ParameterServerStrategy(), []
    with own.scope():
        data = tf.data.Dataset.from_tensor_slices(np.arange(8, dtype=np.float32))
        iterator = own.make_dataset_iterator(data.batch(4))
        w = tf.get_variable("w", initializer=3.0)

        def step(x):
            table = tf.get_variable("table", [3], initializer=tf.ones_initializer())
            loss = tf.reduce_mean(x) * w + tf.gather(table, [0, 2, 2])[1]
            accuracy = tf.metrics.mean(loss)
            train = tf.train.AdagradOptimizer(0.5).minimize(
                loss, tf.train.get_or_create_global_step()
            )
            with tf.control_dependencies([train, accuracy[1]]):
                return tf.identity(loss), w.assign_add(1.0), accuracy[0]

        results = own.experimental_run(step, iterator)
        total = own.reduce(tf.distribute.ReduceOp.SUM, results[0])
    saver = tf.train.Saver()
    with session(tf) as one:
        one.run(iterator.initialize())
        for _ in range(2):
            found.append([float(x) for x in one.run([total, *results[:2]])])
        found.append(float(one.run(results[2])))
        path = saver.save(one, folder + "/model")
        found.append(sorted(tf.train.list_variables(path)))
        found.append(one.run([*tf.global_variables()])[2].tolist())
    return found


def functions_as_inputs(tf):
    """An input function may return a function of each replica's batch."""
    own, numbers = strategy(tf), iter(range(10, 20))
    with own.scope():
        iterator = own.make_input_fn_iterator(
            lambda context: lambda: tf.constant(next(numbers))
        )
        result = own.experimental_run(lambda x: x + 1, iterator)
    with session(tf) as one:
        one.run(iterator.initialize())
        return np.asarray(one.run(own.experimental_local_results(result))).tolist()


def errors(tf):
    """What is refused, and how."""
    own, found = strategy(tf), []

    def one_of(call):
        try:
            with own.scope():
                call()
        except Exception as error:
            found.append([type(error).__name__, str(error).partition(": <")[0][:70]])

    def index():
        context = tf.distribute.get_replica_context()
        return tf.contrib.util.constant_value(context.replica_id_in_sync_group)

    def uneven():
        if index() == 0:
            tf.distribute.get_replica_context().merge_call(lambda strategy: None)

    def names():
        return tf.Variable(1.0, name="ab"[index()])

    one_of(lambda: own.experimental_run_v2(uneven))
    one_of(lambda: own.experimental_run_v2(names))
    one_of(lambda: own.experimental_run_v2(lambda: own.reduce("sum", 1.0)))
    one_of(lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.Variable(1.0)))
    one_of(lambda: own.experimental_run_v2(lambda: 1 // 0))
    one_of(lambda: own.reduce("sum", 2.0))
    one_of(lambda: own.reduce("mean", 2.0, axis="a"))
    one_of(lambda: tf.Variable(
        1.0, name="n", synchronization=tf.VariableSynchronization.NONE
    ))  # fmt: skip
    one_of(lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"]))
    one_of(lambda: tf.distribute.InputContext(1, 0, 2).get_per_replica_batch_size(3))
    one_of(lambda: own.experimental_run_v2(  # whose variable is named by its replica
        lambda: tf.metrics.recall_at_k([[1]], [[0.5, 1.0]], 1)
    ))  # fmt: skip
    one_of(lambda: tf.distribute.OneDeviceStrategy("/cpu:0").experimental_run_v2(int))
    return found


def answers(tf, folder):
    """What all programs return, as JSON has it."""
    found = {}
    for call in (
        contexts,
        variables,
        assignments,
        counted_when_read,
        inputs,
        gradients,
        averages,
        metrics,
        on_parameter_servers,
        functions_as_inputs,
        errors,
    ):
        with tf.Graph().as_default():
            found[call.__name__] = call(tf)
    for call in (training, without_servers):
        with tf.Graph().as_default():
            found[call.__name__] = call(tf, folder)
    return json.loads(json.dumps(found))


if __name__ == "__main__":
    import tempfile

    import tensorflow

    PATH.write_text(
        json.dumps(answers(tensorflow, tempfile.mkdtemp()), indent=1) + "\n"
    )
