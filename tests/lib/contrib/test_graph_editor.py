"""tf.contrib.graph_editor, against real TensorFlow's edits."""

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import graph_editor

GOLDEN = json.loads(Path(graph_editor.__file__).with_suffix(".json").read_text())
ge = tf.contrib.graph_editor


@pytest.mark.parametrize("edit", graph_editor.EDITS, ids=lambda edit: edit.__name__)
def test_edits_are_tensorflows(edit):
    made, wanted = graph_editor.edited(tf, ge, edit), GOLDEN[edit.__name__]
    assert made[0] == wanted[0]
    assert made[1] == wanted[1]


def test_a_loop_and_its_copy_run_in_one_step():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2.0)
        y = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * x), [0, x])[1]
        again = ge.graph_replace({"y": [y]}, {x: tf.constant(3.0)}, "copy")
        assert session.run([y, again["y"][0]]) == [16.0, 81.0]
        assert again["y"][0].name.startswith("copy/while/")


def test_a_copy_in_another_graph_runs():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="s/x")
        y = tf.reduce_sum(x * tf.constant([1.0, 3.0]), name="s/y")
        other = tf.Graph()
        view, info = ge.copy(ge.sgv(y.op, graph=graph), other, src_scope="s")
    assert [t.name for t in view.inputs][:1] == ["geph__mul_0:0"]
    assert view.outputs == [info.transformed(y)]
    assert info.original(view.op(0)) is y.op
    assert info.transformed([x], lambda t: t.name) == ["s/x:0"]
    assert "  s/y => y\n" in str(info)
    with tf.Session(graph=other) as session:
        feeds = {view.inputs[0]: [1.0, 6.0]}
        assert session.run(info.transformed(y), feeds | {view.inputs[1]: [0]}) == 7.0


def test_replacements_run_beside_the_original():
    with tf.Graph().as_default(), tf.Session() as session:
        x, z = tf.constant(2.0, name="x"), tf.constant(3.0, name="z")
        y = tf.square(x)
        view, info = ge.copy_with_input_replacements(y.op, {x: z})
        assert view.inputs == [z]
        assert session.run([y, info.transformed(y)]) == [4.0, 9.0]
        assert ge.reroute_ts(z, x) == 1
        assert session.run(y) == 9.0


def test_a_transformation_in_place_is_refused():
    with tf.Graph().as_default() as graph:
        y = tf.square(tf.constant(2.0))
        transform = ge.Transformer()
        transform.transform_op_handler = lambda info, op, inputs: (op, op.outputs)
        with pytest.raises(ValueError, match="In-place transformation not allowed"):
            transform(y.op, graph, "scope")


def test_views():
    with tf.Graph().as_default() as graph:
        _, a, b, _ = graph_editor.model(tf)
        view = ge.sgv_scope("hidden", graph)
        assert view.find_op_by_name("hidden/a") is a.op
        assert view.output_index(b) == view.outputs.index(b)
        assert view.remap_outputs([b, b]).outputs == [b, b]
        assert view.remap_outputs([b, b]).remap_outputs_make_unique().outputs == [b]
        assert view.remap_outputs([b]).remap_default().outputs == view.outputs
        assert view.remap([], [b]).remap_outputs_to_consumers().outputs == [b]
        assert "** outputs[1]:\n  hidden/b:0\n" in str(view)
        assert str(ge.SubGraphView()) == "SubGraphView: empty"
        assert not ge.SubGraphView()
        loose = ge.sgv([a.op, tf.no_op()])
        assert loose.remove_unused_ops().ops == [a.op]
        for call, message in (
            (lambda: view.find_op_by_name("d"), "d not in subgraph"),
            (lambda: view.input_index(b), "Can't find hidden/b:0 in inputs"),
            (lambda: view.remap_inputs([0, 0]), "Found repetition in mapping"),
            (lambda: view.remap_outputs([7]), r"Out of \[0, 1\[ range: 7"),
            (lambda: ge.SubGraphView().graph, "An empty SubGraphView has no graph"),
            (lambda: ge.sgv(view, graph=tf.Graph()), "Graph mismatch"),
        ):
            with pytest.raises(ValueError, match=message):
                call()


def test_refused():
    with tf.Graph().as_default() as graph:
        x, a, b, c = graph_editor.model(tf)
        number, three = tf.constant([1, 2]), b.op.inputs[1].op
        with tf.Graph().as_default():
            foreign = tf.constant([1.0, 2.0])
        for error, call, message in (
            (TypeError, lambda: ge.select_ops(3), "Expected a tf.Operation, got"),
            (TypeError, lambda: ge.make_list_of_t([x.op]), "Expected a tf.Tensor, got"),
            (TypeError, lambda: ge.get_tensors(3), "Expected a graph, got"),
            (ValueError, lambda: ge.select_ts("x"), "Use the keyword argument 'graph'"),
            (ValueError, lambda: ge.make_regex(3), "Expected a string or a regex"),
            (ValueError, lambda: ge.select_ts([x, foreign]), "of several graphs"),
            (ValueError, lambda: ge.swap_ts(x, [a, b]), "different sizes: 1 != 2"),
            (ValueError, lambda: ge.swap_ts(x, number), "are not compatible"),
            (
                ValueError,
                lambda: ge.swap_ts(x, tf.constant([1.0])),
                r"Shapes \(2,\) and \(1,\) are not compatible",
            ),
            (
                ValueError,
                lambda: ge.graph_replace(x, {c: c}),
                "Targets and replacements are not connected",
            ),
            (
                ValueError,
                lambda: ge.copy(c.op, src_scope="hidden"),
                "c does not belong to source scope: hidden/",
            ),
            (TypeError, lambda: ge.copy(c.op, 3), "Expected a tf.Graph, got"),
            (
                TypeError,
                lambda: ge.copy_op_handler(None, c.op, True),
                "the `new_inputs` argument must be an iterable",
            ),
            (
                TypeError,
                lambda: ge.copy(c.op)[1].transformed("c"),
                "Expected a tf.Tensor or a tf.Operation, got a <class 'str'>",
            ),
            (
                ValueError,
                lambda: ge.add_control_inputs(three, a.op),
                "hidden/a is already a control_input of hidden/b/y",
            ),
            (
                ValueError,
                lambda: ge.remove_control_inputs(b.op, c.op),
                "c is not a control input of hidden/b",
            ),
            (TypeError, lambda: ge.add_control_inputs(b, a.op), "Expected a tf.Opera"),
            (
                ValueError,
                lambda: ge.get_within_boundary_ops(graph, a.op, [a.op]),
                "Boundary is intersecting",
            ),
            (TypeError, lambda: ge.get_ops_ios(a.op, control_ios=3), "ControlOutputs"),
            (TypeError, lambda: ge.detach_control_outputs(a.op, 3), "ControlOutputs"),
        ):
            with pytest.raises(error, match=message):
                call()
        outputs = ge.ControlOutputs(graph)
        with pytest.raises(ValueError, match="should be None when using control_ios"):
            ge.check_cios(control_outputs=outputs, control_ios=outputs)
        assert three in outputs.update().get(a.op)
        assert a.op in outputs.get_all()
