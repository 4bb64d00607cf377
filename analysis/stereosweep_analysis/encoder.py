"""Vectors of texts by `stereosweep query`: one process for all texts."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable

import numpy as np

from .open import PathLike, ResultError

PROGRAM = "STEREOSWEEP_PROGRAM"


def find_program(named: str | None = None) -> str:
    """`named`, else what STEREOSWEEP_PROGRAM names, else `stereosweep` of the path. Raises ResultError."""
    wanted = str(named or os.environ.get(PROGRAM) or "stereosweep")
    found = shutil.which(wanted)
    if found is None:
        raise ResultError(f"no program '{wanted}': name it with --program, or put its folder into PATH")
    return found


def encode(texts: Iterable[str], model: PathLike, program: str | None = None, threads: int = 1) -> np.ndarray:
    """[text, dimension] float32: the mean of the last hidden states over the tokens of the text itself, without the
    tokens that the model adds around it ([CLS], [SEP]). Not normalised. Raises ResultError with the first text that
    the model cannot take (too long) and why."""
    texts = list(texts)
    command = [find_program(program), "query", "--model", str(model), "--threads", str(threads)]
    vectors = None
    with tempfile.TemporaryFile("w+", encoding="utf-8") as questions, tempfile.TemporaryFile("w+") as complaints:
        for text in texts:
            span = [0, len(text.encode())]
            query = {"kind": "embed", "text": text, "span": span, "layer": -1, "pool": "mean"}
            questions.write(json.dumps(query) + "\n")
        questions.flush()
        questions.seek(0)
        with subprocess.Popen(
            command, stdin=questions, stdout=subprocess.PIPE, stderr=complaints, text=True, encoding="utf-8"
        ) as running:
            answered = 0
            for line in running.stdout or ():
                answer = json.loads(line)
                if "vector" not in answer:
                    running.kill()
                    raise ResultError(f"no vector of '{texts[answered][:60]}': {answer.get('error', answer)}")
                if vectors is None:
                    vectors = np.empty((len(texts), len(answer["vector"])), dtype=np.float32)
                vectors[answered] = answer["vector"]
                answered += 1
        if running.returncode != 0 or answered != len(texts):
            complaints.seek(0)
            raise ResultError(f"'{' '.join(command)}' failed: {complaints.read().strip()[-500:]}")
    if vectors is None:
        raise ResultError("there is no text to make a vector of")
    return vectors
