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


def write_job(folder, cells, pairs=1):
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
    poles = [words[pole * WORDS // pairs // 2 : (pole + 1) * WORDS // pairs // 2] for pole in range(2 * pairs)]
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
                    "left": {"name": f"low {pair}", "words": poles[2 * pair]},
                    "right": {"name": f"high {pair}", "words": poles[2 * pair + 1]},
                }
                for pair in range(pairs)
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


def memory(process_id):
    """(resident, of which private to the process) in MB; zeros if the process is gone."""
    sizes = {}
    try:
        for line in pathlib.Path(f"/proc/{process_id}/status").read_text().splitlines():
            key, _, value = line.partition(":")
            if key in ("VmRSS", "RssAnon"):
                sizes[key] = int(value.split()[0]) / 1000
    except OSError:
        pass
    return sizes.get("VmRSS", 0.0), sizes.get("RssAnon", 0.0)


class MemoryWatch(threading.Thread):
    """Follows rank zero: largest (resident, private) of each state, and when scoring was over."""

    def __init__(self, process, output):
        super().__init__(daemon=True)
        self.process, self.output = process, output
        self.first, self.peaks, self.scored_at = None, {}, None

    def run(self):
        while self.process.poll() is None:
            state = runs.status(self.output)
            sizes = memory(state.get("pid", 0))
            if sizes[0] > 0:
                self.first = self.first or sizes
                self.peaks[state["state"]] = tuple(map(max, sizes, self.peaks.get(state["state"], sizes)))
            if state["state"] == "exporting" and self.scored_at is None:
                self.scored_at = time.monotonic()
            time.sleep(0.05)


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
              f"exported after {seconds:.0f} s: {cells / (seconds - scoring):,.0f} cells/s")
        for moment, sizes in (("at the start (libraries)", watch.first), *watch.peaks.items()):
            print(f"rank zero {moment}: {sizes[0]:.0f} MB resident, {sizes[1]:.0f} MB of it private")
        print(f"journal {runs.journal_bytes(folder / 'run') / 1e9:.2f} GB; {out.strip()}")


if __name__ == "__main__":
    main()
