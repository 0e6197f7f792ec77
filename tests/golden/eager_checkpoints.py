"""What TensorFlow 1.15 says of checkpoints of objects in eager programs.

`python eager_checkpoints.py` with the oracle's Python writes the JSON file of this
name: for each function of SCENARIOS what it records, each in a process of its own.
tests/lib/files/test_eager_checkpoints.py runs the same functions.
"""

import gc
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
CHECKS = "assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"


def plain(text):
    """A message without what differs between processes."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"<(?:\w+\.)*?(\w+?)(V1)? object at 0x>", r"<\1>", text)
    text = re.sub(r"<tf\.Variable '(.*?)'.*?>", r"<\1>", text)
    text = text.partition("values were used")[0]  # ours says in other words what to do
    text = text.partition(" [Op:")[0]
    first, mark, items = text.partition(": [<")
    if mark:  # a set, in any order
        text = ", ".join([first, *sorted(f"<{items}".rstrip("]").split(", "))])
    return text


class Record(logging.Handler):
    """Answers of calls, and lines of the log, in order.

    Attributes:
      lines: the record.
    """

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        text = record.getMessage()
        # Ours logs in other words that a checkpoint is one of a Saver.
        other = "deprecated" in text or "name-based" in text or "tf.train.Saver" in text
        if record.levelno >= logging.WARNING and not other:
            self.lines.append("logged: " + plain(text))

    def add(self, *values):
        self.lines.append(" ".join(map(str, values)))

    def call(self, what, function, *arguments):
        """Record what a call returns (if it is data) or raises."""
        try:
            found = function(*arguments)
        except Exception as error:
            message = getattr(error, "message", None) or str(error)
            self.add(f"{what}: {type(error).__name__}: {plain(message)}")
        else:
            self.add(f"{what}: {'ok' if hasattr(found, 'assert_consumed') else found}")

    def checks(self, status):
        """Record the assertions of a status."""
        for name in CHECKS:
            self.call(name, getattr(status, name))

    def mark(self, text):
        """Record a place, and what the garbage collector finds there."""
        gc.collect()
        self.lines.append(text)


def values(*variables):
    return [v.numpy().tolist() for v in variables]


def model_of(tf):
    """A model with layers, a list, a dict, and what trains it."""

    class Model(tf.contrib.eager.Checkpointable):
        def __init__(self):
            self.first = tf.layers.Dense(2, name="first")
            self.rest = [tf.layers.Dense(1)]
            self.more = {"scale": tf.Variable(5.0, name="scale")}
            self.normed = tf.layers.BatchNormalization()

        def __call__(self, x):
            x = self.normed(self.first(x))
            return self.rest[0](x) * self.more["scale"]

        def variables(self):
            own = self.first.weights + self.rest[0].weights + self.normed.weights
            return [*own, self.more["scale"]]

    return Model()


def trained(tf, model, optimizer):
    def loss():
        return tf.reduce_sum(tf.square(model(tf.ones([1, 3]))))

    for _ in range(2):
        optimizer.minimize(loss)


def same_objects(tf, record):
    model, optimizer = model_of(tf), tf.train.AdamOptimizer(0.1)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    trained(tf, model, optimizer)
    path = checkpoint.save("sub/m")
    record.add(path, sorted(os.listdir("sub")), Path("sub/checkpoint").read_text())
    record.add(tf.train.list_variables(path))
    data = tf.train.load_variable(path, KEY)
    proto = tf.contrib.checkpoint.CheckpointableObjectGraph
    record.add(proto.FromString(data))
    before = values(*model.variables(), *optimizer.variables())
    trained(tf, model, optimizer)
    status = checkpoint.restore(path)
    record.add(before == values(*model.variables(), *optimizer.variables()))
    record.checks(status)
    record.call("run", status.run_restore_ops)
    record.call("initialize", status.initialize_or_restore)
    record.add(checkpoint.save("sub/m"), values(checkpoint.save_counter))


def objects_made_later(tf, record):
    model, optimizer = model_of(tf), tf.train.AdamOptimizer(0.1)
    trained(tf, model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save("m")
    later, its_optimizer = model_of(tf), tf.train.AdamOptimizer(0.1)
    checkpoint = tf.train.Checkpoint(model=later, optimizer=its_optimizer)
    status = checkpoint.restore(path)
    record.add(values(checkpoint.save_counter, later.more["scale"]) is not None)
    record.add([v.name for v in its_optimizer.variables()])
    record.checks(status)
    later(tf.ones([1, 3]))
    record.add(values(*model.variables()) == values(*later.variables()))
    record.add([v.name for v in its_optimizer.variables()])
    record.checks(status)
    trained(tf, later, its_optimizer)
    trained(tf, model, optimizer)
    record.add(values(*model.variables()) == values(*later.variables()))
    record.checks(status)


def attributes_set_later(tf, record):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    inner = tf.train.Checkpoint(w=w)
    path = tf.train.Checkpoint(v=v, inner=inner).save("m")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    record.checks(status)
    checkpoint.inner = tf.train.Checkpoint()
    record.checks(status)
    checkpoint.v = tf.Variable(0.0, name="v")
    checkpoint.inner.w = tf.Variable(0.0, name="w")
    record.add(values(checkpoint.v, checkpoint.inner.w))
    record.checks(status)
    checkpoint.other = tf.Variable(3.0, name="other")
    record.checks(status)
    del status, checkpoint
    record.mark("deleted")


def fewer_objects(tf, record):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    path = tf.train.Checkpoint(v=v, w=w).save("m")
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    record.checks(status)
    del status, checkpoint
    record.mark("deleted")
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path).expect_partial()
    del status, checkpoint
    record.mark("deleted, as expected")


def two_restores(tf, record):
    v = tf.Variable(1.0, name="v")
    checkpoint = tf.train.Checkpoint(v=v)
    first = checkpoint.write("first")
    v.assign(2.0)
    second = checkpoint.write("second")
    later = tf.train.Checkpoint()
    statuses = later.restore(first), later.restore(second)
    later.v = tf.Variable(0.0, name="later")
    record.add(values(later.v))
    for status in statuses:
        record.call("existing", status.assert_existing_objects_matched)
    again = tf.train.Checkpoint(v=tf.Variable(0.0, name="again"))
    again.restore(second)
    status = again.restore(first)
    record.add(values(again.v))
    again.v = tf.Variable(9.0, name="another")
    record.add(values(again.v))
    record.checks(status)


def lists(tf, record):
    checkpoint = tf.train.Checkpoint()
    checkpoint.rows = [tf.Variable(1.0), [tf.Variable(2.0)], {"a": tf.Variable(3.0)}]
    path = checkpoint.write("m")
    record.add([name for name, _ in tf.train.list_variables(path)])
    later = tf.train.Checkpoint()
    later.rows = []
    status = later.restore(path)
    later.rows.append(tf.Variable(0.0))
    later.rows.append([])
    later.rows[1].append(tf.Variable(0.0))
    later.rows.append({})
    later.rows[2]["a"] = tf.Variable(0.0)
    record.add(values(later.rows[0], later.rows[1][0], later.rows[2]["a"]))
    record.checks(status)


def no_checkpoint(tf, record):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    status = checkpoint.restore(None)
    record.checks(status)
    record.call("run", status.run_restore_ops)
    record.call("initialize", status.initialize_or_restore)
    record.call("missing", checkpoint.restore, "missing")


def other_shapes(tf, record):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write("m")
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]))
    record.call("shape", checkpoint.restore, path)
    record.add(values(checkpoint.v))
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1))
    record.call("type", checkpoint.restore, path)


def in_functions(tf, record):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def write():
        return checkpoint.write("deep/m")

    record.add(write().numpy().decode(), sorted(os.listdir("deep")))
    checkpoint.v.assign(2.0)
    checkpoint.restore("deep/m")
    record.add(values(checkpoint.v))


def managers(tf, record):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, "kept", max_to_keep=2)
    record.add([manager.save() for _ in range(3)], manager.checkpoints)
    record.add(manager.latest_checkpoint, values(checkpoint.save_counter))
    record.add(manager.save(10), manager.save(tf.Variable(12)), manager.checkpoints)
    again = tf.train.CheckpointManager(checkpoint, "kept", max_to_keep=2)
    record.add(again.checkpoints)
    record.call("restore", checkpoint.restore, again.latest_checkpoint)


def from_a_graph(tf, record):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(4.0, name="in_graph")
        w = tf.Variable(6.0, name="w", use_resource=True)
        session.run([v.initializer, w.initializer])
        objects = tf.train.Checkpoint(v=v).save("objects", session)
        names = tf.train.Saver([w]).save(session, "names")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    record.checks(checkpoint.restore(objects))
    record.add(values(checkpoint.v))
    checkpoint = tf.train.Checkpoint(w=tf.Variable(0.0, name="w"))
    status = checkpoint.restore(names)
    record.add(type(status).__name__, values(checkpoint.w))
    record.checks(status)
    record.call("run", status.run_restore_ops)
    later = tf.train.Checkpoint()
    later.restore(names)
    later.w = tf.Variable(0.0, name="w")
    record.add(values(later.w))
    later.other = tf.Variable(7.0, name="other")
    record.add(values(later.other))


def into_a_graph(tf, record):
    path = tf.train.Checkpoint(v=tf.Variable(3.0)).save("m")
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(0.0)
        checkpoint = tf.train.Checkpoint(v=v)
        status = checkpoint.restore(path)
        record.checks(status)
        status.run_restore_ops(session)
        record.add([part.item() for part in session.run([v, checkpoint.save_counter])])


def savers(tf, record):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    saver = tf.train.Saver({"v": v, "other": w}, max_to_keep=2)
    record.add([saver.save(None, "m", global_step=step) for step in range(3)])
    record.add(sorted(os.listdir(".")), Path("checkpoint").read_text())
    record.add(saver.last_checkpoints, tf.train.list_variables("m-2"))
    v.assign(5.0)
    w.assign(6.0)
    saver.restore(None, "m-1")
    record.add(values(v, w))
    record.call("build", saver.build)
    record.call("all", tf.train.Saver)
    missing = tf.train.Saver([tf.Variable(1.0, name="x")])
    record.call("nothing", missing.restore, None, "nothing")
    record.call("none", missing.restore, None, None)
    same = tf.train.Saver([v, tf.Variable(1.0, name="v")])
    record.call("twice", same.save, None, "q")
    path = tf.train.Checkpoint(v=v, w=w).save("objects")
    v.assign(9.0)
    tf.train.Saver([v, w]).restore(None, path)
    record.add(values(v))


def templates(tf, record):
    def scaled(x):
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer())

    template = tf.make_template("scale", scaled)
    template(1.0)
    template.variables[0].assign(3.0)
    path = tf.train.Checkpoint(template=template).save("m")
    record.add([name for name, _ in tf.train.list_variables(path)])
    later = tf.make_template("later", scaled)
    status = tf.train.Checkpoint(template=later).restore(path)
    record.add(later(2.0).numpy())
    record.checks(status)


def tables(tf, record):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], [3])
    checkpoint = tf.train.Checkpoint(table=table)
    path = checkpoint.save("m")
    record.add(tf.train.list_variables(path))
    table.insert(["a", "b"], [4, 5])
    record.checks(checkpoint.restore(path))
    record.add([part.numpy().tolist() for part in table.export()])


SCENARIOS = {
    function.__name__: function
    for function in (
        same_objects,
        objects_made_later,
        attributes_set_later,
        fewer_objects,
        two_restores,
        lists,
        no_checkpoint,
        other_shapes,
        in_functions,
        managers,
        from_a_graph,
        into_a_graph,
        savers,
        templates,
        tables,
    )
}


def recorded(tf, name):
    """What a scenario records; it writes to the current directory."""
    record = Record()
    logger = logging.getLogger("tensorflow")
    logger.addHandler(record)
    try:
        SCENARIOS[name](tf, record)
        gc.collect()
    finally:
        logger.removeHandler(record)
    return record.lines


# Restored and checked by the other library.
def written(tf, prefix):
    """Save a trained model; returns the checkpoint and the values."""
    model, optimizer = model_of(tf), tf.train.AdamOptimizer(0.1)
    trained(tf, model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(prefix)
    return path, values(*model.variables(), *optimizer.variables())


def read(tf, path):
    """Restore that model, in part before it has variables; returns the values."""
    model, optimizer = model_of(tf), tf.train.AdamOptimizer(0.1)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    status = checkpoint.restore(path)
    model(tf.ones([1, 3]))
    optimizer._create_slots(model.first.weights)  # and the powers of its betas
    status.assert_consumed()
    return values(*model.variables(), *optimizer.variables())


def asked(task, argument):
    """What another process that runs a task prints at last."""
    command = [sys.executable, os.path.abspath(__file__), task, argument]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode().splitlines()[-1])


def main():
    if len(sys.argv) == 1:
        found = {name: asked("record", name) for name in SCENARIOS}
        text = json.dumps(found, indent=1)
        Path(__file__).with_suffix(".json").write_text(text + "\n")
        return
    import tensorflow as tf

    tf.enable_eager_execution()
    _ = tf.contrib.eager  # which logs a warning
    task, argument = sys.argv[1:]
    if task == "record":
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found = recorded(tf, argument)
            os.chdir("/")
    else:
        found = (written if task == "write" else read)(tf, argument)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
