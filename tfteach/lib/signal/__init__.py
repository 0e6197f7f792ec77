"""tf.signal: framing of signals, spectra, and features for speech recognition.

The transforms themselves are in `tfteach/ops/signal/fft.py`.
"""
