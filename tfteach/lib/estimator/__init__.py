"""`tf.estimator`: models as functions, trained, evaluated and used by one object.

`estimator.py` runs them, `estimator_spec.py` is what a model function returns,
`run_config.py` how to run it, `inputs.py` makes input functions from arrays.
"""
