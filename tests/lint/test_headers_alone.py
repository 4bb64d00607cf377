"""Every header of src/ compiles alone. Compiled through ccache where it is there, so that only changes cost.

Where one header includes another, itself or through others, the two are compiled at once, the included one in front: it
stands alone there, and the other one's lines, which come after its includes, see nothing that they do not include.
"""

import concurrent.futures
import functools
import json
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from project import ROOT, cpp_files, includes

BUILD = pathlib.Path(os.environ.get("STEREOSWEEP_BUILD_DIR", ROOT / "build" / "release"))


def flags_by_room():
    """Compiler and flags of one source (or batch of sources) per room, from the build's compile commands."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    found = {}
    for entry in commands:
        path = pathlib.Path(entry["file"])
        folder = next((folder for folder in (ROOT / "src", BUILD / "src") if path.is_relative_to(folder)), None)
        if folder:
            words = shlex.split(entry["command"])
            if words[0].endswith("ccache"):
                words = words[1:]
            keep = [word for index, word in enumerate(words)
                    if word not in ("-c", "-o") and words[index - 1] not in ("-o", "-c") and not word.startswith("-O")
                    and word not in ("-include", "-Winvalid-pch") and words[index - 1] != "-include"]
            found.setdefault(path.relative_to(folder).parts[0], keep)
    return found


@functools.cache
def read_by(header):
    """All headers of src/ that a header includes, itself or through others."""
    own = {pathlib.Path("src") / name for _, mark, name in includes(header) if mark == '"'}
    return own.union(*map(read_by, own))


def chains_of(headers):
    """All headers, in as few chains as there are: each includes the one before it."""
    below = {}  # header: the one before it in its chain

    def find_place(header, tried):
        for other in headers:
            if header in read_by(other) and other not in tried:
                tried.add(other)
                if other not in below or find_place(below[other], tried):
                    below[other] = header
                    return True
        return False

    chains = []
    for last in [header for header in headers if not find_place(header, set())]:
        chain = [last]
        while chain[0] in below:
            chain.insert(0, below[chain[0]])
        chains.append(chain)
    assert sorted(header for chain in chains for header in chain) == sorted(headers)
    return chains


def problem_of(chain, flags, folder):
    room = chain[-1].parts[1]
    words = flags.get(room) or [*next(iter(flags.values()))[:1], "-std=c++20", f"-I{ROOT / 'src'}"]
    source = folder / (str(chain[-1]).replace("/", "_") + ".cpp")
    source.write_text("".join(f'#include "{header.relative_to("src")}"\n' for header in chain))
    ccache = [shutil.which("ccache")] if shutil.which("ccache") else []
    # -MD: ccache then takes the compiler's list of included files, and needs no preprocessor of its own
    command = [*ccache, *words, "-MD", "-O0", "-c", str(source), "-o", str(source.with_suffix(".o"))]
    settings = {**os.environ, "CCACHE_DEPEND": "1"}
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, env=settings)
    return None if done.returncode == 0 else f"{', '.join(map(str, chain))}:\n{done.stderr[:1500]}"


def test_headers_compile_alone():
    if not (BUILD / "compile_commands.json").exists():
        pytest.skip(f"no build in {BUILD}: its compile commands are needed")
    folder = BUILD / "headers_alone"
    folder.mkdir(exist_ok=True)
    headers = [path for path in cpp_files("src") if path.suffix == ".hpp"]
    assert headers
    flags = flags_by_room()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda chain: problem_of(chain, flags, folder), chains_of(headers))
        problems = [text for text in found if text]
    assert not problems, "\n".join(problems)
