"""Scopes and collections in eager programs.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import tfteach as tf

pytestmark = pytest.mark.usefixtures("eagerly")

ZEROS = tf.zeros_initializer()


def test_each_call_creates_a_variable_with_tensorflows_numbers() -> None:
    tf.set_random_seed(7)
    first, second = (tf.get_variable("w", [2, 3]) for _ in range(2))
    assert first.name == second.name == "w:0"
    np.testing.assert_allclose(
        first.numpy(),
        [[0.7327516, -0.5841645, 0.83177567], [-0.99324185, 0.6649283, 0.968395]],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        second.numpy()[0], [-1.0537012, 0.32787788, 0.42986786], rtol=1e-6
    )
    assert tf.global_variables() == tf.trainable_variables() == []
    alive = weakref.ref(first)
    del first
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("reuse", [True, tf.AUTO_REUSE, None])
def test_scopes_name_variables_and_never_share_them(reuse: Any) -> None:
    with tf.variable_scope("a", reuse=reuse) as scope:
        assert scope.reuse is tf.AUTO_REUSE
        assert scope.use_resource is True
        first = tf.get_variable("w", [2])
        assert first.name == "a/w:0"
        assert tf.get_variable("w", [3]) is not first
    with tf.variable_scope(None, "a") as second:
        assert second.name == "a_1"
        assert tf.Variable(1.0).name == "a/Variable:0"


def test_partitions_are_variables() -> None:
    whole = tf.get_variable(
        "q", [4], initializer=ZEROS, partitioner=tf.fixed_size_partitioner(2)
    )
    assert [v.name for v in whole] == ["q/part_0:0", "q/part_1:0"]
    assert tf.convert_to_tensor(whole).numpy().tolist() == [0.0] * 4


def test_what_scopes_refuse() -> None:
    with pytest.raises(NotImplementedError, match="Caching devices is not yet"):
        tf.variable_scope("a", caching_device="/cpu:0").__enter__()
    with pytest.raises(ValueError, match="use_resource cannot be set to false"):
        tf.variable_scope("a", use_resource=False).__enter__()
    scope = tf.get_variable_scope()
    with pytest.raises(ValueError, match="use_resource cannot be set to false"):
        scope.set_use_resource(False)
    with pytest.raises(NotImplementedError, match="Caching devices are not yet"):
        scope.set_caching_device("/cpu:0")


def test_custom_getters_see_that_nothing_is_reused() -> None:
    def renamed(getter: Any, name: str, **kwargs: Any) -> Any:
        assert (kwargs["reuse"], kwargs["use_resource"]) == (False, True)
        return getter(f"{name}_", **kwargs)

    with tf.variable_scope("s", custom_getter=renamed):
        assert tf.get_variable("w", [1]).name == "s/w_:0"


def test_collections_are_those_of_the_default_graph() -> None:
    tf.add_to_collection("c", 3)
    assert tf.get_collection("c") == [3]
    tf.get_collection_ref("c").append(4)
    assert tf.get_default_graph().get_collection("c") == [3, 4]
    assert tf.get_default_graph().get_all_collection_keys() == ["c"]
    variable = tf.get_variable(
        "w", [4], initializer=tf.ones_initializer(), regularizer=tf.reduce_sum
    )
    assert variable.shape == [4]
    [loss] = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.numpy() == 4.0
    tf.reset_default_graph()
    assert tf.get_collection("c") == []


def test_initializers_of_collections_do_nothing() -> None:
    variable = tf.get_variable("w", [1], initializer=ZEROS)
    assert tf.global_variables_initializer() is None
    assert tf.local_variables_initializer() is None
    assert tf.variables_initializer([variable]) is None
    assert tf.report_uninitialized_variables().numpy().tolist() == []
    assert tf.is_variable_initialized(variable).numpy()


def test_the_global_step_is_kept_in_its_collection() -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert repr(step) == "<tf.Variable 'global_step:0' shape=() dtype=int64, numpy=0>"
    assert tf.train.get_global_step() is tf.train.get_or_create_global_step() is step
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    step.assign_add(1)
    assert tf.train.global_step(None, step) == 1
    assert tf.get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    assert tf.global_variables() == []


# ---- EagerVariableStore


def test_a_store_shares_variables_by_name() -> None:
    store = tf.contrib.eager.EagerVariableStore()
    with store.as_default():
        b = tf.get_variable("b", [2], initializer=ZEROS)
        a = tf.get_variable("a", [2], initializer=ZEROS, trainable=False)
        assert tf.get_variable("a", [2]) is a
        with tf.variable_scope("s", reuse=True):  # creates it all the same
            inner = tf.get_variable("z", [3], initializer=ZEROS)
        with pytest.raises(ValueError, match=r"shape \(3,\) and found shape \(2,\)"):
            tf.get_variable("a", [3])
    assert store.variables() == [a, b, inner]
    assert store.trainable_variables() == [b, inner]
    assert store.non_trainable_variables() == [a]
    assert tf.global_variables() == [b, a, inner]
    assert tf.trainable_variables() == [b, inner]
    assert tf.get_variable("a", [3]) is not a
    assert tf.contrib.eager.EagerVariableStore(store._store).variables() == [
        a,
        b,
        inner,
    ]
    with pytest.raises(ValueError, match="does not hold eager variables"):
        tf.contrib.eager.EagerVariableStore(type(store._store)())


def test_a_copied_store_has_its_own_variables() -> None:
    store = tf.contrib.eager.EagerVariableStore()
    with store.as_default(), tf.variable_scope("s"):
        v = tf.get_variable("a", [2], initializer=ZEROS, trainable=False)
    [copied] = store.copy().variables()
    assert copied.name == "s/a:0"
    assert not copied.trainable
    v.assign([1.0, 2.0])
    assert copied.numpy().tolist() == [0.0, 0.0]


def test_creators_see_the_arguments_of_get_variable() -> None:
    def create(make: Any, **kwargs: Any) -> Any:
        assert kwargs["use_resource"] is True
        return make(**{**kwargs, "name": f"made_{kwargs['name']}"})

    with tf.variable_creator_scope(create):
        assert tf.get_variable("a", [1]).name == "made_a:0"


# ---- in traced functions


def test_functions_share_the_variables_of_the_program_by_name() -> None:
    scopes = []

    @tf.function
    def scaled(x: Any) -> Any:
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE) as scope:
            scopes.append(scope.name)
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            tf.get_variable_scope().set_regularizer(tf.no_regularizer)
            tf.get_variable("v", [2], initializer=tf.ones_initializer())
        return w * x

    with tf.variable_scope("outer"):
        assert scaled(2.0).numpy().tolist() == [2.0, 2.0]
        assert scaled(tf.constant(2.0)).numpy().tolist() == [2.0, 2.0]
    assert scopes == ["outer/s"] * 3  # the first call traces twice
    assert tf.global_variables() == []

    @tf.function
    def other(x: Any) -> Any:
        with tf.variable_scope("outer/s", reuse=True):
            return tf.get_variable("w") * x

    assert other(3.0).numpy().tolist() == [3.0, 3.0]


def test_functions_see_the_global_step() -> None:
    step = tf.train.create_global_step()

    @tf.function
    def count() -> None:
        tf.train.get_or_create_global_step().assign_add(1)

    count()
    count()
    assert step.numpy() == 2
