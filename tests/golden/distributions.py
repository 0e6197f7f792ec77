"""Graphs and numbers of tf.distributions from real TensorFlow 1.15.

`python distributions.py distributions.json`, with TensorFlow's Python, writes the file
anew: for each function below its GraphDef (zlib, base64) and the values of the tensors
that it returns.
"""

import base64
import json
import sys
import zlib

import numpy as np

X = [-3.5, -0.25, 0.5, 2.0, 12.0]


def moments(d, *names):
    return [getattr(d, name)() for name in names]


def normal(tf):
    d = tf.distributions.Normal(0.5, [[1.0], [2.0]])
    x = tf.constant(X, name="x")
    other = tf.distributions.Normal(tf.zeros([2, 1]), 3.0, name="other")
    found = [d.sample([2, 3], seed=1), d.prob(x), d.log_prob(x), d.cdf(x), d.log_cdf(x)]
    found += [d.survival_function(x), d.log_survival_function(x)]
    found += [d.quantile([0.0, 0.01, 0.3, 0.5, 0.999, 1.0])]
    found += moments(d, "mean", "stddev", "variance", "entropy", "mode")
    found += [d.kl_divergence(other), d.cross_entropy(other)]
    found += moments(d, "batch_shape_tensor", "event_shape_tensor", "is_scalar_batch")
    return found + tf.gradients([d.log_prob(x), d.sample(seed=2)], [d.loc, d.scale])


def normal_of_any_shape(tf):
    loc = tf.placeholder_with_default(np.float32([0.5, 1.0]), None)
    count = tf.placeholder_with_default(np.int32(3), None)
    d = tf.distributions.Normal(loc, 2.0, validate_args=True, name="free")
    found = [d.sample(count, seed=1), d.sample((), seed=2), d.log_prob([1.0, 2.0])]
    other = tf.distributions.Normal(0.0, 1.0, allow_nan_stats=False)
    found += [other.kl_divergence(d), d.kl_divergence(other)]
    return found + moments(d, "batch_shape_tensor", "is_scalar_batch")


def uniform(tf):
    d = tf.distributions.Uniform([-1.0, 0.0], 3.0)
    x = tf.constant([[x] for x in X], name="x")
    found = [d.sample(4, seed=1), d.prob(x), d.log_prob(x), d.cdf(x), d.log_cdf(x)]
    found += [d.survival_function(x), d.range()]
    checked = tf.distributions.Uniform(validate_args=True)
    found.append(checked.sample(2, seed=3))
    return found + moments(d, "mean", "stddev", "variance", "entropy")


def bernoulli(tf):
    d = tf.distributions.Bernoulli(probs=[0.25, 0.5, 0.875])
    e = tf.distributions.Bernoulli(logits=[[0.5, -1.0, 2.0]], dtype=tf.float32)
    found = [d.sample(5, seed=1), e.sample((), seed=2), d.prob([1, 0, 1])]
    found += [d.log_prob(1), e.log_prob([[1.0, 0.0, 0.0]] * 2)]
    for own in (d, e):
        found += moments(own, "mean", "stddev", "variance", "entropy", "mode")
    checked = tf.distributions.Bernoulli(probs=0.5, validate_args=True)
    found += [d.kl_divergence(e), checked.prob(1)]
    return found + tf.gradients(e.log_prob([1.0, 0.0, 1.0]), [e.logits])


def categorical(tf):
    d = tf.distributions.Categorical(probs=[[0.25, 0.5, 0.25], [0.125, 0.125, 0.75]])
    e = tf.distributions.Categorical(logits=[0.5, -1.0, 2.0])
    logits = tf.placeholder_with_default(np.float32([[0.5, 1.0, 0.0]]), None)
    f = tf.distributions.Categorical(logits, validate_args=True)
    found = [d.sample(5, seed=1), e.sample((), seed=2), f.sample([2], seed=3)]
    found += [d.prob([1, 0]), d.log_prob(1), e.log_prob([[2, 1]]), e.cdf([0, 1, 2])]
    long = tf.distributions.Categorical(logits, dtype=tf.int64)
    found += [f.prob([2]), f.mode(), long.sample(3, seed=4)]
    for own in (d, e):
        found += moments(own, "entropy", "mode", "batch_shape_tensor")
    found += [d.kl_divergence(e)]
    return found + tf.gradients(e.log_prob([0, 2]), [e.logits])


def gamma_and_exponential(tf):
    d = tf.distributions.Gamma([0.5, 3.0], 2.0)
    e = tf.distributions.Exponential([0.5, 4.0])
    x = [[0.25], [1.0], [4.0]]
    found = [d.sample(3, seed=1), e.sample(3, seed=2)]
    for own in (d, e):
        found += [own.prob(x), own.cdf(x), own.log_survival_function(x)]
        found += moments(own, "mean", "stddev", "variance", "entropy", "mode")
    strict = tf.distributions.Gamma(2.0, 1.0, validate_args=True, allow_nan_stats=False)
    found += [d.kl_divergence(e), strict.mode(), strict.log_prob(1.0)]
    return found + tf.gradients(d.sample(3, seed=4), [d.concentration, d.rate])


def beta(tf):
    d = tf.distributions.Beta([0.5, 3.0], 2.0)
    found = [d.sample(3, seed=1), d.prob([[0.25], [0.75]]), d.cdf([0.25, 0.75])]
    found += moments(d, "mean", "stddev", "variance", "entropy", "mode")
    e = tf.distributions.Beta(2.0, 3.0, validate_args=True, allow_nan_stats=False)
    return [*found, d.kl_divergence(e), e.log_prob(0.5), e.mode(), e.log_cdf(0.25)]


def dirichlet(tf):
    d = tf.distributions.Dirichlet([[0.5, 2.0, 3.0], [4.0, 1.5, 2.0]])
    e = tf.distributions.Dirichlet([2.0, 2.0, 3.0], True, False)
    found = [
        d.sample(3, seed=1),
        d.prob([0.25, 0.5, 0.25]),
        e.log_prob([0.25, 0.5, 0.25]),
    ]
    found += moments(d, "mean", "stddev", "variance", "covariance", "entropy")
    return [*found, d.kl_divergence(e), e.mode(), e.mean()]


def laplace(tf):
    d = tf.distributions.Laplace(0.5, [1.0, 2.0])
    x = [[x] for x in X]
    found = [d.sample(3, seed=1), d.prob(x), d.cdf(x), d.log_cdf(x)]
    found += [d.log_survival_function(x)]
    return found + moments(d, "mean", "stddev", "variance", "entropy", "mode")


def multinomial(tf):
    d = tf.distributions.Multinomial(4.0, probs=[[0.25, 0.5, 0.25], [0.5, 0.5, 0.0]])
    found = [d.prob([[1.0, 2.0, 1.0], [2.0, 2.0, 0.0]])]
    e = tf.distributions.Multinomial([3.0], logits=[0.5, 1.0], validate_args=True)
    found += [e.log_prob([1.0, 2.0])]
    return found + moments(d, "mean", "stddev", "variance", "covariance")


def student_t(tf):
    d = tf.distributions.StudentT([0.5, 1.5, 5.0], 0.5, 2.0)
    x = [[x] for x in X]
    found = [d.sample(3, seed=1), d.prob(x), d.cdf([-0.5, 0.75, 3.0]), d.log_prob(0.25)]
    found += moments(d, "mean", "stddev", "variance", "entropy", "mode")
    e = tf.distributions.StudentT(3.0, 0.5, 2.0, True, False)
    return [*found, e.mean(), e.variance()]


def dirichlet_multinomial(tf):
    d = tf.distributions.DirichletMultinomial(4.0, [[0.5, 2.0, 3.0], [4.0, 1.5, 2.0]])
    e = tf.distributions.DirichletMultinomial(3.0, [2.0, 1.0], validate_args=True)
    found = [d.sample(3, seed=1), d.prob([1.0, 2.0, 1.0]), e.log_prob([1.0, 2.0])]
    return found + moments(d, "mean", "stddev", "variance", "covariance")


def softplus_parameters(tf):
    d = tf.contrib.distributions
    x = tf.constant([0.5, -1.0], name="x")
    found = [d.NormalWithSoftplusScale(x, x), d.LaplaceWithSoftplusScale(x, x)]
    found += [d.GammaWithSoftplusConcentrationRate(x, x)]
    found += [d.ExponentialWithSoftplusRate(x, name="e")]
    found += [d.BetaWithSoftplusConcentration(x, x)]
    return [own.prob([0.25, 0.75]) for own in found] + [own.mean() for own in found]


GRAPHS = [
    normal, normal_of_any_shape, uniform, bernoulli, categorical,
    gamma_and_exponential, beta, dirichlet, laplace, multinomial, student_t,
    dirichlet_multinomial, softplus_parameters,
]  # fmt: skip


def built(tf, function):
    """A function's graph and the tensors it returns."""
    with tf.Graph().as_default() as graph:
        return graph, list(function(tf))


def values(tf, graph, tensors):
    """What running them gives."""
    with tf.Session(graph=graph) as sess:
        return [np.asarray(v).tolist() for v in sess.run(tensors)]


if __name__ == "__main__":
    import tensorflow as tf

    found = {}
    for function in GRAPHS:
        graph, tensors = built(tf, function)
        packed = zlib.compress(graph.as_graph_def().SerializeToString(), 9)
        found[function.__name__] = {
            "graph": base64.b64encode(packed).decode(),
            "values": values(tf, graph, tensors),
        }
    with open(sys.argv[1], "w") as f:
        json.dump(found, f, indent=0)
