"""Networks: names of variables and checkpoints as TensorFlow makes them, in both modes.

The names and messages are what TensorFlow 1.15.5 printed.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eager_program

tfe = tf.contrib.eager


@pytest.fixture(params=["eager", "graph"])
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The test is an eager program, or has a session that is the default."""
    with ExitStack() as stack:
        if request.param == "eager":
            stack.enter_context(eager_program())
            yield None
        else:
            stack.enter_context(tf.Graph().as_default())
            yield stack.enter_context(tf.Session())


class One(tfe.Network):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.layer = self.track_layer(tf.layers.Dense(1, use_bias=False))

    def call(self, inputs: Any) -> Any:
        return self.layer(inputs)


class Model(tfe.Network):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.a = self.track_layer(tf.layers.Dense(2))
        self.b = self.track_layer(tf.layers.Dense(1, name="out"))
        self.c, self.d = self.track_layer(One()), self.track_layer(One())

    def call(self, inputs: Any) -> Any:
        return self.d(self.b(self.a(inputs))) + self.c(inputs)


def built(network: Any) -> Any:
    network(tf.ones([2, 2]))
    if not tf.executing_eagerly():
        tf.get_default_session().run(tf.global_variables_initializer())
    return network


def names(network: Any) -> list[str]:
    return [v.name.removesuffix(":0") for v in network.variables]


def values(network: Any) -> list[Any]:
    if tf.executing_eagerly():
        return [v.numpy() for v in network.variables]
    return tf.get_default_session().run(network.variables)


def same(one: Any, other: Any) -> bool:
    pairs = zip(values(one), values(other), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_names(session: Any) -> None:
    one = One()
    with pytest.raises(ValueError, match="does not yet have a final name"):
        _ = one.name
    assert one.variables == []
    assert names(built(one)) == ["one/dense/kernel"]
    assert [one.name, one.scope_name] == ["one", "one"]
    assert names(built(One())) == ["one_1/dense/kernel"]
    for scope in "model", "model_1":
        assert names(built(Model())) == [
            f"{scope}/dense/kernel",
            f"{scope}/dense/bias",
            f"{scope}/out/kernel",
            f"{scope}/out/bias",
            f"{scope}/one/dense/kernel",
            f"{scope}/one_1/dense/kernel",
        ]
    built(One("given"))
    with pytest.raises(ValueError, match="Network named 'given' already exists"):
        built(One("given"))


def test_names_in_variable_scopes(session: Any) -> None:
    with tf.variable_scope("outer"):
        assert [built(One()).name, built(One()).name] == ["outer/one", "outer/one_1"]
        later = One("later")
        with tf.variable_scope("model"):
            pass
        inner = Model()
    with tf.variable_scope("model"):
        pass
    assert built(Model()).name == "model_1"
    assert built(inner).name == "outer/model_1"
    assert names(built(later)) == ["outer/later/dense/kernel"]
    assert later.name == "outer/later"


def test_layers(session: Any) -> None:
    model = Model()
    assert [layer.name for layer in model.layers] == ["dense", "out", "one", "one_1"]
    assert model.get_layer("out") is model.get_layer(index=1) is model.b
    for arguments, message in [
        ({"name": "in"}, "No such layer: in"),
        ({"index": 4}, "at index 4 but model only has 4 layers"),
        ({}, "Provide either a layer name or layer index"),
        ({"name": "out", "index": 1}, "Exactly one of 'index' or 'name'"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.get_layer(**arguments)
    assert model.track_layer(model.a) is model.a
    assert len(model.layers) == 4
    with pytest.raises(ValueError, match="two Layers with the name 'out'"):
        model.track_layer(tf.layers.Dense(1, name="out"))
    with pytest.raises(TypeError, match="passed type <class 'int'>, not a"):
        model.track_layer(3)


def test_what_networks_refuse(session: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Forward slashes"):
        One("a/b")
    with pytest.raises(ValueError, match="VariableScopes are not valid"):
        One(tf.get_variable_scope())
    one = One()
    assert one.trainable
    with pytest.raises(AttributeError, match="cannot mark Network as not trainable"):
        one.trainable = False
    with pytest.raises(RuntimeError, match="add_variable not supported in Network"):
        one.add_variable("v", [])
    with pytest.raises(RuntimeError, match="add_loss is not supported in Network"):
        one.add_loss(1.0)
    with pytest.raises(ValueError, match="before it was first called"):
        tfe.save_network_checkpoint(one, tmp_path)
    with pytest.raises(NotImplementedError, match="object-based checkpointing"):
        tf.train.Checkpoint(net=built(one)).save(str(tmp_path / "x"))

    class Unprepared(tfe.Network):
        def __init__(self) -> None:
            self.track_layer(tf.layers.Dense(1))

    with pytest.raises(RuntimeError, match=r"Need to call Network.__init__"):
        Unprepared()


def test_sequences(session: Any) -> None:
    drop = tf.layers.Dropout(0.999999)
    net = tfe.Sequential([tf.layers.BatchNormalization(), drop, tf.square])
    net.add(
        tf.layers.Dense(1, kernel_regularizer=tf.contrib.layers.l2_regularizer(1.0))
    )
    outputs = [built(net)(tf.ones([1, 2]), training=True), net(tf.ones([1, 2]))]
    if session:
        outputs = session.run(outputs)
        assert len(net.updates) == 2
    assert abs(float(outputs[0][0][0])) < 1e-6 < abs(float(outputs[1][0][0]))
    scope = "sequential/batch_normalization"
    assert names(net) == [
        *(f"{scope}/{name}" for name in ("gamma", "beta")),
        *(f"{scope}/{name}" for name in ("moving_mean", "moving_variance")),
        "sequential/dense/kernel",
        "sequential/dense/bias",
    ]
    assert [len(net.trainable_weights), len(net.non_trainable_weights)] == [4, 2]
    assert len(net.losses) == 1
    with pytest.raises(TypeError, match="takes only tf"):
        net.add(3)


# ---- checkpoints


def test_checkpoints(session: Any, tmp_path: Path) -> None:
    model = built(Model())
    path = tfe.save_network_checkpoint(model, str(tmp_path / "file"), global_step=7)
    assert path == str(tmp_path / "file-7")
    shapes = dict(tf.train.list_variables(path))
    assert shapes["out/kernel"] == [2, 1]
    assert sorted(shapes) == sorted(
        name.removeprefix("model/") for name in names(model)
    )
    assert tfe.save_network_checkpoint(model, tmp_path) == str(tmp_path / "model")
    assert tf.train.list_variables(str(tmp_path / "model")) == [*shapes.items()]
    for later in (path, tmp_path / "model"):
        other = Model()
        tfe.restore_network_checkpoint(other, str(later))  # before there are variables
        assert same(built_without_initializing(other), model)
        for variable in other.variables:
            variable.load(np.zeros(variable.shape.as_list()), session)
        tfe.restore_network_checkpoint(other, str(later))
        assert same(other, model)


def built_without_initializing(network: Any) -> Any:
    network(tf.ones([2, 2]))
    return network


def test_the_global_step_and_the_name_of_the_folder(
    session: Any, tmp_path: Path
) -> None:
    tf.train.get_or_create_global_step()
    with tf.variable_scope("outer"):
        one = built(One())
    path = tfe.save_network_checkpoint(one, str(tmp_path))
    assert path == str(tmp_path / "outer_one-0")


def test_map_functions(session: Any, tmp_path: Path) -> None:
    file = str(tmp_path / "file")
    model = built(Model())
    tfe.save_network_checkpoint(model, file, map_func=lambda name: "x/" + name)
    assert tf.train.list_variables(file)[0] == ("x/model/dense/bias", [2])
    other = Model()
    tfe.restore_network_checkpoint(
        other, file, lambda name: name.replace("model_1", "x/model")
    )
    assert same(built_without_initializing(other), model)
    conflict = "two variables named 'dense/bias'"
    for call, arguments in [
        (tfe.save_network_checkpoint, (model, file)),
        (tfe.restore_network_checkpoint, (model, file)),
    ]:
        with pytest.raises(ValueError, match=conflict):
            call(*arguments, map_func=lambda name: "dense/bias")
    third = Model()
    tfe.restore_network_checkpoint(third, file, lambda name: "x/model/dense/kernel")
    with pytest.raises(ValueError, match="two variables named 'x/model/dense/kernel'"):
        third(tf.ones([2, 2]))


def test_shared_layers(session: Any, tmp_path: Path) -> None:
    """Their names in checkpoints have the scope of the network that made them."""
    owner = One()

    class User(tfe.Network):
        def __init__(self, layer: Any) -> None:
            super().__init__()
            self.shared = self.track_layer(layer)
            self.own = self.track_layer(tf.layers.Dense(1, use_bias=False))

        def call(self, inputs: Any) -> Any:
            return self.own(self.shared(inputs))

    user = built(User(owner.layer))
    assert names(user) == ["one/dense/kernel", "user/dense/kernel"]
    path = tfe.save_network_checkpoint(user, str(tmp_path / "file"))
    found = [name for name, _ in tf.train.list_variables(path)]
    assert found == ["dense/kernel", "one/dense/kernel"]
    owner = One()
    forgotten = User(owner.layer)
    del owner
    gc.collect()
    with pytest.raises(ValueError, match="was garbage collected before"):
        forgotten(tf.ones([2, 2]))


def test_later_checkpoints_count(session: Any, tmp_path: Path) -> None:
    class Parent(tfe.Network):
        def __init__(self) -> None:
            super().__init__()
            self.first = self.track_layer(One())

        def call(self, inputs: Any) -> Any:
            return self.first(inputs)

    whole, part = built(Parent()), built(One())
    paths = [
        tfe.save_network_checkpoint(whole, str(tmp_path / "whole")),
        tfe.save_network_checkpoint(part, str(tmp_path / "part")),
    ]
    parent = Parent()
    tfe.restore_network_checkpoint(parent, paths[0])
    tfe.restore_network_checkpoint(parent.first, paths[1])
    assert same(built_without_initializing(parent), part)
    parent = Parent()
    tfe.restore_network_checkpoint(parent.first, paths[1])
    tfe.restore_network_checkpoint(parent, paths[0])
    assert same(built_without_initializing(parent), whole)
    with pytest.raises(tf.errors.NotFoundError, match="not found in checkpoint"):
        tfe.restore_network_checkpoint(parent, paths[1])


def test_a_traced_call(session: Any) -> None:
    one: Any = One()
    call: Callable[..., Any] = one.call
    one.call = tfe.defun(call)
    built(one).variables[0].load([[2.0], [3.0]], session)
    for rows in 1, 2:
        found = one(tf.ones([rows, 2]))
        found = session.run(found) if session else found.numpy()
        assert found.tolist() == [[5.0]] * rows
