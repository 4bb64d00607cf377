"""Every header of src/ compiles alone. Compiled through ccache where it is there, so that only changes cost."""

import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from project import ROOT, cpp_files

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


def problem_of(header, flags, folder):
    room = header.parts[1]
    words = flags.get(room) or [*next(iter(flags.values()))[:1], "-std=c++20", f"-I{ROOT / 'src'}"]
    source = folder / (str(header).replace("/", "_") + ".cpp")
    source.write_text(f'#include "{header.relative_to("src")}"\n')
    ccache = [shutil.which("ccache")] if shutil.which("ccache") else []
    command = [*ccache, *words, "-O0", "-c", str(source), "-o", str(source.with_suffix(".o"))]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True)
    return None if done.returncode == 0 else f"{header}:\n{done.stderr[:1500]}"


def test_headers_compile_alone():
    if not (BUILD / "compile_commands.json").exists():
        pytest.skip(f"no build in {BUILD}: its compile commands are needed")
    folder = BUILD / "headers_alone"
    folder.mkdir(exist_ok=True)
    headers = [path for path in cpp_files("src") if path.suffix == ".hpp"]
    assert headers
    flags = flags_by_room()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [text for text in pool.map(lambda header: problem_of(header, flags, folder), headers) if text]
    assert not problems, "\n".join(problems)
