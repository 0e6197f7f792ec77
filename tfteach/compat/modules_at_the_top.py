"""Inner modules that are attributes of `tensorflow.python`.

Source: python/__init__.py.
"""

from __future__ import annotations

# tensorflow/python/__init__.py imports these modules, so that
# `from tensorflow.python import array_ops` works, too.
AT_THE_TOP = {
    name: f"{folder}.{name}"
    for folder, names in (
        (
            "framework",
            "constant_op dtypes errors errors_impl graph_util random_seed "
            "sparse_tensor tensor_shape tensor_spec tensor_util",
        ),
        ("lib.io", "file_io"),
        (
            "ops",
            "array_ops check_ops clip_ops control_flow_ops map_fn math_ops metrics nn "
            "nn_ops random_ops resource_variable_ops rnn rnn_cell sets sparse_ops "
            "state_ops tensor_array_ops",
        ),
        ("platform", "app flags gfile resource_loader test tf_logging"),
        ("util", "deprecation nest"),
    )
    for name in names.split()
}
