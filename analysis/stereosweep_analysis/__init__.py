"""Opens stereosweep's results, draws them, tabulates them, writes reports.

Everything takes run directories or their statistics files and raises ResultError where they cannot be read.
"""

import importlib
from typing import TYPE_CHECKING

from .open import ResultError, open, open_result, open_statistics, open_vectors

if TYPE_CHECKING:
    from .reports.command import figures, report
    from .tidy import compare, scores

__version__ = "0.2.0"  # of the whole project: CMake and pyproject.toml read it here

__all__ = [
    "ResultError", "__version__", "compare", "figures", "open", "open_result", "open_statistics", "open_vectors",
    "report", "scores",
]  # fmt: skip

# Loaded when they are first asked for: they need matplotlib or pandas.
_LATER = {"scores": "tidy", "compare": "tidy", "report": "reports.command", "figures": "reports.command"}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
