"""Which convolutions cuDNN computes on a card, and why it does not compute others.

cuDNN is asked once for each combination of sizes, type, layout and windows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.ops.windows.conv_by_cudnn import Convolution, plans

__all__ = ["CardConvolutions", "ConvolutionRow", "explain_card_convolutions"]

NOTHING = "No card of the session has computed a convolution."
_NAMES = {
    "output": "the output",
    "input": "the gradient by the input",
    "filter": "the gradient by the filter",
}


class ConvolutionRow(NamedTuple):
    """A convolution, or a gradient of one.

    Attributes:
      device: the card, such as "GPU:0".
      result: "output"; "input" or "filter" for the gradient by it.
      dtype: the type.
      input, filter, output: the shapes of the three arrays, in TensorFlow's order.
      by_cudnn: whether cuDNN computes it.
      reason: why it does not; "" if it does.
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
    """The convolutions of the process on a session's cards.

    Attributes:
      rows: a row for each, in the order in which they were computed first.
    """

    rows: tuple[ConvolutionRow, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows)) or NOTHING


def explain_card_convolutions(session: Any) -> CardConvolutions:
    """Which convolutions cuDNN computes on a session's cards, and why not others.

    Args:
      session: a `tf.Session`.

    Returns:
      A `CardConvolutions`, which can be printed.

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
