"""tf.contrib.framework's names of scopes, as TensorFlow 1.15 answers."""

from __future__ import annotations

import pytest

import tfteach as tf


@pytest.mark.parametrize(
    ("name", "below", "without"),
    [
        ("x/y", "s/x/y", "x/y"),
        ("^x/y", "^s/x/y", "^x/y"),
        ("loc:@x", "loc:@s/x", "loc:@x"),
        ("s/x", "s/s/x", "x"),
        ("^s/x", "^s/s/x", "^x"),
        ("loc:@s/x:0", "loc:@s/s/x:0", "loc:@x:0"),
    ],
)
def test_names_below_a_scope_and_without_it(
    name: str, below: str, without: str
) -> None:
    framework = tf.contrib.framework
    assert framework.prepend_name_scope(name, "s") == below
    assert framework.strip_name_scope(name, "s") == without
    assert framework.strip_name_scope(below, "s/") == name
    for nothing in ("", None):
        assert framework.prepend_name_scope(name, nothing) == name
        assert framework.strip_name_scope(name, nothing) == name
