"""Opens stereosweep's results and draws them."""

from .open import ResultError, open_result, open_statistics, open_vectors

__all__ = ["ResultError", "open_result", "open_statistics", "open_vectors"]
