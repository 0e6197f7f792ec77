"""The inner modules with functions that TensorFlow 2 calls otherwise.

Such a function has a name there that ends in _v2.
Source: python/ops/*.py, python/compat/v2_compat.py (names).
"""

from __future__ import annotations

_V2 = "tfteach.compat.version_2"
# Path below `tensorflow.python` -> packages, then modules of this package.
MORE = {
    "compat.v2_compat": ".",
    "ops.array_ops": f"{_V2}.arrays",
    "ops.check_ops": f"{_V2}.checks",
    "ops.embedding_ops": f"{_V2}.nn",
    "ops.gradient_checker_v2": "compat.v2.test",
    "ops.image_ops": f"{_V2}.image {_V2}.resize",
    "ops.image_ops_impl": f"{_V2}.image {_V2}.resize",
    "ops.init_ops_v2": "compat.v2.initializers",
    "ops.math_ops": f"{_V2}.reductions",
    "ops.nn_impl": f"{_V2}.nn {_V2}.windows {_V2}.reductions",
    "ops.nn_ops": f"{_V2}.windows {_V2}.nn {_V2}.reductions",
    "ops.string_ops": f"{_V2}.strings",
    "ops.summary_ops_v2": "contrib.summary compat.v2.summary "
    f"compat.v2.summary.experimental {_V2}.summary_writers",
}
# Names that have another name there.
ALIASES = {
    f"ops.init_ops_v2.{name}_initializer": name
    for name in "zeros ones constant glorot_uniform glorot_normal orthogonal "
    "identity".split()
}
