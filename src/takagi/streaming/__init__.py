"""Streaming: the same training, block by block."""
