"""Canned estimators: models that are made of feature columns and a head.

Read `baseline.py`, `linear.py`, `dnn.py`, then `dnn_linear_combined.py`.
"""
