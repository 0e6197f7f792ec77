"""Combinations of the arguments of tests as real TensorFlow 1.15 has them."""

from __future__ import annotations

import json
from pathlib import Path

import tfteach as tf
from tests.golden import dataset_util
from tfteach.compat.testing import combinations

RECORDED = json.loads((Path(dataset_util.__file__).with_suffix(".json")).read_text())


def test_tests_run_for_each_combination() -> None:
    assert dataset_util.combined(combinations) == RECORDED["combinations"]


def test_graph_mode_has_a_new_graph_and_eager_mode_is_skipped() -> None:
    import unittest

    from absl.testing import parameterized

    ran = []

    class Case(parameterized.TestCase):
        @combinations.generate(combinations.combine(mode=["eager", "graph"]))
        def test_one(self) -> None:
            ran.append(tf.get_default_graph())

    outer = tf.get_default_graph()
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert [text for _, text in result.skipped] == [
        "tfteach has TensorFlow 1's graphs and sessions only."
    ]
    assert len(ran) == 1
    assert ran[0] is not outer
