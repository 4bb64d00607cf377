#!/usr/bin/env python3
"""`stats` on a large association result: cells/s and the largest memory of a rank.

stats_scale.py [statistics.KEY=VALUE ...] [--cells 1e8] [--pairs 50] [--folder FOLDER] [--ranks 1 2]

The result is that of scale_test.py (groups x 10 templates x 10 rephrasings x 1,000 words, the fake engine), its words
dealt to trait pairs. A cell is one word in one sentence about one group or prior. The processes of other programs slow
the wall clock, so processor seconds of all ranks stand beside it.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import threading
import time

import scale_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import runs  # noqa: E402


class RankWatch(threading.Thread):
    """Largest resident memory and processor seconds of every process below one."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.memory, self.seconds = process, {}, {}

    def run(self):
        while self.process.poll() is None:
            for number in runs.descendants(self.process.pid):
                if runs.name_of(number) == "stereosweep":
                    self.look_at(number)
            time.sleep(0.05)

    def look_at(self, number):
        try:
            place = pathlib.Path(f"/proc/{number}")
            for line in (place / "status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    self.memory[number] = int(line.split()[1]) / 1024
            fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
            self.seconds[number] = (int(fields[11]) + int(fields[12])) / 100
        except OSError:
            pass


def make_result(folder, cells, pairs):
    job = scale_test.write_job(folder, cells, pairs)
    code, _, err = runs.finish(runs.start(job, folder / "run", ranks=2), 7200)
    assert code == 0, err


def measure(folder, settings, ranks):
    begin = time.monotonic()
    process = runs.start_program("stats", folder / "run", *settings, ranks=ranks)
    watch = RankWatch(process)
    watch.start()
    code, out, err = runs.finish(process, 7200)
    seconds = time.monotonic() - begin
    watch.join()
    assert code == 0, err
    return seconds, watch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=float, default=1e8)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--folder", type=pathlib.Path, help="where the result stays; made where it has none")
    options, settings = parser.parse_known_args()
    folder = options.folder or pathlib.Path(tempfile.mkdtemp())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "run/association.h5").exists():
            make_result(folder, options.cells, options.pairs)
        cells = runs.status(folder / "run")["cells"]["done"]
        for ranks in options.ranks:
            seconds, watch = measure(folder, settings, ranks)
            used = " + ".join(f"{used:.1f}" for _, used in sorted(watch.seconds.items()))
            print(f"{cells:.4g} cells, {ranks} ranks: {seconds:.1f} s, {cells / seconds:,.0f} cells/s; processor seconds {used}; "
                  f"at most {max(watch.memory.values()):.0f} MiB a rank", flush=True)
    finally:
        if options.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
