"""Gradient boosted trees: `BoostedTreesClassifier` and its siblings.

Read `ensemble_resources.py`, `bucketized_features.py`, `growers.py`, `model.py`, then
`estimators.py`.
"""
