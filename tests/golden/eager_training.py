"""Steps of optimizers, and learning rates, in eager programs of TensorFlow 1.15.

`python eager_training.py` with the oracle's Python writes the JSON file of this name.
tests/lib/training/test_eager_training.py runs the same functions, eagerly and in a
`tf.function`.
"""

import json
import sys
from pathlib import Path

# Name -> a function of tf and the global step.
OPTIMIZERS = {
    "gradient descent": lambda tf, step: tf.train.GradientDescentOptimizer(0.01),
    "momentum": lambda tf, step: tf.train.MomentumOptimizer(lambda: 0.01, 0.9),
    "nesterov": lambda tf, step: tf.train.MomentumOptimizer(
        0.01, 0.9, use_nesterov=True
    ),
    "adam": lambda tf, step: tf.train.AdamOptimizer(lambda: 0.1, beta1=lambda: 0.8),
    "adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.1),
    "adadelta": lambda tf, step: tf.train.AdadeltaOptimizer(0.1),
    "rmsprop": lambda tf, step: tf.train.RMSPropOptimizer(0.1),
    "rmsprop centered": lambda tf, step: tf.train.RMSPropOptimizer(
        0.1, momentum=0.5, centered=True
    ),
    "ftrl": lambda tf, step: tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01
    ),
    "ftrl shrinkage": lambda tf, step: tf.train.FtrlOptimizer(
        0.1, l2_shrinkage_regularization_strength=0.01
    ),
    "proximal": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(
        0.01, l1_regularization_strength=0.01
    ),
    "proximal adagrad": lambda tf, step: tf.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.01
    ),
    "adagrad da": lambda tf, step: tf.train.AdagradDAOptimizer(0.1, step),
    "nadam": lambda tf, step: tf.contrib.opt.NadamOptimizer(0.1),
    "adamax": lambda tf, step: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "lazy adam": lambda tf, step: tf.contrib.opt.LazyAdamOptimizer(0.1),
    "lazy adam gs": lambda tf, step: tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1),
    "adam gs": lambda tf, step: tf.contrib.opt.AdamGSOptimizer(step, 0.1),
    "momentum w": lambda tf, step: tf.contrib.opt.MomentumWOptimizer(0.1, 0.01, 0.9),
    "adam w": lambda tf, step: tf.contrib.opt.AdamWOptimizer(0.1, 0.1),
}

# Name -> a function of tf and the step, called as a program calls it at each step.
RATES = {
    "exponential": lambda tf, step: tf.train.exponential_decay(0.1, step, 10, 0.9),
    "staircase": lambda tf, step: tf.train.exponential_decay(0.1, step, 2, 0.9, True),
    "natural": lambda tf, step: tf.train.natural_exp_decay(0.1, step, 10, 0.9),
    "inverse": lambda tf, step: tf.train.inverse_time_decay(0.1, step, 10, 0.9),
    "polynomial": lambda tf, step: tf.train.polynomial_decay(0.1, step, 10, power=2.0),
    "cycle": lambda tf, step: tf.train.polynomial_decay(0.1, step, 10, cycle=True),
    "piecewise": lambda tf, step: tf.train.piecewise_constant(
        step, [2, 5], [0.1, 0.01, 0.001]
    ),
    "cosine": lambda tf, step: tf.train.cosine_decay(0.1, step, 10),
    "restarts": lambda tf, step: tf.train.cosine_decay_restarts(0.1, step, 2),
    "linear cosine": lambda tf, step: tf.train.linear_cosine_decay(0.1, step, 10),
}
STEPS = 0, 3, 5, 10, 12


def as_it_is(function):
    return function


def trained(tf, name, wrapped=as_it_is):
    """What three dense and three sparse steps make of two variables.

    Args:
      name: one of OPTIMIZERS.
      wrapped: what makes a function of a step, such as `tf.function`.
    """
    scope = name.replace(" ", "_")  # names of slots are counted in the whole program
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name=scope + "/v")
    w = tf.Variable(3.0, name=scope + "/w")
    count = tf.Variable(0, name="count", dtype=tf.int64)
    optimizer = OPTIMIZERS[name](tf, count)

    def dense_loss():
        return tf.reduce_sum(tf.square(v)) * w

    def sparse_loss():
        return tf.reduce_sum(tf.square(tf.nn.embedding_lookup(v, [0, 0, 2])))

    @wrapped
    def dense_step():
        optimizer.minimize(dense_loss, global_step=count)

    @wrapped
    def sparse_step():
        optimizer.minimize(sparse_loss, global_step=count)

    found = {}
    for kind, step in (("dense", dense_step), ("sparse", sparse_step)):
        for _ in range(3):
            step()
        found[kind] = [v.numpy().tolist(), float(w.numpy())]
    found["count"] = int(count.numpy())
    found["slots"] = optimizer.get_slot_names()
    found["slot names"] = [optimizer.get_slot(v, s).name for s in found["slots"]]
    found["variables"] = {
        variable.name: variable.numpy().tolist() for variable in optimizer.variables()
    }
    return found


def rates(tf, name):
    """A learning rate at several steps: a function that reads the step."""
    step = tf.Variable(0, dtype=tf.int64)
    rate = RATES[name](tf, step)
    found = []
    for number in STEPS:
        step.assign(number)
        found.append(float(rate().numpy()))
    return found


def main():
    import tensorflow as tf

    tf.enable_eager_execution()
    found = {
        "trained": {name: trained(tf, name) for name in OPTIMIZERS},
        "rates": {name: rates(tf, name) for name in RATES},
    }
    file = Path(sys.argv[1] if len(sys.argv) > 1 else __file__).with_suffix(".json")
    file.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
