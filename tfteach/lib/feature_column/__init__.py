"""`tf.feature_column`: from raw features to the inputs of a model.

Inputs are dictionaries of Tensors and SparseTensors; columns describe how each becomes
numbers, and `input_layer`, `linear_model` and `sequence_input_layer` create the ops and
variables.  Read `base_column.py` (what a column provides) and
`transformation_cache.py` (each feature is transformed once), then the columns, then
`input_layer.py` and `linear_model.py`.
"""
