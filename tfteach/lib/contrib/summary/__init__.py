"""`tf.contrib.summary`: summaries that ops write to files themselves."""
