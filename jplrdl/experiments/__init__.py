"""Experiments: what the library does, shown on data, and the paper reproduced."""

from .collaborative import CollaborativeRepresentationClassifier
from .reproduce import describe, reproduce
from .sparse_representation import SparseRepresentationClassifier

__all__ = ["CollaborativeRepresentationClassifier", "SparseRepresentationClassifier", "describe", "reproduce"]
