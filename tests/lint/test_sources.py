"""Every source names the headers of the rooms that it uses: a batch (env/cmake) would lend it those of a neighbour."""

import functools
import re

from project import ROOT, cpp_files, includes, rooms

TYPE = re.compile(r"^(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)\b(?!;)", re.MULTILINE)


@functools.cache
def code_of(path):
    """The text without comments and string literals."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.sub(r'//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.DOTALL)


@functools.cache
def reached(path):
    """The project's headers that a file includes, by whatever way."""
    found = set()
    for _, kind, name in includes(path):
        if kind == '"' and (ROOT / "src" / name).is_file():
            found |= {f"src/{name}"} | reached(f"src/{name}")
    return found


@functools.cache
def words_of(path):
    return set(re.findall(r"\w+", code_of(path)))


def missing(own, code, headers, room_names, types):
    """Names that `code` of room `own` uses and no header of their room among `headers` holds."""
    for room, name in sorted(set(re.findall(rf"\b({'|'.join(sorted(room_names))})::(\w+)", code))):
        if room != own and not any(header.split("/")[1] == room and name in words_of(header) for header in headers):
            yield f"{room}::{name}"
    for name in sorted(set(re.findall(r"\w+", code)) & types.get(own, set())):
        if not any(name in words_of(header) for header in headers) and not re.search(rf"\b(?:class|struct|using) {name}\b", code):
            yield name


def types_by_room():
    table = {}
    for path in cpp_files("src"):
        if path.suffix == ".hpp":
            table.setdefault(path.parts[1], set()).update(TYPE.findall(code_of(path)))
    return table


def test_sources_include_what_they_use():
    room_names, types = set(rooms()), types_by_room()
    sources = [path for path in cpp_files("src") if path.suffix == ".cpp"]
    assert sources
    wrong = [f"{path}: no include gives {name}" for path in sources
             for name in missing(path.parts[1], code_of(path), reached(path), room_names, types)]
    assert not wrong, "\n".join(wrong)


def test_the_check_sees_a_missing_include():
    code, types = "Commands run() { throw base::InputError(why); }", types_by_room()
    assert list(missing("app", code, {"src/base/text/Text.hpp"}, {"base"}, types)) == ["base::InputError"]
    assert list(missing("base", "Problems problems;", {"src/base/text/Text.hpp"}, {"base"}, types)) == ["Problems"]
    assert not list(missing("base", "Problems problems;", {"src/base/Error.hpp"}, {"base"}, types))


# Each of these makes torch decide whether there is CUDA, for good. cuda_ready() loads its library first.
ASKS_FOR_DEVICES = re.compile(r"\b(?:manual_seed|hasCUDA|getAccelerator|setBlasPreferredBackend|lazyInitDevice|lazyInitCUDA"
                              r"|getCUDAHooks|show_config|torch::cuda)\b")


def test_torch_is_asked_for_devices_in_one_place():
    asking = [str(path) for path in [*cpp_files("src"), *cpp_files("tests")] if ASKS_FOR_DEVICES.search(code_of(path))]
    assert asking == ["src/model/kernels/Kernels.cpp", "tests/engine/CudaPath.test.cpp"], asking


def test_the_check_sees_a_question_for_devices():
    assert ASKS_FOR_DEVICES.search("at::manual_seed(3);") and ASKS_FOR_DEVICES.search("context.hasCUDA()")
    assert not ASKS_FOR_DEVICES.search("draw_from(3); cuda_ready();")
