"""Glosses and example sentences of WordNet (Debian's wordnet-base), the text that the adapter learns from.

A data line ends in "| gloss; more gloss; "example"". Definitions and quoted examples become one sentence each.
The split is a hash of the text, so that a sentence and its copies are always on the same side.
"""

import hashlib
import pathlib
import re

DICTIONARY = pathlib.Path("/usr/share/wordnet")
HELD_OUT = 50  # one sentence in fifty is never trained on


def sentences(dictionary=DICTIONARY):
    """All distinct sentences, sorted: definitions and examples of nouns, verbs, adjectives and adverbs."""
    found = set()
    for part in ("noun", "verb", "adj", "adv"):
        for line in (dictionary / f"data.{part}").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            gloss = line.split("|", 1)[1].strip()
            found.update(example.strip() for example in re.findall(r'"([^"]+)"', gloss))
            found.add(re.sub(r'"[^"]*"', "", gloss).strip(" ;"))
    return sorted(text for text in found if len(text.split()) >= 3)


def split(texts):
    """(training sentences, held-out sentences)."""
    held_out = [hashlib.sha256(text.encode()).digest()[0] * 256 + hashlib.sha256(text.encode()).digest()[1] for text in texts]
    training = [text for text, number in zip(texts, held_out) if number % HELD_OUT]
    return training, [text for text, number in zip(texts, held_out) if number % HELD_OUT == 0]
