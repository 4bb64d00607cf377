# Every third-party library, once. A room links only what the table in src/README.md allows it.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
# the C interface only: the C++ bindings were dropped from MPI in 2012
set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS OMPI_SKIP_MPICXX=1)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C HL)
find_package(yaml-cpp REQUIRED)
find_package(Boost REQUIRED COMPONENTS program_options)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(BZip2 REQUIRED)
find_package(CURL REQUIRED)
find_package(TorchWheel REQUIRED)
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
add_library(Zstd::zstd UNKNOWN IMPORTED)
set_target_properties(Zstd::zstd PROPERTIES
  IMPORTED_LOCATION "${ZSTD_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${ZSTD_INCLUDE_DIR}")
find_path(ONIGURUMA_INCLUDE_DIR oniguruma.h REQUIRED)
find_library(ONIGURUMA_LIBRARY onig REQUIRED)
add_library(Oniguruma::onig UNKNOWN IMPORTED)
set_target_properties(Oniguruma::onig PROPERTIES
  IMPORTED_LOCATION "${ONIGURUMA_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${ONIGURUMA_INCLUDE_DIR}")
find_path(PCRE2_INCLUDE_DIR pcre2.h REQUIRED)
find_library(PCRE2_LIBRARY pcre2-8 REQUIRED)
add_library(Pcre2::pcre2 UNKNOWN IMPORTED)
set_target_properties(Pcre2::pcre2 PROPERTIES
  IMPORTED_LOCATION "${PCRE2_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${PCRE2_INCLUDE_DIR}"
  INTERFACE_COMPILE_DEFINITIONS PCRE2_CODE_UNIT_WIDTH=8)
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
add_library(Utf8proc::utf8proc UNKNOWN IMPORTED)
set_target_properties(Utf8proc::utf8proc PROPERTIES
  IMPORTED_LOCATION "${UTF8PROC_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${UTF8PROC_INCLUDE_DIR}")
if(STEREOSWEEP_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
