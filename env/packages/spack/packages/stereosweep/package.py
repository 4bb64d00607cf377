"""Spack's recipe; the source is the clone that `spack develop` names."""

from spack.package import *


class Stereosweep(CMakePackage):
    """Sweeps of stereotype measures over language models, on MPI ranks."""


    version("main")

    variant("cuda", default=True, description="Compile the CUDA side and NCCL")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("mpi@3:")
    depends_on("hdf5@1.10: ~mpi +hl")
    depends_on("yaml-cpp")
    depends_on("boost +program_options")
    depends_on("nlohmann-json", type="build")
    depends_on("oniguruma")
    depends_on("pcre2")
    depends_on("utf8proc")
    depends_on("openssl@3:")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("zstd")
    depends_on("curl")

    generator("ninja")

    def cmake_args(self):
        # The torch wheel, not Spack's own torch: env/setup.sh makes its environment before, and its requirements are pinned.
        return [
            self.define("STEREOSWEEP_BUILD_TESTS", False),
            self.define_from_variant("STEREOSWEEP_USE_CUDA", "cuda"),
        ]

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        install(join_path(self.build_directory, "bin", "stereosweep"), prefix.bin)
