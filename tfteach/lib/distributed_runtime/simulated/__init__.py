"""Clusters of any size, by a modelled clock."""
