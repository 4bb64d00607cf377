"""Lengths, formats and words: what a reviewer would otherwise have to say by hand."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from project import ROOT, cpp_files, tracked

MAX_LINES = 800
MAX_FUNCTION_LINES = 80
ALLOWED_TOP = {"CMakeLists.txt", "src", "configs", "jobs", "slurm", "analysis", "tests", "env", "README.md", "LICENSE"}


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def needs(tool):
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed (env/setup.sh cuda tests)")


def test_top_level_is_the_customers():
    top = {path.parts[0] for path in tracked() if not path.parts[0].startswith(".")}
    assert top <= ALLOWED_TOP, f"not allowed at the top: {sorted(top - ALLOWED_TOP)}"


def test_files_are_short():
    wrong = []
    for path in tracked():
        if path.suffix in {".hpp", ".cpp", ".cu", ".py", ".sh", ".cmake"}:
            lines = len((ROOT / path).read_text(encoding="utf-8").splitlines())
            if lines > MAX_LINES:
                wrong.append(f"{path}: {lines} lines")
    assert not wrong, "\n".join(wrong)


def function_lengths(path):
    """(line, length) of blocks that open at column 0 or, inside a class, two columns in, with a parameter list."""
    start = None
    indent = ""
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        opens = re.match(r"( {0,2})[A-Za-z~].*\)[^;]*\{$", line) or re.match(r"( {0,2}) {4,}.*\)[^;]*\{$", line)
        if start is None and opens and not re.match(r" *(if|for|while|switch|namespace|struct|class|else)\b", line):
            start, indent = number, opens[1]
        elif start is not None and line == f"{indent}}}":
            yield start, number - start - 1
            start = None


def test_functions_are_short():
    wrong = [f"{path}:{line}: {length} lines" for path in cpp_files("src") for line, length in function_lengths(path)
             if length > MAX_FUNCTION_LINES]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_to_do():
    pattern = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
    wrong = [f"{path}:{number}" for path in tracked("src", "tests", "env", "analysis", "jobs", "configs", "slurm", "*.md")
             if path.suffix in {".hpp", ".cpp", ".py", ".sh", ".md", ".yaml", ".cmake", ".txt"}
             for number, line in enumerate((ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines(), 1)
             if pattern.search(line)]
    assert not wrong, "\n".join(wrong)


def test_no_path_of_one_machine():
    pattern = re.compile(r"(?<![\w.])/(work|home|Users)/\w")
    wrong = [f"{path}:{number}: {line.strip()[:100]}" for path in tracked()
             if path.suffix in {".hpp", ".cpp", ".py", ".sh", ".md", ".yaml", ".cmake", ".json", ".sbatch"}
             and (ROOT / path).stat().st_size < 400_000
             for number, line in enumerate((ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines(), 1)
             if pattern.search(line) and "lint" not in path.parts]
    assert not wrong, "\n".join(wrong)


def test_no_macro_but_ours():
    wrong = [f"{path}:{number}: {line}" for path in cpp_files("src")
             for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
             if re.match(r"\s*#\s*define\s+(?!STEREOSWEEP_|_GNU_SOURCE)", line)]
    assert not wrong, "\n".join(wrong)


def test_clang_format_is_clean():
    needs("clang-format")
    files = [str(path) for path in cpp_files("src") + cpp_files("tests")]
    done = run("clang-format", "--dry-run", "-Werror", *files)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if "error" in line)[:4000]


def test_shell_scripts_pass_shellcheck():
    needs("shellcheck")
    scripts = [str(path) for path in tracked("env", "slurm", ".ci", "tests", "analysis")
               if path.suffix in {".sh", ".sbatch"} or path == type(path)(".ci/run")]
    done = run("shellcheck", *scripts)
    assert done.returncode == 0, done.stdout


def test_python_passes_ruff():
    done = run(sys.executable, "-m", "ruff", "check", "--no-cache", "--line-length", "120",
               *(folder for folder in ("analysis", "tests") if (ROOT / folder).is_dir()))
    if "No module named" in done.stderr:
        pytest.skip("ruff is not installed in this environment")
    assert done.returncode == 0, done.stdout


def test_python_passes_mypy():
    cache = pathlib.Path(os.environ.get("STEREOSWEEP_BUILD_DIR", ROOT / "build" / "release")) / "mypy"
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(cache)], cwd=ROOT / "analysis",
                          capture_output=True, text=True)
    if "No module named" in done.stderr:
        pytest.skip("mypy is not installed in this environment")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_piece_of_configs_is_used_or_documented():
    text = "".join((ROOT / path).read_text(encoding="utf-8") for path in tracked("jobs", "README.md", "configs/README.md", "tests")
                   if path.suffix in {".yaml", ".md", ".py", ".cpp"})
    pieces = [path for path in tracked("configs") if path.suffix == ".yaml"]
    unused = [str(path) for path in pieces if path.stem not in text]
    assert not unused, f"nothing uses {unused}"


def test_quickstart_names_one_job_each():
    script = (ROOT / "env/quickstart.sh").read_text()
    pattern = re.search(r"job=\$\(echo (jobs/\S+)\)", script)[1]
    names = re.findall(r"^ *sweep (\w+)", script, re.MULTILINE)
    jobs = {name: [job.name for job in ROOT.glob(pattern.replace('"$name"', name))] for name in names}
    assert names and not {name: found for name, found in jobs.items() if len(found) != 1}
