"""What `run`, `export`, `show` and `stats` leave, read by those who will read it: xarray (both engines), h5py, ncdump.

The engine is the fake one, so that no model is needed.
"""

import hashlib
import os
import random
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy
import pytest
import xarray

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("STEREOSWEEP_BUILD", ROOT / "build" / "release")) / "bin" / "stereosweep"
JOB = ROOT / "jobs" / "00_smoke.yaml"
ENGINES = ["netcdf4", "h5netcdf"]


def stereosweep(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run with its statistics; a label and the rephrasings are not ASCII."""
    directory = tmp_path_factory.mktemp("results") / "größe"
    rephrasings = '[{label: keine, wrapper: "{prompt}"}, {label: größer, wrapper: "„Ja“, {prompt}"}]'
    stereosweep("run", JOB, f"axes.rephrasings={rephrasings}", "--output", directory)
    stereosweep("stats", directory)
    return directory


@pytest.fixture(params=["association.h5", "association.stats.h5"])
def file(run, request):
    return run / request.param


@pytest.mark.parametrize("engine", ENGINES)
def test_every_variable_opens_with_all_its_coordinates(file, engine):
    with h5py.File(file) as raw:
        arrays = {name for name, item in raw.items() if isinstance(item, h5py.Dataset)}
        cubes = {name for name in arrays if "coordinates" in raw[name].attrs}
    with xarray.open_dataset(file, engine=engine) as dataset:
        dataset.load()
        assert set(dataset.variables) == arrays
        assert set(dataset.data_vars) >= cubes and cubes
        for name in cubes:
            assert all(axis in dataset.coords for axis in dataset[name].dims)
            for coordinate in dataset.coords:
                if set(dataset[coordinate].dims) <= set(dataset[name].dims):
                    assert coordinate in dataset[name].coords
        for name in dataset.coords:
            assert dataset[name].dtype.kind in "UOT", name
            assert all(isinstance(label, str) for label in dataset[name].values.tolist())
        assert "größer" in dataset["rephrasing"].values
        subject = "subject" if file.name.endswith(".stats.h5") else "group"
        assert {f"{subject}_kind", f"{subject}_domain", "template_kind"} <= set(dataset.coords)


def test_engines_agree_with_h5py(file):
    with h5py.File(file) as raw:
        opened = [xarray.open_dataset(file, engine=engine, mask_and_scale=False) for engine in ENGINES]
        for name, item in raw.items():
            if not isinstance(item, h5py.Dataset):
                continue
            expected = item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]
            for dataset in opened:
                numpy.testing.assert_array_equal(dataset[name].values, expected, err_msg=name)
                axes = [name] if item.is_scale else [axis[0].name.lstrip("/") for axis in item.dims]
                assert list(dataset[name].dims) == axes


def test_only_allowed_types_and_plain_storage(file):
    def check(name, item):
        if not isinstance(item, h5py.Dataset):
            return
        string = h5py.check_string_dtype(item.dtype)
        if string is not None:
            assert string.encoding == "utf-8" and string.length is None, name
        else:
            assert item.dtype in (numpy.float64, numpy.int32, numpy.uint8), name
        assert not item.is_virtual and item.external is None, name
        if item.ndim > 1 and string is None:
            assert item.shuffle and item.compression == "gzip", name
        for axis in item.dims:
            assert len(axis) == 1 or item.is_scale, name

    with h5py.File(file) as raw:
        raw.visititems(check)
        for name, item in raw.items():
            assert isinstance(raw.get(name, getlink=True), h5py.HardLink)
        assert list(raw.keys()) != sorted(raw.keys())  # order of creation is kept


def test_numbers_carry_their_meaning(run):
    with xarray.open_dataset(run / "association.h5", engine="netcdf4") as dataset:
        for name in dataset.data_vars:
            attributes = dataset[name].attrs
            assert attributes["long_name"]
            if dataset[name].dtype.kind == "f":
                assert attributes["units"] in ("nat", "1"), name
        status = dataset["status"]
        meanings = status.attrs["flag_meanings"].split()
        assert list(status.attrs["flag_values"]) == list(range(len(meanings)))
        assert meanings[0] == "ok" and meanings[-1] == "not_scored"
        assert (status == 0).any()
        assert dataset["logprob"].attrs["units"] == "nat"
        assert set(dataset["prior_logprob"].dims) == {"prior", "template", "rephrasing", "word", "subword"}
        assert list(dataset["prior_kind"].values) == ["prior_word", "prior_mask"]
        assert "„Ja“" in str(dataset["prompt"].sel(rephrasing="größer").values.flat[0])


def test_provenance_is_complete(run):
    wanted = (
        "schema schema_version title created software software_version build hdf5_version dependencies machine hosts "
        "num_ranks slurm_job_id seed dtype job_sha256 model model_sha256 tokenizer_sha256 numerical_contract complete"
    ).split()
    with h5py.File(run / "association.h5") as raw:
        assert [name for name in wanted if name not in raw.attrs] == []
        assert list(raw.attrs)[-1] == "complete" and raw.attrs["complete"] == 1
        assert raw["provenance/job_yaml"][()].decode() == JOB.read_text()
        assert raw["provenance/job_resolved"][()].decode() == (run / "job.resolved.yaml").read_text()


def test_ncdump_reads_on_its_own(file):
    text = subprocess.run(["ncdump", "-h", file], capture_output=True, text=True, check=True).stdout
    assert "template = " in text and "phony" not in text.lower()
    assert ":complete = 1LL" in text


def test_digest_is_one_line_and_export_repeats_itself(run, tmp_path):
    digest = stereosweep("show", run, "--digest")
    assert len(digest) == 65 and int(digest, 16)
    assert stereosweep("show", run / "association.h5", "--digest") == digest
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "association.h5").unlink()
    assert digest in stereosweep("export", copy)
    assert (copy / "association.h5").read_bytes() == (run / "association.h5").read_bytes()


def test_an_unfinished_run_exports_what_there_is(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "association.h5").unlink()
    assert "export" in stereosweep("show", copy, code=2)
    (journal,) = (copy / "journal").glob("*.log")
    os.truncate(journal, journal.stat().st_size * 2 // 3)
    assert "NOT complete" in stereosweep("export", copy)
    with xarray.open_dataset(copy / "association.h5") as dataset, xarray.open_dataset(run / "association.h5") as whole:
        missing = dataset["status"] == dataset["status"].attrs["flag_meanings"].split().index("not_scored")
        assert 0 < int(missing.sum()) < missing.size
        assert dataset.attrs["complete"] == 0
        assert 0 < dataset.attrs["num_blocks_scored"] < dataset.attrs["num_blocks"]
        assert bool(numpy.isnan(dataset["logprob"].where(missing)).all())
        scored = dataset["logprob"].where(~missing)
        xarray.testing.assert_identical(scored.drop_attrs(), whole["logprob"].where(~missing).drop_attrs())
    assert "NOT complete" in stereosweep("show", copy)


def test_statistics_say_what_they_are_of(run):
    with xarray.open_dataset(run / "association.stats.h5") as dataset:
        assert dataset.attrs["source_digest"] == stereosweep("show", run, "--digest").strip()
        names = [label.split()[0] for label in dataset["measure"].values]
        assert list(dict.fromkeys(names))[:4] == ["ilps_first", "ilps_last", "ilps_chain", "ilps_star"]


def test_the_table_of_scores_holds_differences_of_poles(run):
    with xarray.open_dataset(run / "association.stats.h5") as dataset, xarray.open_dataset(run / "association.h5") as raw:
        table = dataset["score"]
        assert table.dims == ("measure", "subject", "template", "rephrasing", "replicate", "item")
        assert list(table["replicate"].values) == ["none"]
        meanings = dataset["score_status"].attrs["flag_meanings"].split()
        statuses = numpy.array(meanings)[dataset["score_status"].values]
        assert (numpy.isnan(table.values) == ~numpy.isin(statuses, ["ok", "partial"])).all()
        poles = dataset["pole_score"].transpose("pole", "measure", "subject", "template", "rephrasing", "replicate").values
        sides = list(zip(dataset["pole_pair"].values, dataset["pole_side"].values, strict=True))
        for place, pair in enumerate(table["item"].values):
            left, right = (poles[sides.index((pair, side))] for side in ("left", "right"))
            numpy.testing.assert_array_equal(table.values[..., place], right - left)
        assert list(table["subject"].values) == list(raw["group"].values)
        for first, second, components in zip(table["subject_first"].values, table["subject_second"].values,
                                             raw["group_components"].values, strict=True):  # fmt: skip
            assert "+".join(filter(None, [str(first), str(second)])) == components
        assert [f"{left} - {right}" for left, right in zip(table["item_left"].values, table["item_right"].values,
                                                           strict=True)] == list(table["item"].values)  # fmt: skip


def test_statistics_of_a_result_in_a_foreign_directory(run, tmp_path):
    assert str(tmp_path / "mine.h5") in stereosweep("stats", run, "--output", tmp_path / "mine.h5")
    assert (tmp_path / "mine.h5").read_bytes() == (run / "association.stats.h5").read_bytes()
    assert "is the result that is read" in stereosweep("stats", run, "--output", run / "association.h5", code=2)


def test_stats_refuses_what_would_change_the_run(run):
    message = stereosweep("stats", run, "seed=3", code=2)
    assert "statistics." in message
    assert "Did you mean" in stereosweep("stats", run, "statistics.word_agregate=mean", code=2)


def damaged(content, kind, seed):
    """64 bytes zeroed, a tail cut off, or one bit turned over, at a random place."""
    chosen = random.Random(seed)
    at = chosen.randrange(len(content))
    if kind == "cut":
        return content[:at]
    changed = bytearray(content)
    changed[at : at + 64] = bytes(min(64, len(content) - at)) if kind == "zeroed" else changed[at : at + 64]
    changed[at] ^= 1 << chosen.randrange(8) if kind == "flipped" else 0
    return bytes(changed)


@pytest.mark.parametrize("kind", ["zeroed", "cut", "flipped"])
def test_no_damage_hangs_or_passes_for_numbers(run, tmp_path, kind):
    content = (run / "association.h5").read_bytes()
    path = tmp_path / "association.h5"
    for seed in range(8):
        path.write_bytes(damaged(content, kind, seed))
        if path.read_bytes() == content:
            continue
        for command in (["show", path, "--digest"], ["stats", path]):
            done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, timeout=300)
            assert (done.returncode, done.stdout) == (2, ""), seed
            assert str(path) in done.stderr, seed


def test_damage_without_a_seal_is_read_by_a_child_first(run, tmp_path):
    content = (run / "association.h5").read_bytes()[:-128]
    path = tmp_path / "association.h5"
    for seed in range(8):
        path.write_bytes(damaged(content, "zeroed", seed))
        done = subprocess.run([PROGRAM, "show", path, "--digest"], capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 2) and str(path) in done.stderr, seed
        assert done.returncode == 2 or "has no seal" in done.stderr


def sealed(content):
    """As `results/Seal` does: what was damaged before the seal was set."""
    return content + b"stereosweep-seal/1 sha256=%s bytes=%016d end-of-result\n" % (
        hashlib.sha256(content).hexdigest().encode(),
        len(content),
    )


@pytest.mark.parametrize("fault", ["hangs", "crashes"])
def test_damage_under_a_right_seal_ends_with_the_files_name(run, tmp_path, fault):
    content = bytearray((run / "association.h5").read_bytes()[:-128])
    text = content.rindex(b"\0", 0, content.index(b"the word for Black women.")) + 1
    # in front of a text in HDF5's heap: its number, and its size in 8 bytes
    if fault == "hangs":
        content[text - 16 : text] = bytes(16)
    else:
        content[text - 8 : text] = (1 << 40).to_bytes(8, "little")
    path = tmp_path / "association.h5"
    path.write_bytes(sealed(bytes(content)))
    done = subprocess.run([PROGRAM, "show", path, "--digest"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"stereosweep: cannot read '{path}' (it {fault}")


def test_a_shape_that_no_file_could_fill_is_refused(tmp_path):
    path = tmp_path / "association.h5"
    with h5py.File(path, "w") as raw:
        raw.attrs.update(schema="stereosweep/association", schema_version="1.0", raw_cubes="logprob", outer_axes="group")
        raw.create_dataset("group", (1 << 36,), h5py.string_dtype(), chunks=(1024,))
    path.write_bytes(sealed(path.read_bytes()))
    assert "'group' is said to hold more than" in stereosweep("show", path, code=2)


def test_a_file_that_others_changed_opens_with_a_warning(run, tmp_path):
    path = tmp_path / "association.h5"
    shutil.copy(run / "association.h5", path)
    with h5py.File(path, "r+") as raw:
        raw.attrs["note"] = "mine"
    done = subprocess.run([PROGRAM, "show", path, "--digest"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, stereosweep("show", run, "--digest"))
    assert "has no seal" in done.stderr


def test_a_run_writes_its_damaged_file_anew(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    good = (copy / "association.h5").read_bytes()
    (copy / "association.h5").write_bytes(damaged(good, "flipped", 1))
    assert "nothing to do" not in stereosweep("run", copy)
    assert (copy / "association.h5").read_bytes() == good


def test_a_full_disk_is_an_error_with_its_reason(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    before = (copy / "association.h5").read_bytes()
    limited = f"trap '' XFSZ; ulimit -f 60; exec '{PROGRAM}' export '{copy}'"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 1 and "File too large" in done.stderr
    assert (copy / "association.h5").read_bytes() == before
    assert list(copy.glob("*.partial*")) == []


@pytest.mark.parametrize("command", ["show", "stats", "export"])
def test_bad_paths_are_usage_errors(command, tmp_path):
    assert "absent" in stereosweep(command, tmp_path / "absent", code=2)
    stereosweep(command, code=2)
    stereosweep(command, tmp_path, "--nonsense", code=2)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5 at all")
    assert "signature" in stereosweep("show", tmp_path, code=2)
    with h5py.File(tmp_path / "text.h5", "w") as other:
        other["x"] = [1.0]
    assert "no file of raw numbers" in stereosweep("show", tmp_path, code=2)
