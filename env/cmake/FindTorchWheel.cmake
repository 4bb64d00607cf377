# Imported targets for the torch wheel of PyPI: TorchWheel::cpu, TorchWheel::cuda.
# Torch's own CMake files want nvcc and a toolkit; headers and libraries of the wheel are enough.
#   in:  STEREOSWEEP_PYTHON (python of the environment), STEREOSWEEP_USE_CUDA
#   out: TorchWheel_VERSION, the targets
if(NOT STEREOSWEEP_PYTHON)
  message(FATAL_ERROR "STEREOSWEEP_PYTHON is not set (the torch wheel is found through its Python). "
                      "Run env/setup.sh, or pass -DSTEREOSWEEP_PYTHON=/path/to/environment/bin/python")
endif()
execute_process(
  COMMAND "${STEREOSWEEP_PYTHON}" -c
  "import importlib.metadata as m, sysconfig; print(sysconfig.get_path('platlib')); print(m.version('torch'))"
  OUTPUT_VARIABLE _torch_answer RESULT_VARIABLE _torch_status ERROR_VARIABLE _torch_error
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT _torch_status EQUAL 0)
  message(FATAL_ERROR "No torch wheel behind ${STEREOSWEEP_PYTHON}. Run env/setup.sh.\n${_torch_error}")
endif()
string(REPLACE "\n" ";" _torch_answer "${_torch_answer}")
list(GET _torch_answer 0 TorchWheel_SITE)
list(GET _torch_answer 1 TorchWheel_VERSION)
# The rooms model and engine call a few of torch's private operators, whose arguments change between versions. Built and
# tested with 2.10, 2.11 and 2.15, and taken from the first to the last; AMD's wheels (+rocm) have no libtorch_cuda.so.
if(TorchWheel_VERSION VERSION_LESS 2.10 OR TorchWheel_VERSION VERSION_GREATER_EQUAL 2.16 OR
   TorchWheel_VERSION MATCHES "rocm")
  message(FATAL_ERROR "torch ${TorchWheel_VERSION} behind ${STEREOSWEEP_PYTHON} is none of those that this program takes: "
                      "2.10 to 2.15, for the processor or for CUDA. Run env/setup.sh, which installs the tested one, "
                      "or STEREOSWEEP_TORCH=2.10 bash env/setup.sh (env/torch/README.md)")
endif()
set(TorchWheel_LIB "${TorchWheel_SITE}/torch/lib")
set(TorchWheel_INCLUDE "${TorchWheel_SITE}/torch/include")
file(GLOB TorchWheel_NVIDIA_LIBS LIST_DIRECTORIES true "${TorchWheel_SITE}/nvidia/*/lib")

add_library(TorchWheel::cpu INTERFACE IMPORTED)
target_include_directories(TorchWheel::cpu SYSTEM INTERFACE
  "${TorchWheel_INCLUDE}" "${TorchWheel_INCLUDE}/torch/csrc/api/include")
# A program with the property LOADS_TORCH_LATER calls libtorch_cpu.so by torch_calls.py's way.
target_link_libraries(TorchWheel::cpu INTERFACE
  "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:LOADS_TORCH_LATER>>>:${TorchWheel_LIB}/libtorch_cpu.so>" "${TorchWheel_LIB}/libc10.so")
# at::parallel_for is a template: compiled without OpenMP it runs on one thread, whatever torch was told. The wheel's own
# libgomp keeps one pool of threads.
target_compile_options(TorchWheel::cpu INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fopenmp>")
if(EXISTS "${TorchWheel_LIB}/libgomp.so.1")
  target_link_libraries(TorchWheel::cpu INTERFACE "${TorchWheel_LIB}/libgomp.so.1")
else()
  target_link_options(TorchWheel::cpu INTERFACE -fopenmp)
endif()
target_link_options(TorchWheel::cpu INTERFACE
  "-Wl,-rpath,${TorchWheel_LIB}" "-Wl,-rpath-link,${TorchWheel_LIB}")
foreach(_dir IN LISTS TorchWheel_NVIDIA_LIBS)
  target_link_options(TorchWheel::cpu INTERFACE "-Wl,-rpath,${_dir}" "-Wl,-rpath-link,${_dir}")
endforeach()

# TorchWheel::cuda: the runtime and its headers. libtorch_cuda.so itself is loaded by the room model when a device is
# there (it costs 235 MB in every process); the rpath above is where the loader finds it.
add_library(TorchWheel::cuda INTERFACE IMPORTED)
if(STEREOSWEEP_USE_CUDA)
  file(GLOB _torch_cudart "${TorchWheel_SITE}/nvidia/*/lib/libcudart.so.*")
  if(NOT _torch_cudart OR NOT EXISTS "${TorchWheel_LIB}/libtorch_cuda.so")
    message(FATAL_ERROR "The CUDA side of torch is not in ${TorchWheel_SITE} (STEREOSWEEP_USE_CUDA is ON). "
                        "Run env/setup.sh cuda, or pass -DSTEREOSWEEP_USE_CUDA=OFF")
  endif()
  target_compile_definitions(TorchWheel::cuda INTERFACE STEREOSWEEP_WITH_CUDA=1)
  target_link_libraries(TorchWheel::cuda INTERFACE "${_torch_cudart}")
  foreach(_inc IN ITEMS cu13/include cuda_runtime/include nccl/include)  # cu13 since CUDA 13
    if(EXISTS "${TorchWheel_SITE}/nvidia/${_inc}")
      target_include_directories(TorchWheel::cuda SYSTEM INTERFACE "${TorchWheel_SITE}/nvidia/${_inc}")
    endif()
  endforeach()
endif()
set(TorchWheel_FOUND TRUE)
