"""Checks of the lessons on files: checkpoints."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import tfteach as tf

from .verdict import quiet, report

# ---- lesson 14


def check_saver(saver_of_what_fits: Any) -> None:
    """Check that the Saver restores the variables that fit, and only these."""
    report(_problem_of_saver, saver_of_what_fits)


def _problem_of_saver(saver_of_what_fits: Any) -> str | None:
    saved = {"steps": [], "hidden/kernel": [2, 3], "output/kernel": [3, 1]}
    built = {**saved, "output/kernel": [3, 4], "output/bias": [4]}
    with quiet(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            variables = _filled(saved, 7.0)
            session.run(tf.global_variables_initializer())
            checkpoint = tf.train.Saver(variables).save(
                session, str(Path(folder) / "model")
            )
        with tf.Graph().as_default(), tf.Session() as session:
            variables = _filled(built, 0.0)
            session.run(tf.global_variables_initializer())
            saver = saver_of_what_fits(variables, checkpoint)
            if not isinstance(saver, tf.train.Saver):
                return "what `saver_of_what_fits` returns is not a tf.train.Saver."
            try:
                saver.restore(session, checkpoint)
            except tf.errors.NotFoundError:
                return (
                    "the restore fails: the Saver has `output/bias`, which the "
                    "checkpoint lacks. Keep the variables whose `v.op.name` is in "
                    "tf.train.list_variables(checkpoint)."
                )
            except tf.errors.InvalidArgumentError:
                return (
                    "the restore fails: `output/kernel` is [3, 4] in the graph and "
                    "[3, 1] in the checkpoint. Compare the shapes as well."
                )
            restored = {v.op.name for v in variables if (session.run(v) == 7.0).all()}
    for name in ("hidden/kernel", "steps"):
        if name not in restored:
            hint = " An empty list is false in Python." if name == "steps" else ""
            return (
                f"`{name}` {saved[name]} is in the checkpoint with the same shape, "
                f"and is not restored.{hint}"
            )
    return None


def _filled(shapes: dict[str, list[int]], value: float) -> list[Any]:
    """A variable of each shape, filled with `value`."""
    fill = tf.constant_initializer(value)
    return [
        tf.get_variable(name, shape, initializer=fill) for name, shape in shapes.items()
    ]
