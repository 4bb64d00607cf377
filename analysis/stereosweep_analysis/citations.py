"""BibTeX of the program and of the papers whose measures it computes: citing.bib, by key."""

import re
from functools import cache
from importlib import resources


@cache
def citations() -> dict[str, str]:
    """{key: BibTeX entry}"""
    text = resources.files(__package__).joinpath("citing.bib").read_text(encoding="utf-8")
    return {entry[1]: entry[0] for entry in re.finditer(r"^@\w+\{([^,]+),.*?^\}$", text, re.MULTILINE | re.DOTALL)}


def program_citation(version: str, job_hash: str) -> str:
    """The program's entry with the version and the job of a run."""
    return citations()["stereosweep"].replace("VERSION", version).replace("HASH", job_hash)
