"""tf.contrib.quantize: graphs rewritten for training with simulated quantization."""
