"""Sessions on servers, servers, and clusters of processes, by TensorFlow's protocol."""
