"""Which convolutions a card computes with cuDNN, and why not the others.

cuDNN is queried once for each combination of sizes, dtype, layout and windows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.ops.windows.conv_by_cudnn import Convolution, plans

__all__ = ["CardConvolutions", "ConvolutionRow", "explain_card_convolutions"]

NOTHING = "No card of the session has computed a convolution."
_NAMES = {
    "output": "the output",
    "input": "the gradient with respect to the input",
    "filter": "the gradient with respect to the filter",
}


class ConvolutionRow(NamedTuple):
    """A convolution, or a gradient of one.

    Attributes:
      device: the card, such as "GPU:0".
      result: "output"; "input" or "filter" for the gradient with respect to it.
      dtype: the dtype.
      input, filter, output: the shapes of the three arrays, in TensorFlow's order.
      by_cudnn: True if cuDNN computes it.
      reason: why cuDNN does not compute it; "" if it does.
    """

    device: str
    result: str
    dtype: str
    input: tuple[int, ...]
    filter: tuple[int, ...]
    output: tuple[int, ...]
    by_cudnn: bool
    reason: str

    def __str__(self) -> str:
        how = "by cuDNN" if self.by_cudnn else f"without cuDNN: {self.reason}"
        return (
            f"{self.device}: {_NAMES[self.result]} of {list(self.input)} with a filter "
            f"{list(self.filter)}, {self.dtype}: {how}"
        )


class CardConvolutions(NamedTuple):
    """The convolutions that a session's cards have computed; `print` it.

    Attributes:
      rows: a row for each, in the order of their first computation.
    """

    rows: tuple[ConvolutionRow, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows)) or NOTHING


def explain_card_convolutions(session: Any) -> CardConvolutions:
    """Explain which convolutions a session's cards compute with cuDNN.

    Args:
      session: a `tf.Session`; cards are shared by the sessions of a process.

    Returns:
      A `CardConvolutions`: for each convolution, why not, where cuDNN is not used.

    Example:
      >>> with tf.Session() as sess:
      ...     print(explain_card_convolutions(sess))
      No card of the session has computed a convolution.
    """
    rows: list[ConvolutionRow] = []
    for device in session.devices[1:]:
        if device.is_asynchronous:
            with device.card:
                found = plans(device.xp)
            name = f"{device.device_type}:{device.index}"
            rows += [_row(name, key, reason) for key, reason in found.items()]
    return CardConvolutions(tuple(rows))


def _row(device: str, convolution: Convolution, reason: str) -> ConvolutionRow:
    outputs, channels, *window = convolution.filter

    def in_order(sizes: tuple[int, ...]) -> tuple[int, ...]:
        batch, depth, *spatial = sizes
        return (batch, *spatial, depth) if convolution.channels_last else sizes

    return ConvolutionRow(
        device,
        convolution.result,
        convolution.dtype,
        in_order(convolution.input),
        (*window, channels, outputs),
        in_order(convolution.output),
        not reason,
        reason,
    )
