"""`tf.saved_model`: a graph, its variables and files, with named inputs and outputs.

A SavedModel is a directory: `saved_model.pb` holds MetaGraphs, each known by its tags,
`variables/` a checkpoint, `assets/` files such as vocabularies.  Read builder.py, which
writes it, loader.py, which reads it, and signature_def_utils.py: what is served.
"""
