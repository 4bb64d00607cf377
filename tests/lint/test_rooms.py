"""The include graph is the table of src/README.md: down only, and third-party headers only in their rooms."""

import re

from project import ROOT, cpp_files, includes, rooms

# First part of an include in <> or "" -> the library's name in the table.
LIBRARIES = {
    "mpi.h": "mpi", "nccl.h": "nccl", "hdf5.h": "hdf5", "hdf5_hl.h": "hdf5", "H5": "hdf5", "yaml-cpp": "yaml-cpp",
    "nlohmann": "nlohmann-json", "openssl": "openssl", "oniguruma.h": "oniguruma", "pcre2.h": "pcre2",
    "utf8proc.h": "utf8proc", "boost": "boost", "torch": "torch",
    "ATen": "torch", "c10": "torch", "caffe2": "torch", "cuda": "cuda", "cuda.h": "cuda", "cuda_runtime": "cuda", "cuda_runtime.h": "cuda",
    "cuda_runtime_api.h": "cuda", "zlib.h": "zlib", "zstd.h": "zstd", "bzlib.h": "bzip2", "curl": "libcurl", "gtest": "gtest", "gmock": "gtest", "mkl.h": "mkl",
}
SYSTEM = {"sys", "netinet", "arpa", "unistd.h", "fcntl.h", "dlfcn.h", "dirent.h", "poll.h", "ifaddrs.h", "net", "pthread.h", "sched.h",
          "string.h", "time.h", "errno.h", "termios.h", "immintrin.h", "pwd.h", "cxxabi.h", "malloc.h", "signal.h", "netdb.h", "spawn.h"}


def library_of(name):
    first = name.split("/")[0]
    if first == name and re.fullmatch(r"[a-z_0-9]+", name):
        return None  # the standard library
    if first in SYSTEM or name in SYSTEM:
        return None
    return LIBRARIES.get(first) or LIBRARIES.get(name) or f"unknown ({name})"


def test_includes_go_down_only():
    table, wrong = rooms(), []
    for path in cpp_files("src"):
        room = path.parts[1]
        for number, kind, name in includes(path):
            target = name.split("/")[0]
            if kind != '"' or target == room:
                continue
            if target not in table:
                wrong.append(f"{path}:{number}: \"{name}\" names no room (paths start at src/)")
            elif table[target][0] >= table[room][0]:
                wrong.append(f"{path}:{number}: {room} (level {table[room][0]}) includes {target} (level {table[target][0]})")
    assert not wrong, "\n".join(wrong)


def test_third_party_headers_only_in_their_rooms():
    table, wrong = rooms(), []
    for path in cpp_files("src"):
        room = path.parts[1]
        for number, kind, name in includes(path):
            library = library_of(name) if kind == "<" else None
            if library and library not in table[room][1]:
                wrong.append(f"{path}:{number}: <{name}> is {library}, which src/README.md does not allow in {room}")
    assert not wrong, "\n".join(wrong)


def test_no_detail_across_rooms():
    wrong = [f"{path}:{number}: {name}" for path in cpp_files("src") for number, _, name in includes(path)
             if "/detail/" in name and name.split("/")[0] != path.parts[1]]
    assert not wrong, "\n".join(wrong)


def test_every_room_is_in_the_table_and_has_a_readme():
    table = rooms()
    folders = {path.parts[1] for path in cpp_files("src") if len(path.parts) > 2}
    assert folders <= set(table), f"not in src/README.md: {sorted(folders - set(table))}"
    missing = [room for room in sorted(folders) if not (ROOT / "src" / room / "README.md").exists()]
    assert not missing, f"README.md is missing in src/: {missing}"


def probes():
    return sorted(path.name for path in (ROOT / "src" / "probes").iterdir() if path.is_dir())


def test_no_file_names_a_probe_but_its_folder_and_the_registry():
    names, wrong = probes(), []
    assert len(names) >= 4
    for path in cpp_files("src"):
        own = path.parts[2] if path.parts[1] == "probes" and len(path.parts) > 3 else None
        if path.parts[1:] == ("probes", "Registry.cpp"):
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in names:
            if name != own and re.search(rf'"probes/{name}/|\b{name}::[A-Z]|probes::{name}\b', text):
                wrong.append(f"{path} names the probe {name}")
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_a_wrong_include():
    assert library_of("torch/torch.h") == "torch"
    assert library_of("hdf5.h") == "hdf5"
    assert library_of("vector") is None
    assert library_of("somebody/else.h").startswith("unknown")
