"""What TensorFlow's own tests of heads import from `estimator.head.head_utils`.

Source: tensorflow_estimator/python/estimator/head/head_utils.py (API).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfteach.engine.session.session import get_default_session
from tfteach.framework.protos import Summary
from tfteach.lib.saved_model.signature_constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
)
from tfteach.lib.training.scaffold import Scaffold

DEFAULT_SERVING_KEY = DEFAULT_SERVING_SIGNATURE_DEF_KEY


def initialize_variables(test_case: Any, scaffold: Scaffold) -> None:
    """Run a scaffold's initializers in the current session, which must be ready."""
    scaffold.finalize()
    test_case.assertIsNone(scaffold.init_feed_dict)
    test_case.assertIsNone(scaffold.init_fn)
    session = get_default_session()
    assert session is not None
    session.run([scaffold.init_op, scaffold.local_init_op])
    for ready in (scaffold.ready_for_local_init_op, scaffold.ready_op):
        test_case.assertEqual(0, len(session.run(ready)))
    test_case.assertIsNotNone(scaffold.saver)


def assert_simple_summaries(
    test_case: Any,
    expected_summaries: Mapping[str, float],
    summary_str: bytes,
    tol: float = 1e-6,
) -> None:
    """Compare the scalars of a serialized Summary."""
    summary = Summary.FromString(summary_str)
    found = {value.tag: value.simple_value for value in summary.value}
    test_case.assertAllClose(dict(expected_summaries), found, rtol=tol, atol=tol)


def assert_no_hooks(test_case: Any, spec: Any) -> None:
    """An EstimatorSpec has no hooks for training."""
    test_case.assertAllEqual([], spec.training_chief_hooks)
    test_case.assertAllEqual([], spec.training_hooks)
