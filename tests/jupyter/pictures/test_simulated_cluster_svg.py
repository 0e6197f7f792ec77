from __future__ import annotations

from typing import Any

import tfteach as tf
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.jupyter.pictures import model_pictures
from tfteach.jupyter.pictures.simulated_cluster_svg import (
    curves_svg,
    model_bundle,
    scaling_svg,
)


def test_pictures_of_a_modelled_cluster() -> None:
    cluster = tf.simulate_cluster(4, 1, "1GbE", model_bytes=1e7)
    svg = scaling_svg(cluster)
    assert "A model of 4 workers and 1 ps with 1 Gigabit Ethernet" in svg
    assert "all that the links of the ps can carry" in svg
    for words in ("synchronous", "with 1 backup worker", "asynchronous", ">8</text>"):
        assert words in svg
    with tf.Graph().as_default():
        loss = tf.square(tf.Variable(3.0))
        curves = cluster.train(loss, lambda worker, k: {}, updates=2)
    assert "modelled time" in curves_svg(curves)
    assert model_bundle(curves)["text/plain"] == str(curves)


def test_cells_show_them(shell: Any) -> None:  # noqa: F811
    model_pictures.register(shell)
    formatter = shell.display_formatter
    cluster = tf.simulate_cluster(2, 1, model_bytes=1e6)
    data, _ = formatter.format(cluster)
    assert data["image/svg+xml"].startswith("<svg")
    model_pictures.unregister(shell)
    data, _ = formatter.format(cluster)
    assert "image/svg+xml" not in data
