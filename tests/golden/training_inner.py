"""What TensorFlow 1.15 keeps below `tensorflow.python` of training loops, and programs
use: `python training_inner.py training_inner.json`.

As in `training_loops.py`; tests/lib/training/test_inner_names.py compares.
"""

try:
    from tests.golden import training_loops as loops
except ImportError:  # in TensorFlow's Python
    import training_loops as loops

import importlib
import os

outcome = loops.outcome


def inner(tf, path):
    """The module `tensorflow.python.<path>`."""
    if tf.__name__ == "tfteach":
        found = importlib.import_module("tfteach.compat.internals").inner(path)
        assert found is not None, path
        return found
    return importlib.import_module("tensorflow.python." + path)


def weighted_average(tf, folder):
    """Nodes and values of a moving average with weights."""
    averages = inner(tf, "training.moving_averages")
    found = []
    for options in ({}, {"truediv": False, "name": "n"}, {"collections": ["mine"]}):
        with tf.Graph().as_default() as graph:
            value = tf.placeholder(tf.float64, [2], name="value")
            weight = tf.placeholder(tf.float64, [], name="weight")
            with tf.name_scope("a"), tf.variable_scope("b"):
                result = averages.weighted_moving_average(value, 0.6, weight, **options)
            made = tf.global_variables() + tf.get_collection("mine")
            with tf.Session() as session:
                session.run(tf.variables_initializer(made))
                values = [
                    session.run(result, {value: [v, 2 * v], weight: w}).round(12)
                    for v, w in ((3.0, 4.0), (11.0, 12.0))
                ]
            found.append([loops.nodes(graph)[2:], [v.tolist() for v in values]])
    return {"found": found}


def several_steps_per_run(tf, folder):
    """Hooks of a run that increments the global step by five."""
    step = tf.train.get_or_create_global_step()
    increment = tf.assign_add(step, 5)
    saver = tf.train.CheckpointSaverHook(folder, save_steps=10, saver=tf.train.Saver())
    counter = tf.train.StepCounterHook(every_n_steps=10, output_dir=folder)
    for hook in (saver, counter):
        hook._set_steps_per_run(5)
    with tf.train.SingularMonitoredSession(hooks=[saver, counter]) as session:
        for _ in range(5):
            session.run(increment)
    kinds = ("summary", "session_log")
    return {"events": [e for e in loops.events(tf, folder) if e[0] in kinds]}


def private_sessions(tf, folder):
    """The sessions inside a MonitoredSession, built from their parts."""
    monitored = inner(tf, "training.monitored_session")
    coordinator = tf.train.Coordinator()
    constant = tf.constant(3)
    found = []
    with tf.Session() as session:
        hooked = monitored._HookedSession(session, [])
        made = monitored._CoordinatedSession(hooked, coordinator)
        found.append([int(made.run(constant)), made.should_stop()])

        class Creator:
            tf_sess = session

            def create_session(self):
                return made

        recoverable = monitored._RecoverableSession(Creator())
        found.append(int(recoverable.run(constant)))
        recoverable.close()
        found.append([recoverable.should_stop(), coordinator.should_stop()])
    return {"found": found}


def meta_graph_defs(tf, folder):
    meta_graph = inner(tf, "framework.meta_graph")
    with tf.Graph().as_default() as graph:
        tf.Variable(1.0, name="v")
        graph_def = graph.as_graph_def()
        made = meta_graph.create_meta_graph_def(graph_def=graph_def, graph=graph)
        one = meta_graph.create_meta_graph_def(
            graph_def=graph_def, graph=graph, collection_list=["variables"]
        )
        empty = meta_graph.create_meta_graph_def(collection_list=[])
        ops = meta_graph.stripped_op_list_for_graph(graph_def)
    return {
        "collections": [sorted(m.collection_def) for m in (made, one, empty)],
        "nodes": [[n.name for n in m.graph_def.node] for m in (made, one, empty)],
        "ops": [op.name for op in ops.op],
        "recorded": [op.name for op in made.meta_info_def.stripped_op_list.op],
    }


def names(tf, folder):
    """Names that other modules have under another name."""
    variables = inner(tf, "ops.variables")
    training_util = inner(tf, "training.training_util")
    step = tf.train.get_or_create_global_step()
    read = training_util._get_or_create_global_step_read()
    saver = inner(tf, "training.saver")._get_saver_or_default()
    return {
        "variables": [
            variables.VariableV1 is tf.Variable,
            isinstance(tf.Variable(1.0), variables.RefVariable),
            isinstance(tf.Variable(1.0, use_resource=True), variables.RefVariable),
            issubclass(variables.PartitionedVariable, object),
        ],
        "read": [read.op.name, training_util._get_or_create_global_step_read() is read],
        "increment": training_util._increment_global_step(2).op.type,
        "saver": saver is tf.get_collection(tf.GraphKeys.SAVERS)[0],
        "step of shape [1]": _step_in_a_vector(tf),
        "name": step.op.name,
    }


def _step_in_a_vector(tf):
    step = tf.Variable([7])
    with tf.Session() as session:
        session.run(step.initializer)
        return tf.train.global_step(session, step)


def warm_starts(tf, folder):
    """A variable, whole and in parts, from a checkpoint with another vocabulary."""
    util = inner(tf, "training.warm_starting_util")
    vocabularies = []
    for name, words in (("old", "a b c"), ("new", "c x a")):
        vocabularies.append(os.path.join(folder, name))
        with open(vocabularies[-1], "w") as file:
            file.write("\n".join(words.split()))
    old, new = vocabularies
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=[[1.0], [2.0], [3.0]])
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, os.path.join(folder, "model"))
    found = []
    for partitioner in (None, tf.fixed_size_partitioner(2)):
        with tf.Graph().as_default(), tf.Session() as session:
            w = tf.get_variable(
                "w", [4, 1], initializer=tf.zeros_initializer(), partitioner=partitioner
            )
            util._warm_start_var_with_vocab(
                w, new, 3, folder, old, current_oov_buckets=1
            )
            session.run(tf.global_variables_initializer())
            found.append(session.run(tf.convert_to_tensor(w)).tolist())
            name, parts = util._get_var_info(w, "other")
            count = len(parts) if isinstance(parts, list) else 1
            every = list(w) if partitioner else [w]
            found.append([util._infer_var_name(every), name, count])
            found.append(util._get_var_info(w)[0])
    return {"found": found}


def wrong_intervals(tf, folder):
    hook = tf.train.ProfilerHook
    return {"found": [
        outcome(lambda: hook(save_secs=10, save_steps=20, output_dir=folder)),
        outcome(lambda: hook(save_secs=None, output_dir=folder)),
    ]}  # fmt: skip


PROGRAMS = [
    weighted_average, several_steps_per_run, private_sessions, meta_graph_defs, names,
    warm_starts,
    wrong_intervals,
]  # fmt: skip

if __name__ == "__main__":
    loops.main(PROGRAMS)
