"""The inner modules of `tf.train`, which its programs and tests import.

Source: python/training/*.py (names).
"""

from __future__ import annotations

# Path below `tensorflow.python` (contrib: below `tensorflow`) -> modules of this
# package with further names.
MORE = {
    "contrib.testing.python.framework": "contrib.testing",
    "contrib.testing.python.framework.fake_summary_writer": "contrib.testing "
    "tfteach.lib.contrib.testing.fake_summary_writer",
    "contrib.testing.python.framework.util_test": "contrib.testing "
    "tfteach.lib.contrib.testing.event_files",
    "training.basic_session_run_hooks": "tfteach.lib.training.hooks.timer",
    "training.checkpoint_management": "tfteach.lib.files.checkpoint_management "
    "tfteach.lib.files.checkpoint_manager",
    "training.checkpoint_ops": "tfteach.lib.files.remapped_matrix",
    "training.checkpoint_utils": "tfteach.lib.files.checkpoint_reader",
    "training.evaluation": "contrib.training tfteach.lib.training.evaluation",
    "training.input": "tfteach.lib.queues.batch_queues",
    "training.monitored_session": "tfteach.lib.training.wrapped_sessions",
    "training.saver": "tfteach.lib.training.scaffold",
    "training.tracking.tracking": "tfteach.lib.files.trackable "
    "tfteach.framework.trackable",
    "training.tracking.util": "train tfteach.lib.files.load_status",
    "training.training_util": "tfteach.lib.training.global_step",
    "training.warm_starting_util": "tfteach.lib.files.warm_start",
}
# Names that have another name there.
ALIASES = {
    "training.input._as_original_type": "as_given",
    "training.input._as_tensor_list": "as_list",
    "training.saver._get_saver_or_default": "default_saver",
    "training.training_util._get_or_create_global_step_read": "global_step_read",
    "training.tracking.util.CheckpointV1": "Checkpoint",
}
