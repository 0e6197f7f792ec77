"""`tf.raw_ops`: every op by the names of its inputs and attributes."""

import pytest

import tfteach as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_calls():
    r = tf.raw_ops
    product = r.MatMul(a=[[1.0, 2.0]], b=[[3.0, 4.0]], transpose_b=True, name="mine")
    assert product.name == "mine:0"
    top = r.TopKV2(input=[1, 3, 2], k=2)
    joined = r.ConcatV2(values=[[1], [2]], axis=0)
    with tf.Session() as session:
        assert session.run(product) == [[11.0]]
        assert session.run(top.values).tolist() == [3, 2]
        assert session.run(top.indices).tolist() == [1, 2]
        assert session.run(joined).tolist() == [1, 2]
    assert r.NoOp().type == "NoOp"
    assert r.MatMul is r.MatMul
    assert r.MatMul.__name__ == "MatMul"


def test_outputs_that_are_lists():
    found = tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[0, 1], stats_summary_list=[[[[1.0, 1.0]]], [[[2.0, 1.0]]]],
        l1=0.0, l2=0.0, tree_complexity=0.0, min_node_weight=0.0, max_splits=1,
    )  # fmt: skip
    assert found._fields[0] == "node_ids_list"
    assert [len(tensors) for tensors in found] == [2] * 5
    assert [tensor.op.type for tensor in found.gains_list] == [
        "BoostedTreesCalculateBestGainsPerFeature"
    ] * 2
    assert [tensor.value_index for tensor in found.gains_list] == [2, 3]


def test_refused():
    r = tf.raw_ops
    for call, message in (
        (
            lambda: r.MatMul([[1.0]], [[2.0]]),
            "MatMul only takes keyword args [(]",
        ),
        (lambda: r.MatMul(a=[[1.0]]), "missing 1 required positional argument: 'b'"),
        (lambda: r.Const(), "missing 2 required positional arguments: 'value' and 'd"),
        (lambda: r.MatMul(a=1, b=1, x=3), "got an unexpected keyword argument 'x'"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    for name in ("Nix", "_Send"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
            getattr(r, name)


def test_functions_of_attributes_join_the_library(graph):
    from tfteach.framework.functions.defined_function import DefinedFunction
    from tfteach.framework.functions.func_graph import FuncGraph

    body = FuncGraph("twice")
    with body.as_default():
        body.outputs = [body.add_input(tf.float32, [], "x") * 2.0]
    twice = DefinedFunction("twice", body)
    for other in (graph, tf.Graph()):  # ops with equal attributes are one object
        with other.as_default(), tf.Session() as session:
            (found,) = tf.raw_ops.Case(
                branch_index=0, input=[3.0], Tout=[tf.float32], branches=[twice]
            )
            assert session.run(found) == 6.0
