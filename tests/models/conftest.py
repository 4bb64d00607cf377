"""Tests here import the scripts beside them."""

import pathlib
import sys

for folder in ("planted", "planted_causal", "planted_chat", "real"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent / folder))
