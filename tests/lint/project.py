"""What the lint tests share: the tracked files, and the table of rooms in src/README.md."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = {".hpp", ".cpp", ".cu"}


def tracked(*patterns):
    """Files that git tracks or would track, as paths relative to the root."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted({pathlib.Path(name) for name in names if name and (ROOT / name).is_file()})


def cpp_files(folder):
    return [path for path in tracked(folder) if path.suffix in CPP]


def rooms():
    """{room: (level, allowed third-party libraries)} from the table in src/README.md."""
    table = {}
    for line in (ROOT / "src" / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"\d+", cells[1]):
            allowed = set() if cells[3].startswith("none") else {name.strip() for name in re.sub(r"\(.*\)", "", cells[3]).split(",")}
            table[cells[0]] = (int(cells[1]), allowed)
    assert len(table) >= 16, f"the table in src/README.md has only {len(table)} rooms"
    return table


def includes(path):
    """(line number, "file" or <file>, name) of every include."""
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[1], match[2]
