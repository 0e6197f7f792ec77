"""From a training graph to one for inference: GraphDefs frozen, pruned and folded.

graph_util.py (`tf.graph_util`) replaces variables by constants; freeze_graph.py does so
for files, strip_unused.py and optimize_for_inference_lib.py make the result smaller.
"""
