"""Fake quantization: floats rounded to the values that a few bits can represent."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "FakeQuantWithMinMaxArgs": "fake_quant",
    "FakeQuantWithMinMaxArgsGradient": "fake_quant",
    "FakeQuantWithMinMaxVars": "fake_quant",
    "FakeQuantWithMinMaxVarsGradient": "fake_quant",
    "FakeQuantWithMinMaxVarsPerChannel": "fake_quant",
    "FakeQuantWithMinMaxVarsPerChannelGradient": "fake_quant",
}
