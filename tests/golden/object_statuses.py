"""What TensorFlow 1.15 says of restores that match in part.

`python object_statuses.py` with the oracle's Python writes the JSON file of this name:
for each function of SCENARIOS what its calls returned or raised, and what was logged.
tests/lib/files/test_object_statuses.py runs the same functions.
"""

import gc
import json
import logging
import os
import re
import sys
import tempfile
from pathlib import Path

CHECKS = "assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"


class Record(logging.Handler):
    """Answers of calls, and lines of the log, in order.

    Attributes:
      lines: the record.
    """

    def __init__(self, tf):
        super().__init__()
        self.tf, self.lines = tf, []

    def emit(self, record):
        text = record.getMessage()
        if record.levelno >= logging.WARNING and "deprecated" not in text:
            self.lines.append("logged: " + plain(text))

    def call(self, what, function, *arguments):
        """Record what a call returns (if it is data) or raises."""
        try:
            found = function(*arguments)
        except Exception as error:
            message = getattr(error, "message", None) or str(error)
            self.lines.append(f"{what}: {type(error).__name__}: {plain(message)}")
            return None
        shown = found.tolist() if hasattr(found, "tolist") else "ok"
        self.lines.append(f"{what}: {shown}")
        return found

    def checks(self, status):
        """Record the assertions of a status."""
        for name in CHECKS:
            self.call(name, getattr(status, name))

    def values(self, session, *variables):
        """Record what variables hold."""
        for v in variables:
            self.call(v.op.name, session.run, v)

    def mark(self, text):
        """Record a place, and what the garbage collector finds there."""
        gc.collect()
        self.lines.append(text)


def plain(text):
    """A message without what differs between processes."""
    text = text.partition("\n\t [[")[0].rpartition("Original error:\n\n")[2]
    text = text.partition("values were used")[0]  # ours says in other words what to do
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"<(?:\w+\.)*?(\w+?)(V1)? object at 0x>", r"<\1>", text)
    text = re.sub(r"<tf\.Variable '(.*?)'.*?>", r"<\1>", text)
    first, mark, items = text.partition(": [<")
    if mark:  # a set, in any order
        text = ", ".join([first, *sorted(f"<{items}".rstrip("]").split(", "))])
    return text


def variables(tf, session):
    """Two variables, as they are in all checkpoints: 1 and 2."""
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, name="w")
    session.run([v.initializer, w.initializer])
    return v, w


def change(tf, session, *changed):
    session.run([v.assign(9.0) for v in changed])


def restored(tf, record, session, path, method, parts, *shown):
    """Record a restore into a Checkpoint of some parts, and its end."""
    checkpoint = tf.train.Checkpoint(**parts)
    status = checkpoint.restore(path)
    record.checks(status)
    record.call("restore", getattr(status, method), session)
    record.values(session, *shown)
    del status, checkpoint
    record.mark("deleted")


def same_objects(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    status = checkpoint.restore(path)
    record.checks(status)
    record.values(session, v, w)
    record.call("restore", status.run_restore_ops, session)
    record.values(session, v, w, checkpoint.save_counter)
    del status, checkpoint
    record.mark("deleted")


def fewer_objects(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    record.checks(status)
    record.call("restore", status.initialize_or_restore, session)
    record.values(session, v, w)
    del status
    record.mark("status deleted")
    del checkpoint
    record.mark("checkpoint deleted")


def fewer_objects_expected(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path).expect_partial()
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    del status, checkpoint
    record.mark("deleted")


def status_kept_longer(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    del checkpoint
    record.mark("checkpoint deleted")
    record.checks(status)
    del status
    record.mark("status deleted")


def more_objects(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v).save("m", session)
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    status = checkpoint.restore(path)
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    record.values(session, v, w)
    record.call("restore", status.initialize_or_restore, session)
    record.values(session, v, w)
    del status, checkpoint
    record.mark("deleted")


def objects_that_come_later(tf, record, session):
    v, w = variables(tf, session)
    saved = tf.train.Checkpoint(v=v, part=tf.train.Checkpoint(w=w))
    path = saved.save("m", session)
    del saved
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    record.checks(status)
    checkpoint.v = v
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    record.values(session, v, w)
    checkpoint.part = tf.train.Checkpoint()
    record.checks(status)
    checkpoint.part.w = w
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    record.values(session, v, w)
    del status, checkpoint
    record.mark("deleted")


def objects_that_come_after_the_status(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    record.mark("status deleted")
    checkpoint.v = v
    record.mark("v found")
    del checkpoint
    record.mark("checkpoint deleted")


def nothing_matches(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v).save("m", session)
    restored(tf, record, session, path, "initialize_or_restore", {"other": w}, w)


def attributes_of_another_kind(tf, record, session):
    v, _ = variables(tf, session)
    path = tf.train.Checkpoint(v=v).save("m", session)
    restored(tf, record, session, path, "run_restore_ops", {"v": tf.train.Checkpoint()})


def one_object_for_two(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(a=v, b=w).save("m", session)
    change(tf, session, v, w)
    restored(tf, record, session, path, "run_restore_ops", {"a": v, "b": v}, v)


def two_objects_for_one(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(a=v, b=v).save("m", session)
    change(tf, session, v, w)
    restored(tf, record, session, path, "initialize_or_restore", {"a": v, "b": w}, v, w)


def slots_without_optimizer(tf, record, session):
    v, _ = variables(tf, session)
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(v * v)
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).save("m", session)
    for parts in (
        {"v": v},
        {"optimizer": optimizer},
        {"v": v, "optimizer": tf.train.GradientDescentOptimizer(0.1)},
    ):
        restored(tf, record, session, path, "run_restore_ops", parts)


def slots_that_come_later(tf, record, session):
    v, _ = variables(tf, session)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.minimize(v * v)
    session.run(tf.global_variables_initializer())
    session.run(step)
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).save("m", session)
    session.run(tf.global_variables_initializer())
    other = tf.train.MomentumOptimizer(0.1, 0.9, name="Other")
    checkpoint = tf.train.Checkpoint(v=v, optimizer=other)
    status = checkpoint.restore(path)
    record.checks(status)
    other.minimize(v * v)
    record.checks(status)
    record.call("restore", status.initialize_or_restore, session)
    record.values(session, v, other.get_slot(v, "momentum"))
    del status, checkpoint
    record.mark("deleted")


def lists(tf, record, session):
    v, w = variables(tf, session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.parts = [v, w]
    checkpoint.named = {"w": w}
    path = checkpoint.save("m", session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.parts = [v]
    checkpoint.empty = []
    status = checkpoint.restore(path)
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    del status, checkpoint
    record.mark("deleted")


def two_restores(tf, record, session):
    v, w = variables(tf, session)
    first = tf.train.Checkpoint(v=v).save("first", session)
    change(tf, session, v)
    second = tf.train.Checkpoint(v=v, w=w).save("second", session)
    checkpoint = tf.train.Checkpoint(v=v)
    one, two = checkpoint.restore(first), checkpoint.restore(second)
    record.mark("first")
    record.checks(one)
    record.call("restore", one.run_restore_ops, session)
    record.values(session, v)
    record.mark("second")
    record.checks(two)
    record.call("restore", two.run_restore_ops, session)
    record.values(session, v)
    del one, two, checkpoint
    record.mark("deleted")


def no_checkpoint(tf, record, session):
    v, w = variables(tf, session)
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(None)
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    record.call("initialize", status.initialize_or_restore, session)
    record.values(session, v, w, checkpoint.save_counter)
    record.call("expect", status.expect_partial)
    record.call("lost", checkpoint.restore, "lost")
    del status, checkpoint
    record.mark("deleted")


def only_the_root(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v).write("m", session)
    for parts in ({"other": w}, {}):
        restored(tf, record, session, path, "run_restore_ops", parts)


def another_object_in_its_place(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v).save("m", session)
    change(tf, session, v, w)
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    checkpoint.v = w
    record.checks(status)
    record.call("restore", status.run_restore_ops, session)
    record.values(session, v, w)
    del status, checkpoint
    record.mark("deleted")


def layers(tf, record, session):
    layer = tf.layers.Dense(1, use_bias=False, name="dense")
    layer(tf.ones([1, 2]))
    session.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(layer=layer).save("m", session)
    later = tf.layers.Dense(1, use_bias=False, name="later")
    checkpoint = tf.train.Checkpoint(layer=later)
    status = checkpoint.restore(path)
    record.checks(status)
    later(tf.ones([1, 2]))
    record.checks(status)
    del status, checkpoint
    record.mark("deleted")
    later = tf.layers.Dense(1, use_bias=False, name="later")
    checkpoint = tf.train.Checkpoint(layer=later)
    checkpoint.restore(path)
    del checkpoint
    record.mark("layer left")
    del later
    record.mark("deleted")
    later = tf.layers.Dense(1, use_bias=False, name="later")
    checkpoint = tf.train.Checkpoint(layer=later)
    checkpoint.restore(path)
    later(tf.ones([1, 2]))
    del checkpoint, later
    record.mark("deleted when built")


def parts_that_come_after_the_status(tf, record, session):
    v, _ = variables(tf, session)
    layer = tf.layers.Dense(1, use_bias=False, name="dense")
    loss = v * tf.reduce_sum(layer(tf.ones([1, 2])))
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(loss)
    session.run(tf.global_variables_initializer())
    saved = tf.train.Checkpoint(v=v, layer=layer, optimizer=optimizer)
    path = saved.save("m", session)
    del saved
    layer = tf.layers.Dense(1, use_bias=False, name="later")
    optimizer = tf.train.AdamOptimizer(0.1, name="Later")
    checkpoint = tf.train.Checkpoint(v=v, layer=layer, optimizer=optimizer)
    checkpoint.restore(path)
    record.mark("status deleted")
    optimizer.minimize(v * tf.reduce_sum(layer(tf.ones([1, 2]))))
    record.mark("parts found")
    del checkpoint, layer, optimizer
    record.mark("deleted")


def a_list_that_grows(tf, record, session):
    v, w = variables(tf, session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.parts = [v, w]
    path = checkpoint.save("m", session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.parts = [v]
    checkpoint.restore(path)
    checkpoint.parts.append(w)
    del checkpoint
    record.mark("deleted")


def parts_that_go(tf, record, session):
    v, w = variables(tf, session)
    path = tf.train.Checkpoint(v=v, w=w).save("m", session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.v = v
    del checkpoint.v
    record.mark("v found and lost")
    del checkpoint
    record.mark("deleted")


def of_another_shape(tf, record, session):
    v, _ = variables(tf, session)
    path = tf.train.Checkpoint(v=v).save("m", session)
    wide = tf.Variable([1.0, 2.0], name="wide")
    checkpoint = tf.train.Checkpoint(v=wide)
    status = record.call("restore", checkpoint.restore, path)
    if status is not None:
        record.checks(status)
        record.call("run", status.run_restore_ops, session)
    whole = tf.Variable(1, name="whole")
    checkpoint = tf.train.Checkpoint(v=whole)
    status = record.call("restore", checkpoint.restore, path)
    if status is not None:
        record.checks(status)
        record.call("run", status.run_restore_ops, session)


SCENARIOS = {
    scenario.__name__: scenario
    for scenario in (
        same_objects,
        fewer_objects,
        fewer_objects_expected,
        status_kept_longer,
        more_objects,
        objects_that_come_later,
        objects_that_come_after_the_status,
        nothing_matches,
        attributes_of_another_kind,
        one_object_for_two,
        two_objects_for_one,
        slots_without_optimizer,
        slots_that_come_later,
        lists,
        two_restores,
        no_checkpoint,
        only_the_root,
        another_object_in_its_place,
        layers,
        parts_that_come_after_the_status,
        a_list_that_grows,
        parts_that_go,
        of_another_shape,
    )
}


def recorded(tf, name):
    """What a scenario records; it writes to the current directory."""
    record = Record(tf)
    logger = logging.getLogger("tensorflow")
    logger.addHandler(record)
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            SCENARIOS[name](tf, record, session)
        gc.collect()
    finally:
        logger.removeHandler(record)
    return record.lines


def main():
    import tensorflow as tf

    found = {}
    for name in SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found[name] = recorded(tf, name)
            os.chdir("/")
    file = Path(sys.argv[1] if len(sys.argv) > 1 else __file__).with_suffix(".json")
    file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
