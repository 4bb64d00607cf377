"""Sources of a room are compiled in batches: what two files name in their unnamed namespaces must differ, so that one more
file, which shifts the batches, breaks nothing. No source and no test stands outside of every library and program."""

import collections
import re

from project import ROOT, tracked

TEXTS = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.S)
NAMES = re.compile(
    r"^(?:template\s*<[^;{]*?>\s*)?(?:"
    r"(?:struct|class|enum class|enum)\s+(?P<type>\w+)[^;]*?\{"
    r"|using\s+(?P<alias>\w+)\s*="
    r"|(?:inline\s+|static\s+)?(?:constexpr|const)\s[^(){};=]*?(?P<value>\w+)(?:\[[^\]]*\])?\s*[={]"
    r"|(?:[\w:<>,&*\s\[\]]+?)\s[&*]*(?P<function>\w+)\((?P<parameters>[^;{]*?)\)[^;{]*\{)", re.M)


def unnamed_parts(text):
    """What stands directly in the unnamed namespaces of a source; inner blocks are left out."""
    text = TEXTS.sub("", text)
    for begin in re.finditer(r"^namespace \{\n", text, re.M):
        depth, kept = 1, []
        for letter in text[begin.end():]:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                break
            if depth == 1 or (depth == 2 and letter == "{"):
                kept.append(letter)
        yield "".join(kept)


def names_of(text):
    """Types and values by name, functions by name and types of parameters."""
    for part in unnamed_parts(text):
        for found in NAMES.finditer(part):
            if found["function"] is None:
                yield found["type"] or found["alias"] or found["value"]
            else:
                parameters = re.split(r",(?![^<]*>)", re.sub(r"\s+", " ", found["parameters"]))
                types = [re.sub(r"[\s&]*\b\w+$", "", re.sub(r"\s*=.*", "", one).strip()) for one in parameters]
                yield f"{found['function']}({', '.join(types)})"


def library_of(path):
    """The folder whose CMakeLists.txt names the source; the source itself where that says that it is compiled alone."""
    folder = next(folder for folder in path.parents if (ROOT / folder / "CMakeLists.txt").is_file())
    alone = re.search(r"\bALONE\b((?:\s+[\w/]+\.cpp)+)", (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8"))
    return path if alone and str(path.relative_to(folder)) in alone[1].split() else folder


def outside(paths, wholes):
    """Files that the CMakeLists.txt of their library neither names nor takes with the whole folder (`wholes`)."""
    found = []
    for path in paths:
        folder = next(folder for folder in path.parents if (ROOT / folder / "CMakeLists.txt").is_file())
        text = (ROOT / folder / "CMakeLists.txt").read_text(encoding="utf-8")
        is_named = re.search(rf"(?<![\w/]){re.escape(str(path.relative_to(folder)))}\b", text)
        if not is_named and not re.search(wholes, text):
            found.append(str(path))
    return found


def test_every_source_and_every_test_is_built():
    assert not outside(tracked("src/*.cpp"), r"stereosweep_add_room\([^)]*\bFOLDER\b")
    tests = tracked("tests/*.test.cpp")
    assert len(tests) > 150 and not outside(tests, r"\bstereosweep_add_other_tests\b")


def test_what_is_not_built_is_seen():
    assert outside([ROOT.joinpath("tests/stats/NoSuch.test.cpp").relative_to(ROOT)], r"\bstereosweep_add_other_tests\b")


def shared_names(sources):
    """[(library, name, files)] of (library, file, text) whose names stand twice."""
    places = collections.defaultdict(set)
    for library, path, text in sources:
        for name in names_of(text):
            places[library, name].add(str(path))
    return [(str(library), name, sorted(files)) for (library, name), files in sorted(places.items(), key=str) if len(files) > 1]


def test_no_two_sources_of_a_room_share_an_unnamed_name():
    sources = [(library_of(path), path, (ROOT / path).read_text(encoding="utf-8")) for path in tracked("src/*.cpp")]
    assert len(sources) > 250
    shared = shared_names(sources)
    assert not shared, "\n".join(f"{library}: '{name}' in {', '.join(files)}" for library, name, files in shared)


def test_shared_names_are_seen():
    def source(body):
        return f"namespace a {{\nnamespace {{\n{body}\n}}  // namespace\n}}\n"

    first = source("struct Row {\n  int one() { return 1; }\n};\nconstexpr int most = 3;\nvoid show(const Row& row, int n) {\n}\n")
    for body, names in (("struct Row {\n};\n", ["Row"]), ("const double most = 2;\n", ["most"]), ("int one(int n) {\n}\n", []),
                        ("// struct Row {\nint show(const Row& other, int k) {\n}\n", ["show(const Row, int)"])):
        assert [name for _, name, _ in shared_names([("r", "1", first), ("r", "2", source(body)), ("s", "3", first)])] == names, body
