"""Structures, options and combinations of tests as real TensorFlow 1.15 has them.

`python dataset_util.py` records dataset_util.json; tests/lib/data/test_util.py and
tests/compat/testing/test_combinations.py compare.
"""

import collections
import json
import os

Point = collections.namedtuple("Point", "x y")


def nest_calls(nest):
    """Name -> a call of `tensorflow.python.data.util.nest`."""
    deep, pair = ((1, 2), 3), (1, [2, 3])
    ordered = collections.OrderedDict([("b", 3), ("a", 2)])
    same, shallow = nest.assert_same_structure, nest.assert_shallow_structure
    return {
        "flatten": lambda: nest.flatten((1, [2], {"b": 3, "a": (4, Point(5, 6))})),
        "flatten nothing": lambda: nest.flatten(({}, ())),
        "flatten a list": lambda: nest.flatten([1, 2]),
        "flatten None": lambda: nest.flatten(None),
        "is_sequence": lambda: [
            nest.is_sequence(v) for v in (Point(1, 2), {}, [], "ab", ordered, None)
        ],
        "pack": lambda: nest.pack_sequence_as((1, Point(ordered, 2)), [4, 5, 6, 7]),
        "pack a leaf": lambda: nest.pack_sequence_as([1, 2], ["a"]),
        "pack for a leaf": lambda: nest.pack_sequence_as("scalar", [4, 5]),
        "pack a string": lambda: nest.pack_sequence_as((4, 5), "bad"),
        "pack too few": lambda: nest.pack_sequence_as((4, 5), [1]),
        "pack too many": lambda: nest.pack_sequence_as((4, 5), [1, 2, 3]),
        "map": lambda: nest.map_structure(lambda a, b: a + b, deep, ((4, 5), 6)),
        "map no function": lambda: nest.map_structure("bad", (1,)),
        "map nothing": lambda: nest.map_structure(len),
        "map options": lambda: nest.map_structure(len, (1,), foo=1),
        "map others": lambda: nest.map_structure(lambda a, b: a, deep, pair),
        "same": lambda: same(deep, (([7], {"a": 1}["a"]), "x")),
        "other depth": lambda: same(deep, pair),
        "other length": lambda: same(deep, ((1, 2, 3), 3)),
        "other type": lambda: same(deep, {"a": 1, "b": 2}),
        "other type, unchecked": lambda: same((1, 2), {"a": 1, "b": 2}, False),
        "other keys": lambda: same({"a": 1, "c": 2}, {"a": 1, "b": 2}),
        "other keys, unchecked": lambda: same(
            {"a": 1, "c": 2}, {"a": 1, "b": 2}, False
        ),
        "a named tuple": lambda: same((1, 2), Point(1, 2)),
        "shallow": lambda: shallow((1, {"a": 2}), ((3, 4), {"a": [5]})),
        "shallow keys": lambda: shallow({"a": 1}, {"b": 1}),
        "shallow length": lambda: shallow((1, 2), (1,)),
        "shallow type": lambda: shallow((1, 2), {"a": 1, "b": 2}),
        "shallow type, unchecked": lambda: shallow({"a": 1, "b": 2}, (1, 2), False),
        "shallow list": lambda: shallow((1, 2), [1, 2]),
        "shallow tuple": lambda: shallow((1, 2), Point(1, 2)),
        "shallow named tuple": lambda: shallow(Point(1, 2), (1, 2)),
        "flatten_up_to": lambda: nest.flatten_up_to(
            {"a": 1, "b": (2, 3)}, {"b": ((1,), [2]), "a": 0}
        ),
        "flatten_up_to a list": lambda: nest.flatten_up_to((1, 2), [1, 2]),
        "map_up_to": lambda: nest.map_structure_up_to(
            (1, 2), lambda a, b: (a, b), (3, 4), (5, (6, 7))
        ),
        "map_up_to nothing": lambda: nest.map_structure_up_to((1, 2), len),
    }


def option_calls(options, tf):
    """Name -> a call of `tensorflow.python.data.util.options`."""

    class Settings(options.OptionsBase):
        count = options.create_option(
            name="count", ty=int, docstring="A number.", default_factory=lambda: 42
        )
        rate = options.create_option(name="rate", ty=(int, float), docstring="A rate.")

    def settings(**values):
        made = Settings()
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def shown(made):
        return [made.count, made.rate]

    merge, x = options.merge_options, tf.data.experimental
    stats = x.StatsOptions()
    return {
        "default": lambda: shown(settings()),
        "set": lambda: shown(settings(count=None, rate=2)),
        "documented": lambda: Settings.count.__doc__,
        "wrong type": lambda: settings(rate="a"),
        "no such option": lambda: settings(other=1),
        "merge": lambda: shown(merge(settings(rate=1), settings(), settings(count=0))),
        "merge nothing": merge,
        "merge no options": lambda: merge(0),
        "merge other": lambda: merge(x.ThreadingOptions(), 5),
        "merge different": lambda: merge(settings(count=1), settings(count=2)),
        "equal": lambda: [settings() == settings(count=42), settings(rate=1) != 3],
        "hash": lambda: hash(Settings()),
        "defaults of TensorFlow's": lambda: [
            stats.prefix,
            stats.counter_prefix,
            stats.latency_all_edges,
            x.DistributeOptions().auto_shard,
            x.OptimizationOptions().map_vectorization.use_choose_fastest,
            tf.data.Options().experimental_stats.aggregator,
        ],
        "read options are equal": lambda: (
            [o.experimental_stats.prefix for o in [tf.data.Options()]],
            tf.data.Options() == tf.data.Options(),
        ),
    }


def convert_calls(convert, tf, run):
    """Name -> a call of `tensorflow.python.data.util.convert`."""
    partial, optional = (
        convert.partial_shape_to_tensor,
        convert.optional_param_to_tensor,
    )
    return {
        "size": lambda: run(partial(3)),
        "sizes": lambda: run(partial([None, -1, 2])),
        "shape": lambda: run(partial(tf.TensorShape([None, 2]))),
        "tensor": lambda: run(partial(tf.constant([3, -1], tf.int64))),
        "unknown rank": lambda: partial(None),
        "matrix": lambda: partial([[1]]),
        "floats": lambda: partial(tf.constant([1.5])),
        "text": lambda: partial("x"),
        "value": lambda: run(optional("size", 5)),
        "default": lambda: run(optional("size", None, 7)),
        "name": lambda: optional("count", None).name,
        "other type": lambda: optional("size", "a"),
    }


def outcomes(calls):
    """Name -> what the call returns, or the class and text of its error."""
    found = {}
    for name, call in calls.items():
        try:
            found[name] = repr(call())
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def combined(combinations):
    """Ids and errors of tests that `combinations.generate` makes."""
    import unittest

    from absl.testing import parameterized

    ordered, ran = collections.OrderedDict, []
    combine, times, generate = (
        combinations.combine, combinations.times, combinations.generate
    )  # fmt: skip
    named = combinations.NamedObject("nm", 3)
    versions = combine(mode=["graph"], tf_api_version=[1, 2])
    values = combine(x=[1, "a b"], f="q", o=named)

    class Case(parameterized.TestCase):
        @generate(times(versions, values))
        def test_product(self, x, f, o, mode):
            ran.append([self.id().rpartition(".")[2], x, f, repr(o), mode])

        @generate([ordered(x=1), ordered(x=2, tf_api_version=1)])
        def test_more(self, x, **others):
            ran.append([x, others])

        @generate([ordered(x=1, y=2)])
        def test_unknown(self, x):
            ran.append("unknown")

        @generate([ordered(x=1)])
        def test_missing(self, x, y):
            ran.append("missing")

        @generate([ordered(x=1, mode="bad")])
        def test_mode(self, x):
            ran.append("mode")

    @generate([ordered(x=1)])
    class Whole(parameterized.TestCase):
        def test_all(self, x):
            ran.append(["all", x])

    result = unittest.TestResult()
    for case in (Case, Whole):
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    found = {
        "ran": ran,
        "errors": sorted(
            [case.id().rpartition(".")[2], text.strip().splitlines()[-1]]
            for case, text in result.errors
        ),
        "skipped": sorted(
            [case.id().rpartition(".")[2], text.strip(" -")]
            for case, text in result.skipped
        ),
        "combined": [list(c.items()) for c in combine(b=[1, 2], a=(3,))],
        "calls": outcomes(
            {
                "overlap": lambda: times(combine(a=1), combine(a=2)),
                "attribute": lambda: named.real,
                "call": lambda: combinations.NamedObject("f", abs)(-1),
            }
        ),
    }  # fmt: skip
    return json.loads(json.dumps(found))


def record():
    import tensorflow as tf
    from tensorflow.python.data.util import convert, nest, options
    from tensorflow.python.framework import combinations

    with tf.Session() as session:
        found = {
            "nest": outcomes(nest_calls(nest)),
            "options": outcomes(option_calls(options, tf)),
            "convert": outcomes(
                convert_calls(convert, tf, lambda t: session.run(t).tolist())
            ),
            "combinations": combined(combinations),
        }
    path = os.path.splitext(os.path.abspath(__file__))[0] + ".json"
    with open(path, "w") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    record()
