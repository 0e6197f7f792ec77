"""What a model function is called for.

Source: tensorflow_estimator/python/estimator/mode_keys.py.
"""

from __future__ import annotations

from tfteach.framework.export import export


@export("estimator.ModeKeys")
class ModeKeys:
    """The modes of a model function.

    Attributes:
      TRAIN: "train".
      EVAL: "eval".
      PREDICT: "infer".

    Source: tensorflow_estimator/python/estimator/mode_keys.py.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
