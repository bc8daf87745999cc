"""Data for the experiments, and the ways to corrupt it."""

from .corruption import saturate_pixels

__all__ = ["saturate_pixels"]
