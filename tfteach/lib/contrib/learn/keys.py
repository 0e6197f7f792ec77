"""The names of modes, predictions, metrics, problems and tasks.

Source: contrib/learn/python/learn/estimators/{model_fn,prediction_key,metric_key,
constants}.py.
"""

from __future__ import annotations

from tfteach.framework.export import export


@export("contrib.learn.ModeKeys")
class ModeKeys:
    """The modes of a model function of `tf.contrib.learn`.

    Attributes:
      TRAIN: "train".
      EVAL: "eval".
      INFER: "infer".

    Source: contrib/learn/python/learn/estimators/model_fn.py.
    """

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Check that `key` is one of the modes.

        Raises:
          ValueError: it is not.
        """
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


@export("contrib.learn.PredictionKey")
class PredictionKey:
    """The keys of the predictions of canned models.

    Attributes:
      CLASSES: "classes", the class of each example, int64 [batch].
      PROBABILITIES: "probabilities", float [batch, classes].
      LOGITS: "logits", float [batch, outputs].
      LOGISTIC: "logistic", the probability of class 1, float [batch, 1].
      SCORES: "scores", the values of a regression.
      TOP_K: "top_k".
      GENERIC: "output".

    Source: contrib/learn/python/learn/estimators/prediction_key.py.
    """

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class MetricKey:
    """The keys of the metrics of canned models; some with a class or a threshold.

    Source: contrib/learn/python/learn/estimators/metric_key.py.
    """

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


@export("contrib.learn.ProblemType")
class ProblemType:
    """The kinds of outputs of a model.

    Attributes:
      UNSPECIFIED: 0.
      CLASSIFICATION: 1.
      LINEAR_REGRESSION: 2.
      LOGISTIC_REGRESSION: 3.

    Source: contrib/learn/python/learn/estimators/constants.py.
    """

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


@export("contrib.learn.TaskType")
class TaskType:
    """The kinds of processes of a cluster.

    Attributes:
      MASTER: "master".
      PS: "ps".
      WORKER: "worker".

    Source: contrib/learn/python/learn/estimators/run_config.py.
    """

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
