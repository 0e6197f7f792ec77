"""Input pipelines: tf.data's datasets, and queues with their threads."""
