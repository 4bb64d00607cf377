#!/usr/bin/env python3
"""Writes src/tokenizer/unicode/Unicode*.cpp: what the `tokenizers` wheel does to each code point.

Its parts use tables of different Unicode versions (8.0, 9.0 and Rust's own), so no single library has them all; the
facts are read off the wheel's behaviour, one code point at a time. Run with the pinned wheel (env/requirements.txt):
    python tests/tokenizer/make_unicode_tables.py src/tokenizer
"""
import sys
import unicodedata
from pathlib import Path

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

POINTS = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
HANGUL = range(0xAC00, 0xD7A4)


def class_tests():
    """Name of each class and the test whether a character belongs to it."""
    split = {p: pre_tokenizers.Split(Regex(p), "removed").pre_tokenize_str for p in (r"\p{L}", r"\p{N}", r"\s")}
    clean = normalizers.BertNormalizer(True, False, False, False).normalize_str
    accents = normalizers.BertNormalizer(False, False, True, False).normalize_str
    chinese = normalizers.BertNormalizer(False, True, False, False).normalize_str
    strip = normalizers.StripAccents().normalize_str
    white = pre_tokenizers.WhitespaceSplit().pre_tokenize_str
    punctuation = pre_tokenizers.Punctuation().pre_tokenize_str
    digits = pre_tokenizers.Digits(True).pre_tokenize_str
    words = pre_tokenizers.Whitespace().pre_tokenize_str
    return [
        ("white_space", lambda c: not white(c)),
        ("regex_space", lambda c: not split[r"\s"](c)),
        ("regex_letter", lambda c: not split[r"\p{L}"](c)),
        ("regex_number", lambda c: not split[r"\p{N}"](c)),
        ("punctuation", lambda c: len(punctuation("a" + c)) == 2),
        ("removed_by_cleaning", lambda c: not clean(c)),
        ("cleaned_to_space", lambda c: clean(c) == " "),
        ("nonspacing_mark", lambda c: not accents(c)),
        ("chinese", lambda c: len(chinese(c)) == 3),
        ("combining_mark", lambda c: not strip(c)),
        ("numeric", lambda c: len(digits("a" + c)) == 2),
        ("word", lambda c: len(words("a" + c)) == 1 and bool(words(c))),
    ]


def ranges(test):
    found = []
    for point in map(ord, filter(test, POINTS)):
        if found and found[-1][1] + 1 == point:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def combining_classes(nfd):
    """Class of each character that the wheel reorders; checked against all pairs of classes."""
    candidates = [c for c in POINTS if unicodedata.combining(c) and nfd(c) == c]
    moves = [c for c in candidates if nfd("\u0334" + c) != "\u0334" + c or nfd(c + "\u0334") != c + "\u0334"
             or nfd("\u0345" + c) != "\u0345" + c]
    classes = {c: unicodedata.combining(c) for c in moves}
    heads = {}
    for c, value in classes.items():
        heads.setdefault(value, c)
    for c, value in classes.items():
        for other, head in heads.items():
            assert (nfd(head + c) == c + head) == (value < other) or c == head, (hex(ord(c)), value, other)
    unknown = [c for c in POINTS if c not in classes and nfd(c) == c and nfd("\u0345" + c) != "\u0345" + c]
    assert not unknown, unknown
    return classes


def compositions(nfd, nfc, canonical):
    pairs = []
    for c, parts in canonical.items():
        if len(parts) < 2:
            continue
        first = nfc(parts[:-1])
        if len(first) == 1 and nfc(first + parts[-1]) == c:
            pairs.append((first, parts[-1], c))
    return sorted(pairs)


CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf",
              "Po", "Sm", "Sc", "Sk", "So", "Zs", "Cf"]


def newer():
    """Triples: characters that Debian's Oniguruma (Unicode 14, as Python 3.11) lacks and the wheel's has."""
    assert unicodedata.unidata_version == "14.0.0"
    category = {name: pre_tokenizers.Split(Regex(rf"\p{{{name}}}"), "removed").pre_tokenize_str for name in CATEGORIES}
    han = pre_tokenizers.Split(Regex(r"\p{Han}"), "removed").pre_tokenize_str
    older = {}
    for c in POINTS:
        older.setdefault((unicodedata.category(c), len(c.encode()), not han(c)), c)
    found = []
    for c in POINTS:
        if unicodedata.category(c) != "Cn":
            continue
        for name, test in category.items():
            if not test(c):
                like = ord(older.get((name, len(c.encode()), not han(c))) or older[name, len(c.encode()), False])
                if found and found[-1][1] + 1 == ord(c) and found[-1][2] == like:
                    found[-1][1] = ord(c)
                else:
                    found.append([ord(c), ord(c), like])
    return [n for triple in found for n in triple]


def mapping(function):
    found = {}
    for c in POINTS:
        if ord(c) not in HANGUL:
            changed = function(c)
            if changed != c:
                found[c] = changed
    return found


def rows(numbers, per_line):
    text = [f"0x{n:X}" for n in numbers]
    return "\n".join("    " + ", ".join(text[i:i + per_line]) + "," for i in range(0, len(text), per_line))


def flat(table):
    """Each entry: source with the number of targets in the top byte, then the targets."""
    numbers = []
    for source, targets in sorted(table.items()):
        numbers += [ord(source) | len(targets) << 24, *map(ord, targets)]
    return numbers


def write(path, arrays, per_line):
    """Arrays of (name, numbers); of equal ones the numbers are written once."""
    head = (f"// Generated by tests/tokenizer/make_unicode_tables.py from the behaviour of tokenizers "
            f"{tokenizers.__version__}. Do not edit.\n"
            '#include "tokenizer/UnicodeTables.hpp"\n\n// clang-format off\n'
            "namespace stereosweep::tokenizer::tables {\n")
    body, written = "", {}
    for name, numbers in arrays:
        owner = written.setdefault(tuple(numbers), name)
        if owner == name:
            body += f"\nconstexpr char32_t {name}_numbers[] = {{\n{rows(numbers, per_line)}\n}};\n"
        body += f"{'' if owner == name else chr(10)}const std::span<const char32_t> {name}({owner}_numbers);\n"
    Path(path).write_text(head + body + "\n}  // namespace stereosweep::tokenizer::tables\n")
    lines = Path(path).read_text().count("\n")
    print(path, lines, "lines")
    assert lines <= 500


def main(folder):
    write(f"{folder}/UnicodeNewer.cpp", [("newer", newer())], 12)
    nfd, nfc = normalizers.NFD().normalize_str, normalizers.NFC().normalize_str
    nfkd, nfkc = normalizers.NFKD().normalize_str, normalizers.NFKC().normalize_str
    write(f"{folder}/UnicodeClasses.cpp",
          [(name, [n for r in ranges(test) for n in r]) for name, test in class_tests()], 14)
    canonical = mapping(nfd)
    compatible = {c: t for c, t in mapping(nfkd).items() if canonical.get(c) != t}
    classes = combining_classes(nfd)
    pairs = compositions(nfd, nfc, canonical)
    for c in POINTS:  # the composed forms must follow from the tables
        assert nfkc(c) == nfc(nfkd(c))
    by_class = {}
    for c, value in classes.items():
        by_class.setdefault(value, []).append(ord(c))
    spans = []
    for value, points in sorted(by_class.items()):
        for point in points:
            if spans and spans[-1][2] == value and spans[-1][1] + 1 == point:
                spans[-1][1] = point
            else:
                spans.append([point, point, value])
    write(f"{folder}/UnicodeLowercase.cpp", [
        ("lowercase", flat(mapping(normalizers.Lowercase().normalize_str))),
        ("combining_classes", [n for s in spans for n in s])], 14)
    write(f"{folder}/UnicodeCanonical.cpp", [("canonical", flat(canonical))], 12)
    write(f"{folder}/UnicodeComposition.cpp", [("composition", [ord(c) for p in pairs for c in p])], 15)
    entries = sorted(compatible.items())
    half = next(i for i in range(len(entries)) if entries[i][0] > "\uf000")
    write(f"{folder}/UnicodeCompatible1.cpp", [("compatible_low", flat(dict(entries[:half])))], 12)
    write(f"{folder}/UnicodeCompatible2.cpp", [("compatible_high", flat(dict(entries[half:])))], 12)


if __name__ == "__main__":
    main(sys.argv[1])
