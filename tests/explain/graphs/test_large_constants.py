"""Arrays that are in a graph more than once.

The sizes are those of GraphDefs of TensorFlow 1.15.5: an array of 10,000 float32 takes
40,062 bytes, also if all are 1; `tf.constant(1.0, shape=[100, 100])` takes 58.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.building.growth import Growth, watch_growth
from tfteach.explain.graphs.large_constants import Embedded, places
from tfteach.framework.graph import SourceLine

RANDOM = np.random.RandomState(0).rand(100, 100).astype(np.float32)
ONES = np.ones([100, 100], np.float32)


def watched(build: Callable[[], Any]) -> Growth:
    with tf.Graph().as_default() as graph, watch_growth(graph) as growth:
        build()
    return growth


@pytest.mark.parametrize("same", [True, False])
def test_one_line_embeds_arrays_again_and_again(same: bool) -> None:
    data = np.random.RandomState(0).rand(3, 500)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        with watch_growth(graph) as growth:
            for row in data:
                sess.run(tf.reduce_sum(tf.constant(data[0] if same else row)))
        (embedded,) = growth.constants
    assert (embedded.dtype, embedded.shape) == ("float64", (500,))
    assert embedded.names == ("Const", "Const_2", "Const_4")
    assert embedded.same is same
    assert len(embedded.sources) == 1
    assert ("convert_to_tensor" if same else "placeholder") in embedded.advice
    text = " ".join(str(growth).split())
    assert "float64 array of shape (500,), 4.1 kB, into the graph 3 times" in text
    assert f"{'the same' if same else 'a new'} float64 array" in text


def uses_of(array: Any) -> list[Embedded]:
    def build() -> None:
        tf.negative(array)
        tf.square(array)
        tf.matmul(array, array)

    return watched(build).constants


def test_one_array_on_three_lines_is_four_constants() -> None:
    (embedded,) = uses_of(RANDOM)
    first = embedded.sources[0].line
    assert [s.line - first for s in embedded.sources] == [0, 1, 2]
    assert embedded.names == ("Neg/x", "Square/x", "MatMul/a", "MatMul/b")
    assert embedded.size_bytes == pytest.approx(40_062, abs=20)
    assert embedded.total_bytes == pytest.approx(160_280, abs=80)
    assert embedded.fill is None
    text = embedded.headline(graph_def_bytes=160_900)
    assert text == (
        f"Large constants: lines {first}, {first + 1} and {first + 2} put the same "
        "float32 array of shape (100, 100), 40.1 kB, into the graph 4 times: 160.3 kB "
        "of the GraphDef's 160.9 kB."
    )
    assert "c = tf.convert_to_tensor(array)" in embedded.advice


def test_one_tensor_on_three_lines_is_one_constant() -> None:
    def build() -> None:
        c = tf.convert_to_tensor(RANDOM)
        tf.negative(c)
        tf.square(c)
        tf.matmul(c, c)

    assert watched(build).constants == []


def test_an_array_of_ones_is_stored_in_full() -> None:
    (embedded,) = uses_of(ONES)
    assert embedded.fill == "1.0"
    assert embedded.total_bytes == pytest.approx(160_280, abs=80)
    cure = "tf.constant(1.0, tf.float32, shape=[100, 100])"
    assert cure in embedded.advice
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, tf.float32, shape=[100, 100])
    assert graph.as_graph_def().ByteSize() < 100


def test_what_stores_one_element_costs_nothing() -> None:
    def build() -> None:
        for _ in range(3):
            tf.constant(1.0, shape=[100, 100])
            tf.constant([1.0, 2.0], shape=[100, 100])
            tf.zeros([20, 20])
            tf.ones([100, 100])

    growth = watched(build)
    assert growth.constants == []
    # the size counts what is stored, not the values in memory
    size = growth.graph.as_graph_def().ByteSize()
    assert growth.size_bytes() == pytest.approx(size, abs=20)


def test_the_zeros_of_an_optimizer_are_nobodys_array() -> None:
    def build() -> None:
        w = tf.get_variable("w", [20, 20])
        tf.train.AdamOptimizer().minimize(tf.nn.l2_loss(w))  # two slots of w's shape

    growth = watched(build)
    zeros = [op for op in growth.graph.get_operations() if op.name.endswith("/zeros")]
    assert [op.spec.value.nbytes for op in zeros] == [1600, 1600]
    assert growth.constants == []


def test_different_arrays_of_different_lines_are_wanted() -> None:
    def build() -> None:
        tf.constant(RANDOM)
        tf.constant(RANDOM + 1)
        tf.constant(RANDOM.astype(np.float64))

    assert watched(build).constants == []


def test_a_huge_array_is_better_fed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfteach.explain.graphs.large_constants.HUGE_BYTES", 40_000)
    (embedded,) = uses_of(RANDOM)
    assert "tf.placeholder" in embedded.advice
    assert "2 GB" in embedded.advice


def test_lines_in_words() -> None:
    def cell(*numbers: int) -> tuple[SourceLine, ...]:
        return tuple(SourceLine("a.py", number, "f") for number in numbers)

    def place(source: SourceLine) -> str:
        return f"In [3] line {source.line}"

    assert places(cell(4)) == "line 4"
    assert places(cell(4, 5), place) == "In [3] lines 4 and 5"
    assert places(cell(1, 2, 3, 4, 5, 6, 7)) == "lines 1, 2, 3, 4, 5 and 2 more"
    assert places(()) == "a line without a file"
