"""Colours, crops, resizing and boxes of images."""
