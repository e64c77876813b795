"""Simplification: the same model in fewer words, at a stated price."""

from takagi.simplification._simplify import Simplification, simplify

__all__ = ["Simplification", "simplify"]
