"""The lessons' checks: right answers pass, and each mistake is explained."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain import watch_growth


def answer(scope: str = "parts", divisor: float = 2.0, constant: bool = False):
    with tf.Graph().as_default():
        a = tf.constant(7.0, name="a")
        b = tf.constant(3.0, name="b")
        with tf.name_scope(scope):
            total = tf.add(a, b, name="sum")
            difference = tf.subtract(a, b, name="difference")
        if constant:
            return tf.constant(20.0)
        return tf.divide(total * difference, divisor)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: answer(), "Right"),
        (lambda: 20.0, "not a tensor"),
        (lambda: answer(scope="part"), "no operation named 'parts/sum'"),
        (lambda: answer(divisor=4.0), "is 10.0"),
        (lambda: answer(constant=True), "does not come from `a` and `b`"),
    ],
)
def test_build_and_run(checks, capsys, made, said) -> None:
    checks.check_build_and_run(made())
    assert said in capsys.readouterr().out


SIGMA = 5.670374e-8


@pytest.mark.parametrize(
    ("at_100", "of_sun", "both", "said"),
    [
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, "right", "Right"),
        (None, None, None, "still None"),
        (SIGMA * 100**4, None, None, "you fed `kelvin`"),
        (SIGMA * 373.15**4, None, None, "Cut the graph"),
        (SIGMA * 373.15**4, SIGMA * 6045.15**4, None, "you fed `celsius`"),
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, 3, "fetch a dictionary"),
        (SIGMA * 373.15**4, SIGMA * 5772.0**4, {"K": 1, "W": 2}, "at 0 °C"),
    ],
)
def test_fetch_feed_and_prune(checks, capsys, at_100, of_sun, both, said) -> None:
    if both == "right":
        both = {"K": 273.15, "W": SIGMA * 273.15**4}
    checks.check_fetch_feed_and_prune(at_100, of_sun, both)
    assert said in capsys.readouterr().out


def train(lazy: bool, steps: int = 20, finalize: bool = True):
    graph = tf.Graph()
    with watch_growth(graph) as growth, graph.as_default(), tf.Session() as sess:
        w = tf.Variable(0.0, name="w")

        def step():
            gradient = tf.gradients(tf.square(w * 3.0 - 6.0), w)[0]
            return w.assign_sub(0.05 * gradient)

        update = None if lazy else step()
        init = tf.global_variables_initializer()
        if finalize and not lazy:
            graph.finalize()
        sess.run(init)
        for _ in range(steps):
            sess.run(step() if lazy else update)
        return graph, growth, sess.run(w)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lazy": False}, "Right"),
        ({"lazy": True}, "were added after the first run, by"),
        ({"lazy": False, "finalize": False}, "graph.finalize()"),
        ({"lazy": False, "steps": 2}, "20 steps should bring"),
        ({"lazy": False, "steps": 10}, "keep the 20 steps"),
    ],
)
def test_avoid_lazy_loading(checks, capsys, options, said) -> None:
    checks.check_avoid_lazy_loading(*train(**options))
    assert said in capsys.readouterr().out


def own_momentum(rate=0.01, new=True, trainable=False, assign=True):
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 1.0], name="w")
        loss = tf.reduce_sum([50.0, 0.5] * tf.square(w), name="loss")
        velocity = tf.Variable(tf.zeros([2]), trainable=trainable, name="velocity")
        (gradient,) = tf.gradients(loss, [w])
        moved = velocity.assign(0.9 * velocity + gradient)
        if not assign:
            return graph, moved.op
        with tf.control_dependencies([moved]):
            used = moved if new else tf.constant([0.0, 0.0])
            return graph, w.assign_sub(rate * used + (0.0 if new else 0.5))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: own_momentum(), "Right"),
        (lambda: own_momentum(trainable=True), "not to be trained"),
        (lambda: own_momentum(assign=False), "`w` stays where it is"),
        (lambda: own_momentum(rate=0.1), "with the new velocity it is"),
        (lambda: own_momentum(new=False), "with the new velocity it is"),
    ],
)
def test_gradients_and_optimizers(checks, capsys, made, said) -> None:
    checks.check_gradients_and_optimizers(*made())
    assert said in capsys.readouterr().out


def averaged(build):
    with tf.Graph().as_default() as graph:
        w = tf.Variable(4.0, name="w")
        descent = tf.train.GradientDescentOptimizer(0.25)
        descend = descent.minimize(tf.square(w), name="descend")
        average = tf.train.ExponentialMovingAverage(0.5)
        return graph, build(w, descend, average)


def ordered(w, descend, average):
    with tf.control_dependencies([descend]):
        return average.apply([w])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (ordered, "Right"),
        (lambda w, descend, average: descend, "no average yet"),
        (lambda w, descend, average: average.apply([w]), "does not descend"),
        (lambda w, descend, average: (average.apply([w]), descend)[1], "stays at 4.0"),
        (lambda w, descend, average: tf.group(descend, average.apply([w])), "Not yet"),
    ],
)
def test_control_dependencies(checks, capsys, build, said) -> None:
    checks.check_control_dependencies(*averaged(build))
    assert said in capsys.readouterr().out


def fibonacci(begin=1, loops=1):
    def build(n):
        for _ in range(loops):
            _, a, _ = tf.while_loop(
                lambda i, a, b: i < n,
                lambda i, a, b: (i + 1, b, a + b),
                (begin, 1, 1),
            )
        return a

    return build


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (fibonacci(), "Right"),
        (lambda n: 3, "not a tensor"),
        (lambda n: n, "there are 0 loops"),
        (fibonacci(loops=2), "there are 2 loops"),
        (fibonacci(begin=0), "Begin with (1, 1, 1)"),
        (lambda n: tf.while_loop(lambda i: i < n, lambda i: i, [0]), "does not end"),
        (lambda n: tf.constant(range(n)), "Your line: `(lambda n: tf.constant(range"),
    ],
)
def test_while_loop(checks, capsys, build, said) -> None:
    checks.check_while_loop(build)
    assert said in capsys.readouterr().out


def sparse_loss(table, ids, of_all=False, rate=0.1):
    rows = tf.nn.embedding_lookup(table, ids)
    data_loss = tf.reduce_mean(tf.square(rows))
    return data_loss + rate * tf.nn.l2_loss(table if of_all else rows)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (sparse_loss, "Right"),
        (lambda table, ids: sparse_loss(table, ids, of_all=True), "is dense"),
        (lambda table, ids: sparse_loss(table, ids, rate=0.5), "16.5 + 0.1 * 33"),
        (lambda table, ids: tf.constant(1.0), "does not depend on the table"),
        (lambda table, ids: table, "not a tensor"),
        (lambda table, ids: table + 1.0, "the loss has shape (3, 2)"),
    ],
)
def test_embeddings(checks, capsys, build, said) -> None:
    checks.check_embeddings(build)
    assert said in capsys.readouterr().out


def conv_relu(inputs, filters, scope, size=3, reuse=tf.AUTO_REUSE):
    with tf.variable_scope(scope, reuse=reuse):
        depth = inputs.shape[-1].value
        kernel = tf.get_variable("kernel", [size, size, depth, filters])
        bias = tf.get_variable("bias", [filters])
        return tf.nn.relu(tf.nn.conv2d(inputs, kernel, [1, 1, 1, 1], "SAME") + bias)


def block(scoped=True, pooled=True, shared=True, apart=True):
    def build(inputs, filters, scope_name):
        scope = scope_name if apart else "a"
        if not shared:
            scope = tf.get_default_graph().unique_name(scope_name)
        with tf.variable_scope(scope if scoped else "other"):
            net = conv_relu(conv_relu(inputs, filters, "first"), filters, "second")
            if not pooled:
                return net
            return tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")

    return build


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (block(), "Right"),
        (lambda inputs, filters, scope_name: inputs, "return the output"),
        (block(scoped=False), "Build both convolutions inside"),
        (block(pooled=False), "(?, 6, 4, 4)"),
        (block(shared=False), "makes new variables"),
    ],
)
def test_convnet(checks, capsys, build, said) -> None:
    checks.check_convnet(build, None, None)
    assert said in capsys.readouterr().out


def encoded(units: int, names: tuple[str, str], reuse: bool | None, axis: int = 1):
    def compare(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        codes = [
            tf.layers.dense(a, units, name=names[0]),
            tf.layers.dense(b, units, name=names[1], reuse=reuse),
        ]
        return tf.reduce_sum(tf.squared_difference(*codes), axis=axis)

    return compare


@pytest.mark.parametrize(
    ("compare", "said"),
    [
        (encoded(3, ("encoder", "encoder"), True), "Right"),
        (encoded(3, ("one", "two"), None), "there are 4 variables"),
        (
            encoded(3, ("encoder", "encoder"), None),
            "it ends with ValueError: Variable encoder/kernel already",
        ),
        (encoded(3, ("layer", "layer"), True), "should be called `encoder`"),
        (encoded(3, ("encoder", "encoder"), True, axis=0), "not one number a row"),
        (lambda a, b: encoded(3, ("encoder",) * 2, True)(a, b) + 1.0, "distance 0"),
        (lambda a, b: encoded(3, ("encoder",) * 2, True)(a, b) * 2.0, "the *squared*"),
        (encoded(4, ("encoder", "encoder"), True), "has 4 units"),
        (lambda a, b: tf.reduce_sum(a - b, 1), "there are no variables"),
    ],
)
def test_lesson_4(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], compare, said: str
) -> None:
    checks.check_sharing(compare)
    assert said in capsys.readouterr().out


def two_variables() -> tuple[tf.Variable, tf.Variable]:
    return tf.Variable(0.0, name="total"), tf.Variable(0.0, name="count")


def right_mean(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total.assign_add(x) / count.assign_add(1.0)


def no_updates(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total / count


def half_updated(x: tf.Tensor) -> tf.Tensor:
    total, count = two_variables()
    return total.assign_add(x) / tf.maximum(count, 1.0)


@pytest.mark.parametrize(
    ("running_mean", "said"),
    [
        (right_mean, "Right"),
        (no_updates, "after [4.0] it gives nan, but the mean is 4"),
        (half_updated, "after [4.0, 8.0] it gives 12, but the mean is 6"),
        (lambda x: x, "there is no variable"),
        (lambda x: 3.0, "is 3.0, not a tensor"),
        (lambda x: tf.Variable([0.0]).assign_add([x]), "has shape (1,)"),
        (lambda x: tf.Variable(0.0) / tf.Variable(0), "Your line: `(lambda x: tf.Var"),
        (lambda x: tf.Session().run(x), "Your line: `(lambda x: tf.Session()"),
    ],
)
def test_lesson_3(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], running_mean, said: str
) -> None:
    checks.check_running_mean(running_mean)
    assert said in capsys.readouterr().out


def towers(
    devices: tuple[str, ...] = ("/gpu:0", "/gpu:1"),
    joined_on: str = "/cpu:0",
    swaps: bool = False,
):
    def two_towers(x: tf.Tensor, layer) -> tf.Tensor:
        halves = tf.split(x, len(devices), axis=0)
        results = []
        for half, device in zip(halves, devices, strict=True):
            with tf.device(device):
                results.append(layer(half))
        with tf.device(joined_on):
            return tf.concat(results[::-1] if swaps else results, axis=0)

    return two_towers


@pytest.mark.parametrize(
    ("two_towers", "said"),
    [
        (towers(), "Right"),
        (lambda x, layer: layer(x), "called once"),
        (towers(("/gpu:0", "/gpu:0")), "the layers ask for '/device:GPU:0' and"),
        (towers(joined_on="/gpu:0"), "joined on '/device:GPU:0', not on the CPU"),
        (towers(swaps=True), "in the same order"),
    ],
)
def test_lesson_11(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], two_towers, said: str
) -> None:
    checks.check_towers(two_towers)
    assert said in capsys.readouterr().out


def one_by_one(points: tf.Tensor, centres: tf.Tensor) -> tf.Tensor:
    parts = tf.unstack(centres)
    columns = [tf.reduce_sum(tf.square(points - part), axis=1) for part in parts]
    return tf.stack(columns, axis=1)


def all_at_once(points: tf.Tensor, centres: tf.Tensor) -> tf.Tensor:
    apart = tf.expand_dims(points, 1) - tf.expand_dims(centres, 0)
    return tf.reduce_sum(tf.square(apart), axis=2)


@pytest.mark.parametrize(
    ("distances", "said"),
    [
        (all_at_once, "Right"),
        (one_by_one, "right, but 22 ops run"),
        (lambda p, c: tf.transpose(all_at_once(p, c)), "is [5, 7], not [7, 5]"),
        (lambda p, c: 2 * all_at_once(p, c), "the numbers are not"),
        (lambda p, c: tf.matmul(p, c), "it ends with ValueError: Dimensions must"),
    ],
)
def test_lesson_13(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], distances, said: str
) -> None:
    checks.check_distances(distances)
    assert said in capsys.readouterr().out


def plain_length(rows):
    return tf.sqrt(tf.reduce_sum(tf.square(rows), axis=1))


def chosen_late(rows):
    squares = tf.reduce_sum(tf.square(rows), axis=1)
    return tf.where(squares > 0.0, tf.sqrt(squares), tf.zeros_like(squares))


def chosen_before(rows):
    squares = tf.reduce_sum(tf.square(rows), axis=1)
    is_zero = tf.equal(squares, 0.0)
    roots = tf.sqrt(tf.where(is_zero, tf.ones_like(squares), squares))
    return tf.where(is_zero, tf.zeros_like(squares), roots)


@pytest.mark.parametrize(
    ("safe_length", "said"),
    [
        (chosen_before, "Right"),
        (
            lambda rows: tf.sqrt(tf.reduce_sum(tf.square(rows), axis=1) + 1e-12),
            "Right",
        ),
        (plain_length, "the gradient is still NaN"),
        (chosen_late, "the gradient is still NaN"),
        (lambda rows: tf.reduce_sum(tf.square(rows), axis=1), "should be 5, 0 and 1"),
        (lambda rows: tf.sqrt(tf.reduce_sum(tf.square(rows))), "is [], not [3]"),
        (lambda rows: tf.constant([5.0, 0.0, 1.0]), "there is no gradient"),
        (lambda rows: tf.stop_gradient(chosen_before(rows)), "there is no gradient"),
        (
            lambda rows: 2 * chosen_before(rows)
            - tf.stop_gradient(chosen_before(rows)),
            "it should be each row divided",
        ),
        (lambda rows: tf.sqrt(rows, 1, 2), "it ends with TypeError"),
    ],
)  # fmt: skip
def test_lesson_12(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], safe_length, said: str
) -> None:
    checks.check_safe_length(safe_length)
    assert said in capsys.readouterr().out


def saved_shapes(checkpoint: str) -> dict[str, list[int]]:
    return dict(tf.train.list_variables(checkpoint))


def what_fits(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    fit = [v for v in variables if saved.get(v.op.name) == v.shape.as_list()]
    return tf.train.Saver(fit)


def what_has_the_name(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    return tf.train.Saver([v for v in variables if v.op.name in saved])


def what_fits_but_scalars(variables, checkpoint):
    saved = saved_shapes(checkpoint)
    fit = [v for v in variables if saved.get(v.op.name)]
    return tf.train.Saver([v for v in fit if saved[v.op.name] == v.shape.as_list()])


def one_of_two(variables, checkpoint):
    return tf.train.Saver([v for v in variables if v.op.name == "steps"])


@pytest.mark.parametrize(
    ("saver", "said"),
    [
        (what_fits, "Right"),
        (lambda v, c: tf.train.Saver(v), "the Saver has `output/bias`"),
        (what_has_the_name, "`output/kernel` is [3, 4] in the graph"),
        (what_fits_but_scalars, "`steps` [] is in the checkpoint"),
        (one_of_two, "`hidden/kernel` [2, 3] is in the checkpoint"),
        (lambda v, c: v, "is not a tf.train.Saver"),
    ],
)
def test_lesson_14(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], saver, said: str
) -> None:
    checks.check_saver(saver)
    printed = capsys.readouterr().out
    assert said in printed
    assert "Restoring parameters" not in printed


def frozen_net() -> Any:
    """A GraphDef with the ends of lesson 15's."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
        flat = tf.reshape(images, [-1, 784])
        weights = np.sin(np.arange(7840.0)).reshape(784, 10)
        tf.nn.softmax(tf.matmul(flat, tf.constant(weights, tf.float32)) / 10, name="p")
        tf.identity(graph.get_tensor_by_name("p:0"), name="probabilities")
        return graph.as_graph_def()


def saves(
    digit: Any = lambda p: tf.argmax(p, 1),
    probability: Any = lambda p: tf.reduce_max(p, axis=1),
    names: tuple[str, ...] = ("image", "digit", "probability"),
) -> Any:
    def serve(graph_def: Any, export_dir: str) -> None:
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            ends = ["images:0", "probabilities:0"]
            images, found = tf.import_graph_def(graph_def, return_elements=ends)
            outputs = {names[1]: digit(found), names[2]: probability(found)}
            inputs = {names[0]: images}
            tf.saved_model.simple_save(session, export_dir, inputs, outputs)

    return serve


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (saves(), "Right"),
        (lambda graph_def, export_dir: None, "there is no SavedModel"),
        (saves(names=("image", "digit", "p")), "is image -> digit, p; it should"),
        (saves(names=("x", "digit", "probability")), "is x -> digit, probability"),
        (saves(probability=lambda p: p), "`probability` [5, 10]; both should be [5]"),
        (saves(digit=lambda p: tf.argmax(p, 1, output_type=tf.int32)), "is int32"),
        (saves(digit=lambda p: tf.argmin(p, 1)), "`digit` is ["),
        (saves(probability=lambda p: tf.reduce_mean(p, axis=1)), "not that of this"),
        (lambda graph_def: None, "it ends with TypeError"),
        (3, "'int' object is not callable"),
    ],
)
def test_lesson_15(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], serve: Any, said: str
) -> None:
    checks.check_served_model(serve, frozen_net())
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "check_running_mean",
        "check_sharing",
        "check_while_loop",
        "check_embeddings",
        "check_towers",
        "check_safe_length",
        "check_distances",
        "check_saver",
    ],
)
def test_a_function_that_fails_or_returns_nothing_is_a_problem_as_well(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    check = getattr(checks, name)
    check(lambda *_: None)
    check(3)

    def fails(*_):
        raise KeyError("scores")

    check(fails)
    nothing, no_function, failed = capsys.readouterr().out.splitlines()
    assert "Not yet: " in nothing
    assert "'int' object is not callable" in no_function
    begin, _, line = failed.partition(" Your line: ")
    assert begin == "Not yet: it ends with KeyError: 'scores'"
    assert line == '`raise KeyError("scores")`'
