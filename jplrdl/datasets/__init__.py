"""Data for the experiments, and the ways to corrupt it."""

from .corruption import add_uniform_noise, cover_blocks, saturate_pixels
from .images import Images, choose_training, load_images
from .lbp import lbp_histograms
from .synthetic import synthetic_faces

__all__ = [
    "Images",
    "add_uniform_noise",
    "choose_training",
    "cover_blocks",
    "lbp_histograms",
    "load_images",
    "saturate_pixels",
    "synthetic_faces",
]
