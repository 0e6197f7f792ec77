"""`tf.contrib.learn`: estimators, experiments, monitors and preprocessing of 2016.

`estimator.py` trains, evaluates and predicts upon `tf.estimator`'s sessions and hooks;
`dnn.py`, `linear.py` and `dnn_linear_combined.py` are the canned models, whose ends
are the heads of `head.py`.
"""
