"""Opens stereosweep's results, draws them, tabulates them, writes reports."""

import importlib

from .open import ResultError, open_result, open_statistics, open_vectors

__version__ = "0.1.0"

# Loaded when they are first asked for: they need matplotlib or pandas.
_LATER = {"scores": "tidy", "compare": "tidy", "write_report": "report.command", "write_pictures": "report.command"}

__all__ = ["ResultError", "__version__", "open_result", "open_statistics", "open_vectors", *_LATER]


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
