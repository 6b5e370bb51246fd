"""Send work out: one model request after another, within limits, tried again where that may help."""
