"""Ranks on several nodes read a checkpoint once. The nodes are names: mpirun starts its daemons through a script that stays
on this machine, and ranks of different daemons share no memory for MPI, but send their bytes through TCP."""

import functools
import pathlib
import struct
import tempfile

import pytest
import runs
import tiny_causal
from test_interview import JOB

LIBRARY = pathlib.Path(runs.PROGRAM).parents[1] / "tests/libweight_reads.so"
MASKED = runs.ROOT / "tests/models/planted"


def job_of(model):
    """Job file and settings: a masked model whole on each rank, a causal one in two slices."""
    if model == MASKED:
        return runs.SMOKE, "execution.engine=torch", f"model.path={model}", "execution.device=cpu"
    job = model.with_name("job.yaml")
    job.write_text(JOB.replace("MODEL", str(model)).replace("engine: fake, ", ""))
    return job, "execution.tensor_parallel=2", "execution.device=cpu"


def size_of_weights(model):
    return sum(file.stat().st_size for file in model.glob("*.safetensors"))


@pytest.fixture(scope="module")
def sliced(tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "model"
    tiny_causal.make("llama2", model, positions=1024)
    return model


@pytest.fixture
def nodes():
    """Environment of a launcher that has so many nodes with so many places. Each has a folder for temporary files: daemons
    that share one make ranks hang in MPI_Init and MPI_Comm_split_type, 3 times of 20. Names are short: sockets lie there."""
    with tempfile.TemporaryDirectory() as name:
        def make(count, ranks):
            folder = pathlib.Path(name)
            stay_here = folder / "stay_here.sh"  # NODE COMMAND...
            stay_here.write_text(f'#!/bin/sh\nexport TMPDIR={name}/$1\nshift\nexec sh -c "$*"\n')
            stay_here.chmod(0o755)
            for number in range(count):
                (folder / f"node{number}").mkdir()
            hosts = folder / "hosts"
            hosts.write_text("".join(f"node{number} slots={ranks}\n" for number in range(count)))
            return {"OMPI_MCA_plm": "rsh", "OMPI_MCA_plm_rsh_agent": str(stay_here),
                    "OMPI_MCA_orte_default_hostfile": str(hosts), "OMPI_MCA_btl": "tcp,self",
                    "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"}
        yield make


def run(nodes, model, output, count, ranks, environment=None, inject=""):
    """(exit status, standard error, bytes of weights that were read)"""
    total = output.with_name(output.name + ".bytes")
    counted = {"LD_PRELOAD": str(LIBRARY), "STEREOSWEEP_WEIGHT_READS": str(total)}
    code, _, err = runs.run(job_of(model)[0], output, *job_of(model)[1:], ranks=count * ranks, inject=inject,
                            environment={**nodes(count, ranks), **counted, **(environment or {})})
    return code, err, struct.unpack("q", total.read_bytes())[0]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Digest of a model's job on one node."""
    @functools.cache
    def digest(model):
        output = tmp_path_factory.mktemp("reference") / "run"
        code, _, err = runs.run(job_of(model)[0], output, *job_of(model)[1:], ranks=1 if model == MASKED else 2)
        assert code == 0, err
        return runs.digest(output)
    return digest


@pytest.mark.parametrize("count, ranks", [(4, 2), (4, 1), (2, 1)])
def test_every_byte_of_the_weights_is_read_once(nodes, reference, tmp_path, count, ranks):
    code, err, read = run(nodes, MASKED, tmp_path / "run", count, ranks)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference(MASKED)
    assert runs.status(tmp_path / "run")["num_ranks"] == count * ranks
    assert read == size_of_weights(MASKED)


def test_slices_of_several_nodes_come_from_one_reading(nodes, sliced, reference, tmp_path):
    code, err, read = run(nodes, sliced, tmp_path / "run", 2, 2)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference(sliced)
    assert read == size_of_weights(sliced)


def test_slices_on_one_node_are_read_from_the_files(nodes, sliced, reference, tmp_path):
    """Once for the hashes, and once by the slices: the node needs no room for the whole."""
    code, err, read = run(nodes, sliced, tmp_path / "run", 1, 2)
    assert code == 0, err
    assert runs.digest(tmp_path / "run") == reference(sliced)
    assert size_of_weights(sliced) < read < 3 * size_of_weights(sliced)


@pytest.mark.parametrize("rank", [0, 1], ids=["reader", "receiver"])
@pytest.mark.parametrize("action, code, states", [
    ("throw", 1, ["failed"]), ("kill", 137, ["lost", "stopped"]), ("hang", 75, ["lost"])], ids=["throw", "kill", "hang"])
def test_a_rank_that_fails_while_weights_travel_ends_the_job(nodes, tmp_path, rank, action, code, states):
    ended, err, _ = run(nodes, MASKED, tmp_path / "run", 2, 1, inject=f"step:read_weights:1:{action}:{rank}",
                        environment={"STEREOSWEEP_WAIT_TIMEOUT_S": "5"})
    assert ended == code, err
    expected = {"throw": "injected fault at step:read_weights", "kill": "signal 9", "hang": "has not ended within 5 s"}
    assert expected[action] in err
    if rank != 0 or action == "throw":  # else there is nobody who writes it
        assert runs.status(tmp_path / "run")["state"] in states
