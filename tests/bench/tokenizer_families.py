#!/usr/bin/env python3
"""Speed of `bench_tokenizer` for every family of tests/tokenizer, one core: a Markdown table.

    tokenizer_families.py BUILD_FOLDER [--text FILE] [--families a,b]      (FILE: prompts, one a line)
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tokenizer"))
import fuzz_pieces  # noqa: E402
from wheel_families import FAMILIES, write_family  # noqa: E402
from wheel_training import corpus  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--families", default=",".join([*FAMILIES, *(f"model:{n}" for n in fuzz_pieces.FAMILIES)]))
    arguments = parser.parse_args()
    bench = next(arguments.build.rglob("bench_tokenizer"))
    print("| family | speed | loading |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        text = arguments.text or Path(folder) / "lines.txt"
        if not arguments.text:
            text.write_text("\n".join(corpus()))
        for name in arguments.families.split(","):
            directory = Path(folder) / name.replace(":", "-")
            directory.mkdir()
            if name.startswith("model:"):
                fuzz_pieces.write_model(name.removeprefix("model:"), directory)
            else:
                write_family(name, directory)
            speed, _, load = subprocess.run([bench, directory, text], capture_output=True, text=True,
                                            check=True).stdout.strip().split(", ")
            print(f"| {name} | {speed} | {load.removeprefix('loaded in ')} |", flush=True)


if __name__ == "__main__":
    main()
