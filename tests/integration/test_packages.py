"""The packages of env/packages: what can be tried of each without a cluster and without the network."""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import runs
import yaml

PACKAGES = runs.ROOT / "env/packages"
NO_CACHE = "mount -t tmpfs tmpfs \"$1\" && shift && exec env -i PATH=/usr/bin:/bin \"$@\""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared") / "stereosweep"
    if pathlib.Path(runs.PROGRAM).resolve() != runs.ROOT / "build/release/bin/stereosweep":
        pytest.skip("env/bundle.sh packs build/release, and another program is tested")
    done = subprocess.run(["bash", runs.ROOT / "env/bundle.sh", "--program", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def torch_folder(bundle):
    """A copy (hard links where possible) of the torch wheel beside the bundle, as README.md has it."""
    site = pathlib.Path(next(path for path in sys.path if (pathlib.Path(path) / "torch/lib").is_dir()))
    copy = bundle.parent / "site"
    linker = os.link if os.stat(site).st_dev == os.stat(bundle).st_dev else shutil.copy2
    shutil.copytree(site / "torch/lib", copy / "torch/lib", copy_function=linker)
    for libraries in (site / "nvidia").glob("*/lib"):
        shutil.copytree(libraries, copy / "nvidia" / libraries.parent.name / "lib", copy_function=linker)
    return copy


def test_bundle_names_no_folder_of_the_build_machine(bundle):
    looked_at = 0
    for path in (path for path in bundle.rglob("*") if path.is_file()):
        if path.read_bytes()[:4] == b"\x7fELF":
            dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            found = re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic)
            assert all(part.startswith(("$ORIGIN", "/usr/lib")) for text in found for part in text.split(":")), (path, found)
            looked_at += 1
        else:
            assert str(runs.ROOT) not in path.read_text(errors="replace"), path
    assert looked_at > 10


def test_bundle_runs_without_environment_and_cache(bundle, torch_folder, tmp_path):
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("hiding the user's cache needs root and mount namespaces")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    command = ["unshare", "-m", "sh", "-c", NO_CACHE, "sh", cache, f"STEREOSWEEP_TORCH={torch_folder}",
               bundle / "bin/mpirun", "-np", "2", bundle / "bin/stereosweep", "run", runs.SMOKE, "--output", tmp_path / "run"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path, timeout=runs.HANGS)
    assert done.returncode == 0, done.stderr
    assert runs.run(runs.SMOKE, tmp_path / "own")[0] == 0
    assert runs.digest(tmp_path / "run") == runs.digest(tmp_path / "own")


def test_module_is_loaded_and_unloaded(bundle):
    modulecmd = next(iter(pathlib.Path("/usr/lib").glob("**/modulecmd.tcl")), None)
    if modulecmd is None:
        pytest.skip("environment-modules is not installed (env/setup.sh cuda tests)")

    script = f"""set -eu
        module() {{ eval "$(tclsh {modulecmd} bash "$@")"; }}
        module use {bundle}/modulefiles
        module load stereosweep; echo "$PATH $STEREOSWEEP"
        module unload stereosweep; echo "$PATH ${{STEREOSWEEP-unset}}" """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.splitlines() == [f"{bundle}/bin:/usr/bin:/bin {bundle}/bin/stereosweep", "/usr/bin:/bin unset"]


def section(name):
    text = (PACKAGES / "apptainer.def").read_text()
    return re.search(rf"^%{name}\n(.*?)(?=^%|\Z)", text, re.M | re.S)[1]


def test_container_installs_as_a_set_up_does():
    script = section("post")
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "bash env/setup.sh cuda" in script
    presets = re.findall(r"--preset (\w+)", script)
    known = re.findall(r'"name": "(\w+)"', (runs.ROOT / "env/presets/presets.json").read_text())
    assert presets == ["minimal", "minimal"] and "minimal" in known
    assert "build/minimal/bin/stereosweep" in script  # where that preset puts the program


def test_container_tests_itself(tmp_path):
    """The commands of %test, with the program that was built here."""
    (tmp_path / "stereosweep").symlink_to(runs.PROGRAM)
    script = section("test").replace("/opt/stereosweep/source", str(runs.ROOT))
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)})
    assert done.returncode == 0 and re.search(r"^[0-9a-f]{64}", done.stdout, re.M), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["stereosweep"]


def test_spack_recipe_names_the_libraries_of_the_build():
    recipe = ast.parse((PACKAGES / "spack/packages/stereosweep/package.py").read_text())
    package = next(node for node in recipe.body if isinstance(node, ast.ClassDef))
    assert [base.id for base in package.bases] == ["CMakePackage"] and package.name == "Stereosweep"
    calls = [node.value for node in package.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    needs = {re.split(r"[@ ]", call.args[0].value)[0] for call in calls if call.func.id == "depends_on"}
    libraries = (runs.ROOT / "env/cmake/StereosweepLibraries.cmake").read_text()
    wanted = set(re.findall(r"find_(?:package|library)\((?:[A-Z2-8]+_LIBRARY )?([\w-]+)", libraries))
    names = {"MPI": "mpi", "HDF5": "hdf5", "Boost": "boost", "nlohmann_json": "nlohmann-json", "onig": "oniguruma", "pcre2-8": "pcre2",
             "OpenSSL": "openssl", "ZLIB": "zlib-api", "BZip2": "bzip2", "CURL": "curl"}
    assert {names.get(name, name) for name in wanted - {"Threads", "TorchWheel", "GTest"}} <= needs, (wanted, needs)
    options = (runs.ROOT / "CMakeLists.txt").read_text()
    for option in re.findall(r"STEREOSWEEP_\w+", ast.unparse(package)):
        assert f"option({option} " in options, option


def test_spack_environment_asks_for_the_recipe():
    environment = yaml.safe_load((PACKAGES / "spack/spack.yaml").read_text())["spack"]
    assert environment["specs"] == [path.name for path in (PACKAGES / "spack/packages").iterdir()]
    assert yaml.safe_load((PACKAGES / "spack/repo.yaml").read_text())["repo"]["namespace"] == "stereosweep"


def test_setup_knows_the_versions_of_torch_that_have_a_file():
    """Before it installs anything."""
    known = {re.search(r"^torch==(\d+\.\d+)", file.read_text(), re.M)[1]: file.stem
             for file in [runs.ROOT / "env/requirements.txt", *(runs.ROOT / "env/torch").glob("*.txt")]}
    assert all(name in (version, "requirements") for version, name in known.items()), known
    done = subprocess.run(["bash", runs.ROOT / "env/setup.sh", "cpu"], capture_output=True, text=True,
                          env={**os.environ, "STEREOSWEEP_TORCH": "2.1"})
    assert done.returncode == 1, done
    assert "STEREOSWEEP_TORCH=2.1 (there are: " + " ".join(sorted(known, key=lambda v: int(v[2:]))) + ")" in done.stderr
