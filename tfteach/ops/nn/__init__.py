"""Activations, losses, normalization, recurrent blocks and embeddings."""
