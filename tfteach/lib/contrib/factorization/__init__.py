"""`tf.contrib.factorization`: k-means.

`kmeans.py` puts the graph of a training together from `kmeans_start.py`, which chooses
the first centers, and `kmeans_updates.py`, which moves them; `kmeans_clustering.py` are
estimators that run it.
"""
