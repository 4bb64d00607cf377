#!/usr/bin/env python3
"""What keeps a run whole, taken away one by one: a test must fail each time. The sources stay as they are: the batch that
holds a file is compiled with a changed copy of it, and linked before the rooms. First the tests must pass as it is.

mutate_recovery.py [--only TEXT] [--build build/release]    a line per change, and how many were noticed
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTEGRATION = ROOT / "tests/integration"
JOURNAL, SEAL = "results/Journal.cpp", "results/Seal.cpp"
PENDING, LEASE, STAGES = "base/files/PendingFile.cpp", "run/directory/Lease.cpp", "run/JobStages.cpp"
POWER = "test_storage_crashes.py::test_crash_at_a_call_of_a_run[power]"
POWER_NAMES = "test_storage_crashes.py::test_crash_at_a_call_of_a_run[power-names]"
OUTLAST = "test_storage_crashes.py::test_journals_outlast_the_end"


@dataclasses.dataclass
class Change:
    what: str  # is taken away
    source: str  # below src
    edits: list[tuple[str, str]]
    test: str  # a node of pytest, or PROGRAM:FILTER


CHANGES = [
    Change("fsync of the journal", JOURNAL, [("|| ::fdatasync(file_) != 0", "")], POWER_NAMES),
    Change("fsync of the journal's folder", JOURNAL, [("  base::sync_directory(path_.parent_path());\n", "")], POWER),
    Change("fsync of the folder above the journal's", JOURNAL,
           [("  base::sync_directory(path_.parent_path().parent_path());\n", "")], OUTLAST),
    Change("fsync of a file before its rename", PENDING, [("  sync_content();\n  show();\n", "  show();\n")], POWER_NAMES),
    Change("fsync of the folder after a rename", PENDING,
           [("  show();\n  sync_directory(parent_of(target_));\n", "  show();\n")],
           "test_storage_crashes.py::test_an_exported_result_outlasts_the_end"),
    Change("rename: a file is written under its own name", PENDING,
           [("        return;\n", "        std::rename(path_.c_str(), target_.c_str());\n        path_ = target_;\n        return;\n"),
            ("  ::unlink(path_.c_str());  // nothing", "  // nothing")], "test_base:PendingFile*"),
    Change("lock of a run", LEASE, [("  if (!take_lock(*lock_, run_directory)) {", "  if (false) {")],
           "test_run_faults.py::test_second_start_is_refused_while_the_first_goes_on"),
    Change("lock of a result", LEASE, [("while (::flock(*lock, LOCK_EX) != 0 && errno == EINTR)", "while (false)")],
           "test_run_ranks.py::test_results_take_their_names_one_after_another"),
    Change("epoch: that the next is taken at a start", LEASE, [("highest_epoch(directory_) + 1;", "1;")],
           "test_run:DirectoryTest*"),
    Change("epoch, whenever it is asked for", LEASE, [("fail_if(!is_there(path(epoch_)) || is_there(path(epoch_ + 1)),",
                                                      "fail_if(false,")], "test_run:DirectoryTest*"),
    Change("epoch before blocks are written", "run/ranks/Coordinator.cpp", [("    parts_.lease.check();\n", "")],
           "test_run_faults.py::test_attempt_that_was_overtaken_stops"),
    Change("epoch before a result takes its name", "run/directory/ExportDirectory.cpp", [("    lease->check();\n", "")],
           "test_run_ranks.py::test_overtaken_attempt_replaces_no_result"),
    Change("epoch before the last status", "run/OneJob.cpp", [(" || (lease && lease->is_overtaken())", "")],
           "test_run_ranks.py::test_overtaken_attempt_replaces_no_result"),
    Change("epoch before vectors are written", STAGES, [("[&job] { job.lease->check(); }", "[] {}")],
           "test_contexts.py::test_an_overtaken_attempt_writes_no_vectors"),
    Change("checksum of a journal's header", JOURNAL,
           [("const auto covered = before_checksum(bytes);",
             "const auto covered = std::optional(std::span<const std::byte>(bytes).first(bytes.size() - crc_size));")],
           "test_results:Journal*"),
    Change("checksum of a record's head", JOURNAL, [("if (record.seed != crc_of(covered)) {", "if (false) {")],
           "test_results:Journal*"),
    Change("checksum of a payload when it is read through", JOURNAL,
           [("checksum_at(file, record.offset + record.size) != file.crc(record.offset, record.size, record.seed)", "false")],
           "test_results:Journal*"),
    Change("that what was checked ahead ends at damage", JOURNAL,
           [("found.resize(std::min<std::size_t>(bad - found.begin() + 1, found.size()));", "static_cast<void>(bad);")],
           "test_results:Journal*"),
    Change("checksum of a payload when it is used", JOURNAL,
           [("checksum_at(file, record.offset + record.size) != crc_of(payload, record.seed)", "false")],
           "test_results:Journal*"),
    Change("checksum of an index", JOURNAL,
           [("before_checksum(bytes).value_or(std::span<const std::byte>())",
             "std::span<const std::byte>(bytes).first(bytes.size() - std::min(bytes.size(), crc_size))")],
           "test_results:Journal*"),
    Change("index: checksum of the header that it is of", JOURNAL,
           [("index->header_checksum != start.checksum || ", "")], "test_results:Journal*"),
    Change("index: checksum of the last record that it covers", JOURNAL,
           [("checksum_at(file, index->covered - crc_size) == index->last_record_checksum", "true")], "test_results:Journal*"),
    Change("that a deleted journal is an error", JOURNAL, [("::fstat(file_, &info) == 0 && info.st_nlink == 0", "false")],
           "test_results:Journal*"),
    Change("that a failed journal takes nothing more", JOURNAL, [("  broken_ = true;", "  ")], "test_results:Journal*"),
    Change("that two attempts agree on a block", JOURNAL, [(" || read(first) != read(second)", "")], "test_results:Journal*"),
    Change("that a damaged block is scored again", STAGES, [("      results::remove_indexes(", "      static_cast<void>(")],
           "test_run_faults.py::test_a_block_that_is_found_damaged_is_scored_again"),
    Change("checksum of a result", SEAL,
           [("base::refuse_if(seal_of(file, size) != found,", "base::refuse_if(false,")], "test_results:Seal*"),
]


def compiled(build, change, folder):
    """The batch of a source, compiled with the changed copy."""
    copy = folder / change.source
    copy.parent.mkdir(parents=True, exist_ok=True)
    content = (ROOT / "src" / change.source).read_text()
    for text, instead in change.edits:
        assert content.count(text) == 1, f"{change.source} does not hold this once: {text}"
        content = content.replace(text, instead)
    copy.write_text(content)
    include = f'#include "{change.source}"\n'
    (entry,) = [entry for entry in json.loads((build / "compile_commands.json").read_text())
                if "/batches/" in entry["file"] and include in pathlib.Path(entry["file"]).read_text()]
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = str(folder / "changed.o")
    first = next(at for at, word in enumerate(words) if word.startswith("-I"))
    words[first:first] = [f"-I{folder}"]
    words.append("-Wno-error")  # what is left may be unused
    subprocess.run([word for word in words if not word.endswith("ccache")], check=True, cwd=build, stderr=subprocess.DEVNULL)
    return folder / "changed.o"


def linked(build, target, changed, made):
    """A program with one more object, which comes before the rooms."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True, capture_output=True, text=True)
    (link,) = [part for part in listed.stdout.splitlines()[-1].split(" && ") if " -o " in part]
    words = shlex.split(link)
    words[words.index("-o") + 1] = str(made)
    words.insert(words.index("-o"), str(changed))
    subprocess.run(words, check=True, cwd=build)
    return made


def program_of(test):
    return "stereosweep" if "::" in test else test.split(":")[0]


def fails(build, test, program):
    command = [program, f"--gtest_filter={test.split(':')[-1]}"]
    if "::" in test:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", INTEGRATION / test]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={
        **os.environ, "STEREOSWEEP_PROGRAM": str(program),
        "STEREOSWEEP_STORAGE_CRASH": str(build / "tests/libstorage_crash.so")})
    said = done.stdout + done.stderr
    assert done.returncode in (0, 1) and "no tests ran" not in said and "0 tests ran" not in said, said
    return done.returncode == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    chosen = [change for change in CHANGES if options.only in change.what]
    for test in sorted({change.test for change in chosen}):
        target = program_of(test)
        assert not fails(build, test, build / ("bin" if target == "stereosweep" else "tests") / target), f"{test} fails as it is"
    noticed = 0
    for change in chosen:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            changed = compiled(build, change, folder)
            found = fails(build, change.test, linked(build, program_of(change.test), changed, folder / "program"))
        noticed += found
        print(f"{'noticed' if found else 'NOT NOTICED'}: without {change.what} ({change.test})", flush=True)
    print(f"noticed {noticed} of {len(chosen)}")
    return 0 if noticed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
