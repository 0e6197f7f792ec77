"""Specs of values and of datasets' elements as real TensorFlow 1.15 has them.

`python type_specs.py` records type_specs.json; tests/lib/data/test_type_specs.py
compares.
"""

import json
import os
import pickle
import warnings

import numpy as np


class Pair:
    """Two tensors and a name."""

    def __init__(self, x, y, name="red"):
        self.x, self.y, self.name = x, y, name


def pair_spec(tf, base):
    """A user's own spec, of `Pair`."""

    class PairSpec(base):
        def __init__(self, x, y, name):
            self.x, self.y, self.name = x, y, name

        value_type = property(lambda self: Pair)
        _component_specs = property(lambda self: (self.x, {"y": self.y}))

        def _to_components(self, value):
            return (value.x, {"y": value.y})

        def _from_components(self, components):
            return Pair(components[0], components[1]["y"], self.name)

        def _serialize(self):
            return (self.x, self.y, self.name)

    return PairSpec


def calls(tf, type_spec, tensor_spec, structure, dataset_ops, optional_ops):
    """Name -> a call, run in a new graph."""
    spec, sparse, array = tf.TensorSpec, tf.SparseTensorSpec, tf.TensorArraySpec
    bounded, dataset = tensor_spec.BoundedTensorSpec, dataset_ops.DatasetSpec
    optional, data = optional_ops.OptionalSpec, tf.data.Dataset
    of, own = type_spec.type_spec_from_value, pair_spec(tf, type_spec.TypeSpec)

    def pair(size=2, name="red", dtype=tf.float32):
        return own(spec([size]), spec(None, dtype), name)

    def legacy(s):
        return (
            s._to_legacy_output_types(),
            s._to_legacy_output_shapes(),
            s._to_legacy_output_classes().__name__,
        )

    def round_trip(s, value):
        tensors = s._to_tensor_list(value)
        return [t.name for t in tensors], of(s._from_tensor_list(tensors))

    def tensor():
        return tf.constant([1.0, 2.0])

    def sparse_tensor():
        return tf.SparseTensor([[0, 1]], [2.0], [2, 3])

    return {
        "repr": lambda: (spec([None, 2], tf.int32, "a"), sparse([2]), array([2])),
        "repr of structures": lambda: (dataset(spec([]), [2]), optional(spec([]))),
        "repr of bounds": lambda: bounded((1, 2), tf.int32, 0, (3, 4), "b"),
        "serialized": lambda: [
            s._serialize() for s in (spec([2]), sparse([2]), array([2], tf.int8, True))
        ],
        "components": lambda: (
            sparse([2, None])._component_specs,
            sparse()._component_specs,
            spec([2])._component_specs,
            array([2])._component_specs,
        ),
        "flat": lambda: (
            sparse([2, 3])._flat_tensor_specs,
            spec([2])._flat_tensor_specs,
            array([2])._flat_tensor_specs,
            pair()._flat_tensor_specs,
        ),
        "legacy": lambda: [legacy(s) for s in (spec([2]), sparse([2]))],
        "equal": lambda: [
            spec([None]) == spec([None]), spec(None) == spec([3]),
            spec([2], name="a") == spec([2], name="b"), spec([2]) != sparse([2]),
            hash(sparse([None])) == hash(sparse([None])), pair() == pair(),
            pair() == pair(name="blue"), pair() != 5,
            pair(name=np.array([[1, 2]])) == pair(name=np.array([[1, 2]])),
            pair(name=np.array([[1, 2]])) == pair(name=np.array([[1, 3]])),
            dataset(spec([])) == dataset(1),
            spec([1, 2], tf.int32) == bounded((1, 2), tf.int32, 0, 1),
            bounded([3], tf.int32, 0, 1) == bounded([3], tf.int32, [0, 0, 0], 1),
        ],
        "pickled": lambda: [
            pickle.loads(pickle.dumps(s)) == s
            for s in (spec([1, None], tf.int8, "n"), sparse([2]), array([2]))
        ],
        "compatible": lambda: [
            spec([2]).is_compatible_with(spec([None])),
            spec([2]).is_compatible_with(tensor()),
            spec([2]).is_compatible_with(np.zeros(2, np.float32)),
            spec([2]).is_compatible_with(sparse([2])),
            sparse([2, 3]).is_compatible_with(sparse([None, 3])),
            sparse([2, 3]).is_compatible_with(sparse_tensor()),
            sparse([2]).is_compatible_with(3),
            array([2]).is_compatible_with(array([None])),
            array([2]).is_compatible_with(array([2], dynamic_size=True)),
            pair().is_compatible_with(pair(None)),
            pair().is_compatible_with(pair(3)),
            pair().is_compatible_with(pair(2, "red", tf.int32)),
            optional(spec([])).is_compatible_with(optional(spec(None))),
        ],
        "common": lambda: (
            spec([2], name="a").most_specific_compatible_type(spec([3], name="b")),
            sparse([2, 3]).most_specific_compatible_type(sparse([2])),
            dataset(spec([])).most_specific_compatible_type(dataset(spec([2]))),
            array([2]).most_specific_compatible_type(array([None])),
        ),
        "no common type": lambda: spec([2]).most_specific_compatible_type(
            spec([2], tf.int32)
        ),
        "no common class": lambda: sparse([2]).most_specific_compatible_type(spec([2])),
        "no common part": lambda: sparse([2]).most_specific_compatible_type(
            sparse([2], tf.int32)
        ),
        "no common array": lambda: array([2]).most_specific_compatible_type(array([3])),
        "batches": lambda: (
            spec(None)._batch(2), spec([3])._batch(None), sparse([2])._batch(5),
            dataset(spec([]))._batch(4), spec([3, 2])._unbatch(), spec(None)._unbatch(),
        ),
        "no rows": lambda: spec([])._unbatch(),
        "no rows of a dataset": lambda: dataset(spec([]))._unbatch(),
        "tensors": lambda: round_trip(spec([2]), [1.0, 2.0]),
        "sparse tensors": lambda: round_trip(sparse([2, 3]), sparse_tensor()),
        "sparse values": lambda: round_trip(
            sparse([2, 3]),
            tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0]), [2, 3]),
        ),
        "arrays": lambda: round_trip(
            array([2]), tf.TensorArray(tf.float32, 3, element_shape=[2])
        ),
        "wrong type": lambda: spec([2])._to_tensor_list([[1.0, 2.0]]),
        "no sparse tensor": lambda: sparse([2])._to_tensor_list(3),
        "too many": lambda: spec([2])._from_tensor_list([tensor(), tensor()]),
        "other tensor": lambda: spec([2])._from_tensor_list([tf.constant([1, 2])]),
        "specs of values": lambda: [
            of(v)
            for v in (3, np.zeros(3), "a", tensor(), sparse_tensor(),
                      tf.SparseTensorValue(np.array([[0]]), np.array([1]), [4]))
        ],
        "no values": lambda: of([1, [2]]),
        "a spec is no value": lambda: of(spec([])),
        "bounds": lambda: bounded.from_spec(spec((1, 2), tf.uint8, "x")),
        "bounds that do not fit": lambda: bounded((3, 5), tf.uint8, (0, 0, 0), (1, 1)),
        "no bounds": lambda: bounded((3, 5), tf.uint8, None, 1),
        "bounds are constant": lambda: bounded([2], tf.int8, 0, 1).minimum.fill(3),
        "legacy structures": lambda: [
            structure.convert_legacy_structure(*row)
            for row in (
                (tf.int32, tf.TensorShape([None, 1, 2]), tf.TensorArray),
                ({"a": tf.int32}, {"a": tf.TensorShape([2])}, {"a": tf.Tensor}),
                (tf.int32, tf.TensorShape([2]), sparse([2])),
            )
        ],
        "no class": lambda: structure.convert_legacy_structure(
            tf.int32, tf.TensorShape([]), int
        ),
        "several datasets": lambda: [
            d.element_spec
            for d in (
                data.from_tensors([data.range(3), data.range(4)]),
                data.from_tensor_slices([data.range(3), data.range(4)]),
                data.from_tensors([data.range(3), data.range(4).batch(2)]),
                data.from_tensors([[data.range(3)]]),
                data.from_tensors([data.range(3), data.range(4)]).unbatch(),
                data.from_tensors([data.range(3)]).map(lambda x: (x, 1)),
                data.range(3).map(lambda i: ([data.range(i), data.range(3)], 1)),
            )
        ],
        "a dataset and a number": lambda: data.from_tensors([data.range(3), 1]),
        "several types of datasets": lambda: data.from_tensors(
            [data.range(3), data.from_tensors(1.0)]
        ),
        "sparse values of functions": lambda: [
            data.range(3).map(f).element_spec
            for f in (
                lambda x: tf.SparseTensorValue([[0]], [x], [1]),
                lambda x: tf.SparseTensorValue([[0]], [x], [x]),
            )
        ],
        "arrays of functions": lambda: data.range(3)
        .map(lambda x: tf.TensorArray(tf.int64, 2, element_shape=[]).write(0, x))
        .element_spec,
    }  # fmt: skip


def warned(tf):
    """What datasets warn of."""

    def table(x):
        tf.contrib.lookup.HashTable(
            tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1.0]), 0.0
        )
        return x

    def uniform(x, seed=None):
        return x + tf.random_uniform([], maxval=3, dtype=tf.int64, seed=seed)

    def seeded(x):
        return uniform(x, 4)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with tf.Graph().as_default():
            numbers = tf.data.Dataset.range(3)
            numbers.map(table)
            tf.set_random_seed(10)
            for function in (uniform, seeded, abs):
                numbers.map(function)
            numbers.filter(lambda x: tf.random_uniform([]) > 0.5)
    texts = [str(w.message).splitlines()[0] for w in found]
    return [text for text in texts if text.startswith(("Creating", "Seed"))]


def outcomes(tf, *modules):
    """Name -> what the call returns, or the class and text of its error."""
    found = {}
    for name, call in calls(tf, *modules).items():
        with tf.Graph().as_default():
            try:
                found[name] = repr(call())
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    return found


def record():
    import tensorflow as tf
    from tensorflow.python.data.ops import dataset_ops, optional_ops
    from tensorflow.python.data.util import structure
    from tensorflow.python.framework import tensor_spec, type_spec

    modules = (type_spec, tensor_spec, structure, dataset_ops, optional_ops)
    found = {"calls": outcomes(tf, *modules), "warned": warned(tf)}
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    record()
