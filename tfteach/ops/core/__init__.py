"""Ops that all others build on: constants, shapes, stacking, control flow."""
