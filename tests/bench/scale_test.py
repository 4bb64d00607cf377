#!/usr/bin/env python3
"""Load of rank zero: many cells from the fake engine on oversubscribed ranks, and the start-up of a tiny job.

scale_test.py [--cells 1e8] [--ranks 8]     prints cells/s, rank zero's peak memory, and start-up seconds
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import runs  # noqa: E402

WORDS = 1000
TEXTS = 100  # templates x rephrasings


def write_job(folder, cells):
    """Groups x 10 templates x 10 rephrasings x 1,000 words of one token each; the priors are groups too."""
    model = folder / "model"
    model.mkdir()
    source = runs.ROOT / "tests/models/letters"
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    words = [f"word{number}" for number in range(WORDS)]
    for word in words:
        vocabulary[word] = len(vocabulary)
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    (model / "tokenizer_config.json").write_text((source / "tokenizer_config.json").read_text())
    (model / "config.json").write_text((source / "config.json").read_text())
    groups = max(1, round(cells / WORDS / TEXTS) - 1)
    job = {
        "schema": "stereosweep/1",
        "name": "scale",
        "model": {"path": str(model)},
        "probe": "association",
        "axes": {
            "groups": [{"singular": f"g{i} person", "plural": f"g{i} people", "domain": "d"} for i in range(groups)],
            "traits": [
                {
                    "dimension": "d",
                    "left": {"name": "low", "words": words[: WORDS // 2]},
                    "right": {"name": "high", "words": words[WORDS // 2 :]},
                }
            ],
            "templates": [{"label": f"t{i}", "text": f"{{group}} are {{trait}} {i}."} for i in range(10)],
            "rephrasings": [{"label": f"r{i}", "wrapper": f"{i} {{prompt}}"} for i in range(10)],
        },
        "priors": {"mask": False},
        "measures": ["ilps"],
        "execution": {"engine": "fake"},
    }
    path = folder / "scale.yaml"
    path.write_text(json.dumps(job))
    return path


def peak_memory(process_id):
    """Largest resident size so far, in MB; 0 if the process is gone."""
    try:
        for line in pathlib.Path(f"/proc/{process_id}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1000
    except OSError:
        pass
    return 0.0


class MemoryWatch(threading.Thread):
    """Follows rank zero: its current size over time, and its peak."""

    def __init__(self, process, output):
        super().__init__(daemon=True)
        self.process, self.output = process, output
        self.peak, self.peak_scoring, self.scored_at = 0.0, 0.0, None

    def run(self):
        while self.process.poll() is None:
            state = runs.status(self.output)
            peak = peak_memory(state.get("pid", 0))
            self.peak = max(self.peak, peak)
            if state["state"] == "running":
                self.peak_scoring = max(self.peak_scoring, peak)
            elif state["state"] == "exporting" and self.scored_at is None:
                self.scored_at = time.monotonic()
            time.sleep(0.2)


def start_up(folder):
    seconds = []
    for number in range(5):
        begin = time.monotonic()
        assert runs.run(runs.SMOKE, folder / f"tiny{number}")[0] == 0
        seconds.append(time.monotonic() - begin)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=float, default=1e8)
    parser.add_argument("--ranks", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"start-up of a tiny job, one rank: {start_up(folder):.2f} s (median of 5)", flush=True)
        job = write_job(folder, options.cells)
        begin = time.monotonic()
        process = runs.start(job, folder / "run", ranks=options.ranks)
        watch = MemoryWatch(process, folder / "run")
        watch.start()
        code, out, err = runs.finish(process, 7200)
        seconds = time.monotonic() - begin
        watch.join()
        assert code == 0, err
        state = runs.status(folder / "run")
        scoring = (watch.scored_at or time.monotonic()) - begin
        cells = state["cells"]["done"]
        print(f"{cells:.4g} cells on {options.ranks} ranks: {cells / scoring:,.0f} cells/s, scored in {scoring:.0f} s, "
              f"exported after {seconds:.0f} s")
        print(f"rank zero's peak memory: {watch.peak_scoring:.0f} MB while scoring, {watch.peak:.0f} MB with the export")
        print(f"journal {runs.journal_bytes(folder / 'run') / 1e9:.2f} GB; {out.strip()}")


if __name__ == "__main__":
    main()
