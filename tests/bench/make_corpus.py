#!/usr/bin/env python3
"""Writes what bench_corpus reads: WordNet's glosses over and over, and 500 of their words.

    python3 tests/bench/make_corpus.py FOLDER [MEGABYTES]
glosses.txt, glosses.jsonl, glosses.txt.gz, glosses.txt.zst (with the zstd program), words.txt: every twentieth of the
10,000 most frequent words.
"""
import collections
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys


def main(folder, megabytes=1000):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    glosses = []
    for part in ("noun", "verb", "adj", "adv"):
        with open(f"/usr/share/wordnet/data.{part}", encoding="latin-1") as file:
            glosses += [line.split("|", 1)[1].strip() for line in file if "|" in line and line[0].isdigit()]
    text = "".join(gloss + "\n" for gloss in glosses).encode()
    lines = "".join(json.dumps({"id": i, "text": gloss, "source": "gloss"}) + "\n"
                    for i, gloss in enumerate(glosses)).encode()
    for name, content in (("glosses.txt", text), ("glosses.jsonl", lines)):
        with open(folder / name, "wb") as file:
            for _ in range(megabytes * 1_000_000 // len(content) + 1):
                file.write(content)
    with gzip.open(folder / "glosses.txt.gz", "wb", 6) as file:
        for _ in range(megabytes // 4 * 1_000_000 // len(text) + 1):
            file.write(text)
    if shutil.which("zstd"):
        with open(folder / "quarter.txt", "wb") as file:
            for _ in range(megabytes // 4 * 1_000_000 // len(text) + 1):
                file.write(text)
        subprocess.run(["zstd", "-q", "-f", "-3", str(folder / "quarter.txt"), "-o", str(folder / "glosses.txt.zst")],
                       check=True)
        (folder / "quarter.txt").unlink()
    counts = collections.Counter(re.findall(rb"[A-Za-z]+", text))
    words = [word.decode() for word, _ in counts.most_common(10_000)[19::20]]
    (folder / "words.txt").write_text("\n".join(words) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
