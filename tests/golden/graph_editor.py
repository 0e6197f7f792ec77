"""Graphs edited by real TensorFlow's contrib.graph_editor.

`python graph_editor.py OUT.json` writes, by function, the edited graph's nodes and the
result.  tests/lib/contrib/test_graph_editor.py compares.
"""

import json
import sys


def model(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("hidden"):
        a = tf.add(x, [1.0, 2.0], name="a")
        with tf.control_dependencies([a]):
            b = tf.multiply(a, 3.0, name="b")
    c = tf.subtract(b, x, name="c")
    tf.identity(c, name="d")
    tf.add_to_collection("mine", b)
    tf.add_to_collection("losses", b)
    return x, a, b, c


def copies(tf, ge):
    _, a, b, _ = model(tf)
    _, info = ge.copy(ge.sgv_scope("hidden", tf.get_default_graph()), dst_scope="new")
    ge.copy(ge.sgv_scope("hidden", tf.get_default_graph()), dst_scope="new")
    keys = ("mine", "new/mine", "new_1/mine", "losses")
    found = [[t.name for t in tf.get_collection(key)] for key in keys]
    return [info.transformed(b).name, info.original(info.transformed(a)).name, *found]


def copy_to_another_graph(tf, ge):
    model(tf)
    tf.get_default_graph().clear_collection("mine")
    scope = ge.sgv_scope("hidden", tf.get_default_graph())
    graph = tf.Graph()
    ge.copy(scope, graph, "new", "hidden")
    return [[op.name, [t.name for t in op.inputs]] for op in graph.get_operations()]


def replaced(tf, ge):
    x, a, _, c = model(tf)
    z = tf.constant([5.0, 6.0], name="z")
    made = ge.graph_replace([c, c], {a: z}, dst_scope="again")
    with tf.Session() as session:
        return [t.name for t in made], session.run(made[0], {x: [1.0, 1.0]}).tolist()


def replaced_loop(tf, ge):
    x = tf.constant(2.0, name="x")
    y = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * 2 + x), [0, x])[1]
    z = tf.constant(1.0, name="z")
    made = ge.graph_replace(y, {x: z}, dst_scope="again")
    with tf.Session() as session:
        return float(session.run(made))


def transformed(tf, ge):
    """A part with other inputs, op types, names and control inputs."""
    _, a, b, c = model(tf)
    graph = tf.get_default_graph()
    z = tf.constant([5.0, 6.0], name="z")

    def altered(node):
        node.name += "_new"
        node.device = "/cpu:0"
        node.op = {"Sub": "Maximum"}.get(node.op, node.op)
        return node

    def transform_op(info, op, inputs):
        if op.type == "Const":
            return ge.copy_op_handler(info, op, inputs, copy_shape=True)
        return ge.copy_op_handler(info, op, inputs, nodedef_fn=altered)

    made = ge.Transformer()
    made.transform_op_handler = transform_op
    made.transform_external_input_handler = lambda info, t: z
    made.transform_control_input_handler = lambda info, op: None
    seen = []
    made.assign_collections_handler = lambda info, x, y: seen.append([x.name, y.name])
    _, info = made([a.op, b.op, b.op.inputs[1].op, c.op], graph, "new")
    text = str(info).replace(str(id(graph)), "ID").split("Operations")[0]
    shapes = [t.shape.as_list() for t in (info.transformed(x) for x in (a, b, c))]
    kept = ge.transform_op_if_inside_handler(
        type(
            "Info",
            (),
            {"sgv": ge.sgv(a.op), "ops": {a.op}, "graph": graph, "graph_": graph},
        ),
        c.op,
        keep_if_possible=False,
    )
    with tf.Session() as session:
        value = session.run(info.transformed(c)).tolist()
    return sorted(seen), text, shapes, kept, value, info.transformed(c).device


def rerouted(tf, ge):
    x, a, b, c = model(tf)
    z = tf.constant([1.0, 1.0], name="z")
    counts = [ge.reroute_ts(z, x, can_modify=c.op), ge.swap_ts(a, b)]
    counts.append(ge.reroute_ts([z], [b], cannot_modify=[c.op]))
    return counts


def connected(tf, ge):
    _, a, b, c = model(tf)
    other = tf.placeholder(tf.float32, [2], name="other")
    e = tf.exp(other, name="e")
    ge.connect(a.op, e.op)
    ge.add_control_inputs(e.op, [c.op])
    ge.remove_control_inputs(b.op.inputs[1].op, a.op)


def detached(tf, ge):
    model(tf)
    scope = ge.sgv_scope("hidden", tf.get_default_graph())
    _, inputs, outputs = ge.detach(scope, control_inputs=True)
    return [t.name for t in inputs + outputs]


def bypassed(tf, ge):
    _, _, b, _ = model(tf)
    ge.bypass(ge.sgv(b.op).remap_inputs([0]))


def selected(tf, ge):
    x, a, b, c = model(tf)
    graph = tf.get_default_graph()
    view = ge.sgv("^hidden/", graph=graph)
    lists = [
        ge.select_ops("a$", "(?#ts)b", graph=graph),
        ge.select_ts("^hidden/.*:0", graph=graph),
        ge.select_ts("(?#ops)x", c, graph=graph),
        ge.get_backward_walk_ops(c, stop_at_ts=[a]),
        ge.get_walks_intersection_ops(a, c),
        ge.get_within_boundary_ops(graph, c.op, [a.op], inclusive=False),
        ge.compute_boundary_ts([a.op, b.op])[0],
        ge.compute_boundary_ts([a.op, b.op])[1],
        ge.get_consuming_ops([x]),
        ge.get_generating_ops([a, b, a]),
        view.ops, view.inputs, view.outputs, view.consumers(),
        ge.get_name_scope_ops(graph, "hidden/"),
        ge.filter_ops(graph, lambda op: op.type == "Const"),
    ]  # fmt: skip
    return [sorted({item.name for item in items}) for items in lists]


EDITS = [
    copies, copy_to_another_graph, replaced, replaced_loop, transformed, rerouted,
    connected, detached, bypassed, selected,
]  # fmt: skip


def edited(tf, ge, edit):
    """The result, and each node with its inputs."""
    with tf.Graph().as_default() as graph:
        result = edit(tf, ge)
        nodes = [[n.name, n.op, sorted(n.input)] for n in graph.as_graph_def().node]
    nodes = [[n, op, [i.replace(":0", "") for i in inputs]] for n, op, inputs in nodes]
    return json.loads(json.dumps([result, sorted(nodes)]))


def main(path):
    import tensorflow as tf
    from tensorflow.contrib import graph_editor as ge

    rows = {edit.__name__: edited(tf, ge, edit) for edit in EDITS}
    with open(path, "w") as file:
        json.dump(rows, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
