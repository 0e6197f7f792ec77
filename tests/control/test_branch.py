"""Branches and loops: what is refused, what runs, what may be used where."""

import pytest

import tfteach as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def flag(value=True):
    return tf.placeholder_with_default(value, [])


def test_only_the_taken_branch_runs(session):
    v = tf.Variable(0, name="v")
    p = tf.placeholder(tf.bool, [])
    outside = tf.assign_add(v, 100)  # made outside: runs in any case

    def branch():
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return tf.constant(1)

    chosen = tf.cond(p, branch, lambda: tf.constant(2))
    both = tf.cond(p, lambda: outside, lambda: tf.constant(0))
    session.run(v.initializer)
    assert session.run(chosen, {p: False}) == 2
    assert session.run(v) == 0
    assert session.run(chosen, {p: True}) == 1
    assert session.run(v) == 1
    session.run(both, {p: False})
    assert session.run(v) == 101


def test_a_loop_in_a_branch_not_taken(session):
    p = tf.placeholder(tf.bool, [])
    n = tf.constant(4)

    def loop():
        return tf.while_loop(lambda i: i < n, lambda i: i + 1, [tf.constant(0)])

    chosen = tf.cond(p, loop, lambda: tf.constant(-1))
    assert session.run(chosen, {p: True}) == 4
    assert session.run(chosen, {p: False}) == -1


def test_loop_without_a_turn_and_many_turns(session):
    n = tf.placeholder(tf.int32, [])
    i, total = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), [0, 0])
    assert session.run([i, total], {n: 0}) == [0, 0]
    assert session.run([i, total], {n: 3000}) == [3000, 3000 * 2999 // 2]


def test_errors_in_a_loop_name_the_op(session):
    bad = tf.while_loop(
        lambda i: i < 3, lambda i: tf.check_numerics(i / 0.0, "in the loop"), [1.0]
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the loop") as caught:
        session.run(bad)
    assert caught.value.op.name == "while/CheckNumerics"


def test_what_is_inside_cannot_be_fetched_or_fed(session):
    inside = []
    tf.cond(
        flag(),
        lambda: inside.append(tf.constant(1.0)) or inside[0] + 1.0,
        lambda: tf.constant(2.0),
    )
    with pytest.raises(ValueError, match="has been marked as not fetchable"):
        session.run(inside[0])
    tf.while_loop(lambda i: i < 3, lambda i: inside.append(i) or i + 1, [0])
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(tf.constant(1), {inside[1]: 1})


def test_values_of_a_loop_stay_inside(session):
    inside = []
    tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [0])
    before = len(session.graph.get_operations())
    with pytest.raises(
        ValueError, match=r"Cannot use 'while/add' as input to '(neg|Neg)' bec"
    ):
        tf.negative(inside[0])
    assert len(session.graph.get_operations()) == before
    with pytest.raises(ValueError, match="because they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + inside[0], [0])


def test_contexts_are_kept(session):
    y = tf.cond(flag(), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    [on_true, on_false] = tf.get_collection(tf.GraphKeys.COND_CONTEXT)
    assert (on_true.branch, on_false.branch) == (1, 0)
    assert on_true.pivot.op.name == "cond/switch_t"
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations=7)
    [loop] = tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    assert loop.name == "while/while_context"
    assert loop.parallel_iterations == 7
    assert y.op.control_flow_context is None
    assert session.graph.control_flow_context is None


def test_an_error_in_a_function_leaves_no_context_open(session):
    def fail(*_):
        raise KeyError("mine")

    for build in (
        lambda: tf.cond(flag(), fail, fail),
        lambda: tf.while_loop(fail, fail, [0]),
        lambda: tf.while_loop(lambda i: i < 3, fail, [0]),
    ):
        with pytest.raises(KeyError, match="mine"):
            build()
        assert session.graph.control_flow_context is None
    assert session.run(tf.constant(1) + 1) == 2


def one():
    return tf.constant(1)


COND_REFUSED = {
    "python bool": (lambda: tf.cond(True, one, one), TypeError, "not be a Python bool"),
    "no true_fn": (lambda: tf.cond(flag()), TypeError, "true_fn argument required"),
    "no false_fn": (lambda: tf.cond(flag(), one), TypeError, "false_fn argument requi"),
    "both names": (
        lambda: tf.cond(flag(), one, one, fn1=one),
        TypeError,
        "may not be set simul",
    ),
    "no function": (lambda: tf.cond(flag(), 1, one), TypeError, "true_fn must be call"),
    "nothing": (
        lambda: tf.cond(flag(), lambda: None, one),
        ValueError,
        "true_fn must have",
    ),
    "empty": (lambda: tf.cond(flag(), list, list), ValueError, "at least one result"),
    "types": (
        lambda: tf.cond(flag(), one, lambda: tf.constant(1.0)),
        ValueError,
        "Outputs of true_fn and false_fn must have the same type: int32, float32",
    ),
    "lengths": (
        lambda: tf.cond(flag(), lambda: [one(), one()], one),
        ValueError,
        r"(?s)is a sequence, while substructure .*first structure:\n\[., .\]\n",
    ),
    "structures": (
        lambda: tf.cond(flag(), lambda: [one(), one()], lambda: (one(), one())),
        TypeError,
        r"(?s)same sequence type\. First structure type=list .* has type tuple",
    ),
}


@pytest.mark.parametrize("case", COND_REFUSED)
def test_cond_refuses(session, case):
    build, kind, message = COND_REFUSED[case]
    with pytest.raises(kind, match=message):
        build()


def less(i):
    return i < 3


WHILE_REFUSED = {
    "cond": (lambda: tf.while_loop(1, less, [0]), TypeError, "cond must be callable"),
    "body": (lambda: tf.while_loop(less, 1, [0]), TypeError, "body must be callable"),
    "no variables": (
        lambda: tf.while_loop(less, less, []),
        ValueError,
        "No loop variables provided",
    ),
    "parallel": (
        lambda: tf.while_loop(less, less, [0], parallel_iterations=0),
        TypeError,
        "parallel_iterations must be a positive integer",
    ),
    "structure": (
        lambda: tf.while_loop(less, lambda i: [i, i], [0]),
        ValueError,
        "don't have the same",
    ),
    "shape": (
        lambda: tf.while_loop(
            lambda x: True, lambda x: tf.concat([x, x], 0), [tf.constant([1.0])]
        ),
        ValueError,
        r"enters the loop with shape \(1,\), but has shape \(2,\) after",
    ),
    "type": (
        lambda: tf.while_loop(less, lambda i: tf.to_float(i), [0]),
        tf.errors.InvalidArgumentError,
        "was passed float from while/NextIteration:0 incompatible with expected int32",
    ),
    "invariant": (
        lambda: tf.while_loop(
            less, lambda i: i + 1, [0], shape_invariants=[tf.TensorShape([2])]
        ),
        ValueError,
        "The shape invariant specified for while/Const:0 is not compatible",
    ),
    "no shapes": (
        lambda: tf.while_loop(less, lambda i: i + 1, [0], shape_invariants=[[]]),
        (ValueError, TypeError),
        "shapes|structure",
    ),
    "maximum": (
        lambda: tf.while_loop(less, lambda i: i + 1, [0], maximum_iterations=[1]),
        ValueError,
        "maximum_iterations must be a scalar",
    ),
}


@pytest.mark.parametrize("case", WHILE_REFUSED)
def test_while_loop_refuses(session, case):
    build, kind, message = WHILE_REFUSED[case]
    with pytest.raises(kind, match=message):
        build()


def test_case(session):
    x = tf.placeholder(tf.int32, [])
    pairs = [
        (tf.equal(x, 1), lambda: tf.constant(10)),
        (x < 3, lambda: tf.constant(20)),
    ]
    value = tf.case(pairs, default=lambda: tf.constant(0))
    assert [session.run(value, {x: n}) for n in (1, 2, 5)] == [10, 20, 0]
    named = tf.case(dict(pairs), default=lambda: tf.constant(0), exclusive=True)
    assert session.run(named, {x: 2}) == 20
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
        session.run(named, {x: 1})
    strict = tf.case(pairs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions eval"):
        session.run(strict, {x: 9})
    for bad, message in {
        3: "fns must be a list, tuple, or dict",
        (3,): "Each entry in pred_fn_pairs must be a 2-tuple",
        ((True, one),): "pred must be a Tensor, got: True",
        ((x, one),): "pred must be Tensor of type bool",
        ((pairs[0][0], 3),): "must be callable",
    }.items():
        with pytest.raises(TypeError, match=message):
            tf.case(list(bad) if isinstance(bad, tuple) else bad)


def test_smart_cond(session):
    smart = tf.contrib.framework.smart_cond
    assert smart(True, lambda: "yes", lambda: "no") == "yes"
    assert smart(tf.constant(False), lambda: "yes", lambda: "no") == "no"
    assert smart(flag(), one, one).op.type == "Merge"
    with pytest.raises(TypeError, match="must be a Tensor, or a Python bool"):
        smart("x", one, one)
    with pytest.raises(TypeError, match="`true_fn` must be callable"):
        smart(True, 1, one)


def test_importing_into_a_branch_and_a_loop(session):
    with tf.Graph().as_default() as part:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x, tf.constant(2.0, name="c"), name="y")
    graph_def = part.as_graph_def()

    def plus_two(value):
        return tf.import_graph_def(graph_def, {"x:0": value}, ["y:0"], name="two")[0]

    p, a = flag(), tf.constant(1.0, name="a")
    chosen = tf.cond(p, lambda: plus_two(a), lambda: a)
    looped = tf.while_loop(lambda i: i < 9, plus_two, [0.0])
    added = session.graph.get_operation_by_name("cond/two/y")
    assert added.inputs[0].name == "cond/Switch_1:1"  # as TF names it
    constant = session.graph.get_operation_by_name("while/two/c")
    assert [c.name for c in constant.control_inputs] == ["while/Identity"]
    assert session.run([chosen, looped]) == [3, 10]
    assert session.run(chosen, {p: False}) == 1


def test_smart_case(session):
    smart = tf.contrib.framework.smart_case
    ten, twenty = lambda: tf.constant(10), lambda: tf.constant(20)

    def never():
        raise AssertionError("called")

    assert smart([(True, lambda: 2), (False, never)], never) == 2
    assert smart([(False, never), (tf.constant(False), never)], lambda: 3) == 3
    x = tf.placeholder(tf.int32, [])
    mixed = smart([(x > 1, ten), (False, never), (True, twenty)], never)
    assert [session.run(mixed, {x: n}) for n in (2, 0)] == [10, 20]
    assert mixed.name == "smart_case_2/cond/Merge:0"
    only = smart([(x > 1, ten), (True, twenty)], never, exclusive=True, name="only")
    assert session.run(only, {x: 0}) == 20
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"more than 1 conditions \(Greater_1:0, \?",
    ):
        session.run(only, {x: 2})
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("only/preds_c").type == "Pack"
    assert graph.get_operation_by_name("only/preds_c/1").type == "Const"
    last = smart([(False, never), (False, ten)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions eval"):
        session.run(last)
    for bad, message in (
        ([(1, one)], "pred must be a Tensor or bool, got: 1"),
        ([(x, one)], "pred must be Tensor of type bool"),
        ([(True, 3)], "fn for pred True must be callable"),
        ([(True,)], "Each entry in pred_fn_pairs must be a 2-tuple"),
    ):
        with pytest.raises(TypeError, match=message):
            smart(bad, one)
