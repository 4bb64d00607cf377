"""What a run says of a GPU that is not there, cannot be used, is too old or too full. CUDA's runtime is made up
(tests/support/FakeCuda.cpp), so that no GPU is needed: nothing here computes on one."""

import os
import pathlib

import context_jobs
import elmo_models
import pytest
import runs

FAKE = pathlib.Path(os.environ.get("STEREOSWEEP_PROGRAM", runs.PROGRAM)).parents[1] / "tests/fake/libfake_cuda.so"
MASKED = ["model.path=tests/models/planted", "execution.engine=torch"]
CAUSAL = ["axes.augmentations=[baseline]"]
CAUSAL_JOB = runs.ROOT / "jobs/40_winoidentity.yaml"
GIB = 2**30

pytestmark = pytest.mark.skipif(not FAKE.exists(), reason=f"{FAKE} is not built: a build without CUDA, or without tests")


def run_on(machine, output, job=runs.SMOKE, settings=MASKED, ranks=1, **environment):
    """`machine` as STEREOSWEEP_FAKE_CUDA takes it."""
    settings_of_machine = {"LD_PRELOAD": str(FAKE), "STEREOSWEEP_FAKE_CUDA": machine, **environment}
    return runs.run(job, output, *settings, ranks=ranks, environment=settings_of_machine)


@pytest.mark.parametrize("machine", [
    "status=100 devices=0",  # no GPU: cudaErrorNoDevice
    "status=100 devices=0 node=1",  # a driver, and no GPU that this job may use
    "status=35 devices=0 driver=0",  # no driver
])
def test_without_a_gpu_the_processor_computes(machine, tmp_path):
    code, _, err = run_on(machine, tmp_path / "run")
    assert code == 0, err


@pytest.mark.parametrize("machine, words", [
    ("status=35 devices=0 driver=11040 node=1", ["CUDA of the driver: 11.4, of this program: 1", "or newer", "cuda-compat-1"]),
    ("status=999 devices=0 driver=13000 node=1", ["nvidia-smi"]),
    ("status=3 devices=0 driver=13000 node=1", ["nvidia-smi"]),
])
def test_a_gpu_that_cannot_be_used_is_an_error_that_says_what_to_do(machine, words, tmp_path):
    code, _, err = run_on(machine, tmp_path / "run")
    assert code == 1 and "CUDA cannot use this machine's GPU" in err and "execution.device: cpu" in err, err
    assert all(word in err for word in words), err
    code, _, err = run_on(machine, tmp_path / "cpu", settings=[*MASKED, "execution.device=cpu"])
    assert code == 0, err


@pytest.mark.parametrize("machine, dtype, problem", [
    ("capability=70", "float32", "the GPU Made-up Card 0 is too old for this program (its compute capability is 7.0, 7.5 is needed)"),
    ("capability=75", "bfloat16", "the GPU Made-up Card 0 is too old for bfloat16 (its compute capability is 7.5, 8.0 is needed)"),
])
def test_old_cards_are_refused_by_name(machine, dtype, problem, tmp_path):
    code, _, err = run_on(machine, tmp_path / "run", settings=[*MASKED, f"model.dtype={dtype}"])
    assert code == 2 and problem in err, err


SLOW = "float32 runs at about a tenth of the speed of bfloat16"
SMALL = "batches of 4096 tokens leave most of a GPU idle"


@pytest.mark.parametrize("machine, settings, said", [
    ("capability=90", ["model.dtype=float32"], [SLOW, SMALL]),
    ("capability=80", ["model.dtype=bfloat16", "execution.batch_tokens=2048"], []),
    ("capability=90", ["model.dtype=float32", "execution.device=cuda"], [SLOW]),
    ("capability=89", ["model.dtype=float32"], [SMALL]),
    ("capability=75", ["model.dtype=float16", "execution.contexts_per_block=300"], []),
])
def test_what_would_be_faster_on_a_gpu_is_said_once(machine, settings, said, tmp_path):
    """The made-up card computes nothing, so it has no memory either."""
    code, _, err = run_on(f"{machine} free={GIB // 2}", tmp_path / "run", CAUSAL_JOB, [*CAUSAL, *settings])
    assert code == 2 and "does not fit the GPU" in err, err
    assert [line for line in (SLOW, SMALL) if line in err] == said, err
    assert all(err.count(line) == 1 for line in said), err


def test_a_plan_for_gpus_says_what_would_be_faster():
    job = runs.ROOT / "jobs/10_planted.yaml"
    assert SLOW in runs.program("plan", job, "--gpu-memory=80").stdout
    assert SLOW not in runs.program("plan", job, "--gpu-memory=80", "model.dtype=bfloat16").stdout
    assert SLOW not in runs.program("plan", job, "execution.device=cpu").stdout


def test_a_gpu_that_is_asked_for_must_be_there(tmp_path):
    code, _, err = run_on("status=100 devices=0", tmp_path / "run", settings=[*MASKED, "execution.device=cuda"])
    assert code == 2 and "no CUDA device" in err, err


def test_free_memory_counts_and_ranks_share_it(tmp_path):
    code, _, err = run_on(f"free={GIB}", tmp_path / "one", CAUSAL_JOB, CAUSAL)
    assert code == 2 and "does not fit the GPU" in err and "of 1.0 GiB free" in err, err
    assert "parts of attention, logits and CUDA's libraries" in err, err
    code, _, err = run_on(f"free={2 * GIB}", tmp_path / "two", CAUSAL_JOB, CAUSAL, ranks=2, STEREOSWEEP_SHARE_GPU="1")
    assert code == 2 and "of 1.0 GiB free for each of the 2 ranks that share it" in err, err


def test_two_ranks_hold_one_gpu_only_where_they_may(tmp_path):
    code, _, err = run_on("devices=1", tmp_path / "run", CAUSAL_JOB, CAUSAL, ranks=2)
    assert code == 1 and "2 ranks of a node hold the GPU" in err and "STEREOSWEEP_SHARE_GPU=1" in err, err
    code, _, err = run_on("devices=1", tmp_path / "slices", CAUSAL_JOB, [*CAUSAL, "execution.tensor_parallel=3"], ranks=3,
                          STEREOSWEEP_SHARE_GPU="1")
    assert code == 2 and "Start one rank per GPU" in err, err


def test_slices_of_a_divided_gpu_are_no_shared_gpu(tmp_path):
    code, _, err = run_on(f"devices=1 slices=1 free={GIB}", tmp_path / "run", CAUSAL_JOB, CAUSAL, ranks=2)
    assert code == 2 and "does not fit the GPU" in err and "of 1.0 GiB free" in err, err
    assert "2 ranks of a node hold" not in err and "share it" not in err, err


def test_elmo_binds_no_gpu(tmp_path):
    elmo_models.write(tmp_path / "elmo", elmo_models.TINY)
    corpus = context_jobs.write_corpus(tmp_path / "corpus.txt")
    job = context_jobs.write_job(tmp_path / "job.yaml", tmp_path / "elmo", corpus, engine="torch")
    for name, machine in {"with": "devices=1", "without": "status=100 devices=0"}.items():
        code, _, err = run_on(machine, tmp_path / name, job, ["execution.device=auto"], ranks=2)
        assert code == 0, err
    assert runs.digest(tmp_path / "with") == runs.digest(tmp_path / "without")


def test_a_query_is_refused_the_same_way():
    model = runs.ROOT / "tests/models/planted"
    for machine, problem in {"status=35 devices=0 driver=11040 node=1": "NVIDIA's driver 5", "capability=61": "is too old"}.items():
        process = runs.start_program("query", "--model", model,
                                     environment={"LD_PRELOAD": str(FAKE), "STEREOSWEEP_FAKE_CUDA": machine})
        _, err = process.communicate(timeout=300)
        assert process.returncode != 0 and problem in err, err
