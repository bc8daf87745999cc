"""Experiments: what the library does, shown on data."""

from .sparse_representation import SparseRepresentationClassifier

__all__ = ["SparseRepresentationClassifier"]
