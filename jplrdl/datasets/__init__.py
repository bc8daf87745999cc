"""Data for the experiments, and the ways to corrupt it."""

from .corruption import saturate_pixels
from .images import Images, choose_training, load_images

__all__ = ["Images", "choose_training", "load_images", "saturate_pixels"]
