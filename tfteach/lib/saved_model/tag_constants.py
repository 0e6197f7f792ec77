"""Usual tags of MetaGraphs.  Source: python/saved_model/tag_constants.py."""

from __future__ import annotations

from tfteach.framework.export import export_value

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"

export_value(
    __name__,
    **{
        name: f"saved_model.{name} saved_model.tag_constants.{name}"
        for name in ("SERVING", "TRAINING", "GPU", "TPU")
    },
)
