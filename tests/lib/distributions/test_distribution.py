"""Distribution: what users see of the base class, and how it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import tfteach as tf

d = tf.distributions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_text_and_properties():
    normal = d.Normal([0.0, 1.0], 2.0, name="n")
    assert str(normal) == (
        'tfp.distributions.Normal("n/", batch_shape=(2,), event_shape=(), '
        "dtype=float32)"
    )
    assert repr(normal) == (
        "<tfp.distributions.Normal 'n/' batch_shape=(2,) event_shape=() dtype=float32>"
    )
    assert normal.parameters["scale"] == 2.0
    assert normal.parameters["name"] == "n"
    assert not normal.validate_args
    assert normal.reparameterization_type is d.FULLY_REPARAMETERIZED
    wide = normal.copy(scale=3.0)
    with tf.Session() as sess:
        assert sess.run(wide.scale) == 3.0
        assert sess.run(wide.loc).tolist() == [0.0, 1.0]
    shapes = d.Normal.param_static_shapes([4, 2])
    assert {k: v.as_list() for k, v in shapes.items()} == {
        "loc": [4, 2],
        "scale": [4, 2],
    }


def test_samples_know_their_shape():
    assert d.Normal([0.0, 1.0], 2.0).sample([3, 4]).shape.as_list() == [3, 4, 2]
    assert d.Categorical(probs=[[0.5, 0.5]] * 3).sample(7).shape.as_list() == [7, 3]
    assert d.Dirichlet([1.0, 2.0]).sample().shape.as_list() == [2]
    counts = d.Multinomial(5.0, probs=[[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    drawn = counts.sample(40, seed=1)
    assert drawn.shape.as_list() == [40, 2, 3]
    with tf.Session() as sess:
        found = sess.run(drawn)
    assert (found.sum(-1) == 5).all()
    assert (found[:, 1, 0] == 0).all()
    np.testing.assert_allclose(found.mean(0)[0], [2.5, 1.25, 1.25], atol=0.6)


def test_a_class_of_ones_own():
    class Point(d.Distribution):
        def __init__(self, at):
            self.at = tf.convert_to_tensor(at)
            super().__init__(tf.float32, d.NOT_REPARAMETERIZED, False, True,
                             graph_parents=[self.at])  # fmt: skip

        def _log_prob(self, value):
            return tf.where(tf.equal(value, self.at), 0.0, float("-inf"))

        def _variance(self):
            return tf.square(self.at)

    class Spot(Point):
        pass

    @d.RegisterKL(Point, Point)
    def kl(a, b, name=None):
        return tf.abs(a.at - b.at)

    point = Point(3.0)
    assert point.name == "Point/"
    with tf.Session() as sess:
        assert sess.run(point.prob(3.0)) == 1.0
        assert sess.run(point.stddev()) == 3.0
        assert sess.run(d.kl_divergence(Spot(1.0), point)) == 2.0  # by inheritance
    with pytest.raises(NotImplementedError, match="mean is not implemented: Point"):
        point.mean()
    with pytest.raises(NotImplementedError, match="cdf is not implemented: Point"):
        point.cdf(1.0)
    with pytest.raises(NotImplementedError, match=r"No KL\(distribution_a"):
        d.kl_divergence(point, d.Normal(0.0, 1.0))
    with pytest.raises(ValueError, match="has already been registered"):
        d.RegisterKL(Point, Point)(kl)


def test_bad_parameters():
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        d.Bernoulli()
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        d.Categorical(logits=[1.0], probs=[1.0])
    with pytest.raises(TypeError, match="logits must having floating type"):
        d.Bernoulli(logits=[1])
    with pytest.raises(ValueError, match="Expected floating point type"):
        d.Normal(1, 2)
    with pytest.raises(ValueError, match="must have at least 2 events"):
        d.Categorical(probs=[1.0], validate_args=True)
    with pytest.raises(ValueError, match="Input is neither scalar nor vector"):
        d.Normal(0.0, 1.0).sample([[1]])
    cases = [
        (lambda: d.Normal(0.0, fed(-1.0), validate_args=True).mean(), "x > 0 did not"),
        (lambda: d.Uniform(fed(2.0), 1.0, validate_args=True).mean(), "low >= high"),
        (lambda: d.Bernoulli(probs=fed(1.5), validate_args=True).mean(),
         "probs has components greater than 1"),
        (lambda: d.Categorical(probs=fed([0.5, 0.25]), validate_args=True).entropy(),
         "probs does not sum to 1"),
        (lambda: d.Bernoulli(probs=[0.5], validate_args=True).prob(fed([0.5])),
         "Elements must be bool-equivalent"),
        (lambda: d.Beta(fed(0.5), 2.0, allow_nan_stats=False).mode(),
         "Mode undefined for concentration1"),
    ]  # fmt: skip
    for build, words in cases:
        with tf.Graph().as_default(), tf.Session() as sess:
            tensor = build()
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                sess.run(tensor)


def fed(value):
    """A value that only a run knows."""
    return tf.placeholder_with_default(np.float32(value), np.shape(value))
