"""`ps_strategy` functions: the servers that TensorFlow 1.15 chose."""

import pytest

import tfteach as tf

of = tf.contrib.training
SHAPES = [
    ([5, 7], tf.float32), ([], tf.float64), ([100], tf.int32), ([3], tf.float32),
    ([90], tf.float16),
]  # fmt: skip


def chosen(strategy, **options):
    setter = tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)
    with tf.Graph().as_default(), tf.device(setter):
        made = [
            tf.get_variable(f"v{i}", shape, dtype, **options)
            for i, (shape, dtype) in enumerate(SHAPES)
        ]
    return [int(v.device.rpartition(":")[2]) for v in made]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("seed", "expected"), [(0, [1, 2, 1, 2, 2]), (7, [1, 0, 2, 1, 2])]
)
def test_random(seed, expected, use_resource):
    strategy = of.RandomStrategy(3, seed)
    assert chosen(strategy, use_resource=use_resource) == expected


def test_the_least_loaded():
    strategy = of.GreedyLoadBalancingStrategy(3, of.byte_size_load_fn)
    assert chosen(strategy) == [0, 1, 2, 1, 1]


def test_byte_size():
    with tf.Graph().as_default():
        assert of.byte_size_load_fn(tf.zeros([3]).op) == 12
        with pytest.raises(ValueError, match="must have a single output"):
            of.byte_size_load_fn(tf.split(tf.zeros([4]), 2)[0].op)
        with pytest.raises(ValueError, match="is not fully defined"):
            of.byte_size_load_fn(tf.placeholder(tf.float32, [None]).op)
