"""Programs of the build that tests call."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release"))


def call(*arguments):
    done = subprocess.run([str(part) for part in arguments], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
