# stereosweep_add_room(NAME <room> [FOLDER] [FAST] [TORCH] [EXCEPT ...] [ALONE ...] [PUBLIC ...] [PRIVATE ...]): one library per room.
#   FOLDER: of all sources of the folder, in batches, but those of EXCEPT and of folders that are rooms of their own.
#   FAST: all optimisation, for loops over numbers or letters; other rooms take -O2, and compile in half the time.
#   src/ is the include root; warnings are errors for our own code only.
#   TORCH: its sources include libtorch's tensors, and share their precompiled headers.
#   ALONE: kernels for wider registers (nothing may be inlined into a clone that fuses products and sums), classes whose
#   parts use an unnamed namespace (-Wsubobject-linkage), files with options of their own, generated files.
# stereosweep_add_test(<File.test.cpp> ROOM <room> [OPERATORS] [SLOW] [NP n ...] [LABELS ...] [LIBRARIES ...] [NEEDS ...] [TIMEOUT s])
#   one test. Its program is test_ROOM, compiled in batches as rooms are; test_ROOM_File where it runs under mpiexec (NP, once
#   per rank count), has a LABEL, or where STEREOSWEEP_BATCH is 1. NEEDS: targets that it starts. With OPERATORS it runs a
#   second time with the kernels that CUDA would take, on the CPU. SLOW: takes more than a few seconds, and is no part of
#   `ctest -L quick`, as tests with NP or LABELS are not.
# stereosweep_add_other_tests(ROOM <room> [LIBRARIES ...]): every test of the folder that has not been added yet.
add_library(stereosweep_warnings INTERFACE)
target_compile_options(stereosweep_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  -Wno-restrict  # g++ 12 sees overlaps in std::string::insert that are not there (GCC bug 105329)
  # the same bug where <string> was precompiled; builds without precompiled headers keep these warnings
  $<$<BOOL:${STEREOSWEEP_PRECOMPILE}>:-Wno-stringop-overflow>
  $<$<BOOL:${STEREOSWEEP_PRECOMPILE}>:-Wno-array-bounds>)

# Most of a compile is the reading of headers (libtorch's alone take seconds), so neighbours of a room share one.
# A batch includes them by their path below src/ (or tests/): the same text in every clone, so that a compiler cache finds it.
function(stereosweep_make_batches result)
  set(sources ${ARGN})
  list(LENGTH sources count)
  if(STEREOSWEEP_BATCH EQUAL 1 OR count EQUAL 0)
    set(${result} ${sources} PARENT_SCOPE)
    return()
  endif()
  file(RELATIVE_PATH room "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "^(src|tests)/" "" room "${room}")
  math(EXPR batches "(${count} + ${STEREOSWEEP_BATCH} - 1) / ${STEREOSWEEP_BATCH}")
  set(begin 0)
  set(made "")
  foreach(batch RANGE 1 ${batches})
    math(EXPR end "${count} * ${batch} / ${batches}")
    math(EXPR length "${end} - ${begin}")
    list(SUBLIST sources ${begin} ${length} members)
    list(TRANSFORM members REPLACE "(.+)" "#include \"${room}/\\1\"\n")
    string(CONCAT text ${members})
    set(file "${CMAKE_CURRENT_BINARY_DIR}/batches/${batch}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)   # untouched where nothing changed
    list(APPEND made "${file}")
    set(begin ${end})
  endforeach()
  set(${result} ${made} PARENT_SCOPE)
endfunction()

# A set of headers of libraries that is read once. Targets with other definitions and -O may use it; CMake has no
# precompiled headers without a library that is built of them.
function(stereosweep_add_headers set)
  cmake_parse_arguments(SET "" "" "HEADERS;LIBRARIES" ${ARGN})
  if(STEREOSWEEP_PRECOMPILE)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${set}.cpp" CONTENT "// nothing but its headers\n" @ONLY)
    add_library(stereosweep_${set} STATIC "${CMAKE_CURRENT_BINARY_DIR}/${set}.cpp")
    target_link_libraries(stereosweep_${set} PRIVATE ${SET_LIBRARIES} stereosweep_warnings)
    target_precompile_headers(stereosweep_${set} PRIVATE ${SET_HEADERS})
  endif()
endfunction()

function(stereosweep_use_headers target set)
  if(STEREOSWEEP_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM stereosweep_${set})
  endif()
endfunction()

set(STEREOSWEEP_COMMON_HEADERS <algorithm> <chrono> <filesystem> <fstream> <functional> <iostream> <map> <memory>
  <nlohmann/json.hpp> <optional> <random> <set> <string> <thread> <unordered_map> <vector>)
set(STEREOSWEEP_TENSOR_HEADERS <ATen/core/Tensor.h> <ATen/Parallel.h> <ATen/ops/cat.h> <ATen/ops/empty.h>
  <ATen/ops/linear.h> <ATen/ops/zeros.h>)
stereosweep_add_headers(common_headers HEADERS ${STEREOSWEEP_COMMON_HEADERS} LIBRARIES nlohmann_json::nlohmann_json)
stereosweep_add_headers(tensor_headers HEADERS ${STEREOSWEEP_COMMON_HEADERS} ${STEREOSWEEP_TENSOR_HEADERS}
  LIBRARIES nlohmann_json::nlohmann_json TorchWheel::cpu)
if(STEREOSWEEP_BUILD_TESTS)
  stereosweep_add_headers(test_headers HEADERS ${STEREOSWEEP_COMMON_HEADERS} <gmock/gmock.h>
    LIBRARIES nlohmann_json::nlohmann_json GTest::gmock)
endif()

# All sources below this folder, by their paths in it, in alphabetical order; a new file is found by the next build.
function(stereosweep_find_sources result)
  file(GLOB_RECURSE sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB rooms RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(room IN LISTS rooms)
    get_filename_component(room "${room}" DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${room}/")
  endforeach()
  list(REMOVE_ITEM sources "" ${ARGN})
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# Makes a source of a file that the program carries: `std::string_view name()` of namespace `namespace` is its text.
function(stereosweep_embed result namespace name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/env/cmake/EmbeddedText.cpp.in" "${source}" @ONLY)
  set(${result} "${source}" PARENT_SCOPE)
endfunction()

function(stereosweep_add_room)
  cmake_parse_arguments(ROOM "FOLDER;FAST;TORCH" "NAME" "EXCEPT;ALONE;PUBLIC;PRIVATE" ${ARGN})
  set(target stereosweep_${ROOM_NAME})
  set(sources "")
  if(ROOM_FOLDER)
    stereosweep_find_sources(sources ${ROOM_EXCEPT} ${ROOM_ALONE})
  endif()
  stereosweep_make_batches(batches ${sources})
  if(batches OR ROOM_ALONE)
    add_library(${target} STATIC ${batches} ${ROOM_ALONE})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} PUBLIC ${ROOM_PUBLIC} PRIVATE ${ROOM_PRIVATE} stereosweep_warnings)
    if(ROOM_TORCH)
      stereosweep_use_headers(${target} tensor_headers)
    else()
      stereosweep_use_headers(${target} common_headers)
    endif()
    target_compile_options(${target} PRIVATE $<$<AND:$<NOT:$<BOOL:${ROOM_FAST}>>,$<CONFIG:Release>>:-O2>)
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(${target} INTERFACE ${ROOM_PUBLIC})
  endif()
  add_library(stereosweep::${ROOM_NAME} ALIAS ${target})
endfunction()

# Torch registers its operators when it is loaded: 0.2 s, which commands that compute nothing need not spend. The program
# then has functions of its own in the place of libtorch_cpu.so's, which load it when one is called. Elsewhere than on
# x86-64 it is linked as usual.
function(stereosweep_load_torch_later target)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/env/cmake/torch_calls.py")
  set(libraries "$<TARGET_FILE:stereosweep_model>" "$<TARGET_FILE:stereosweep_engine>")
  add_custom_command(OUTPUT torch_calls.cpp
    COMMAND "${STEREOSWEEP_PYTHON}" "${script}" "${CMAKE_NM}" torch_calls.cpp "${TorchWheel_LIB}/libtorch_cpu.so" ${libraries}
    DEPENDS "${script}" stereosweep_model stereosweep_engine
    COMMENT "Writing the calls of libtorch_cpu.so" VERBATIM)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/torch_calls.cpp")
  set_target_properties(${target} PROPERTIES LOADS_TORCH_LATER ON)
endfunction()

# One program of tests.
function(stereosweep_add_test_program target)
  cmake_parse_arguments(TEST "" "ROOM" "SOURCES;LIBRARIES;NEEDS" ${ARGN})
  add_executable(${target} ${TEST_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_compile_options(${target} PRIVATE -O1)  # tests are compiled more often than they run
  if(TEST_ROOM MATCHES "^(model|engine)$")
    stereosweep_use_headers(${target} tensor_headers)
  else()
    stereosweep_use_headers(${target} test_headers)
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${TEST_LIBRARIES} stereosweep::${TEST_ROOM} stereosweep_test_places stereosweep_warnings GTest::gmock)
  if(TEST_NEEDS)
    add_dependencies(${target} ${TEST_NEEDS})
  endif()
endfunction()

# What stereosweep_add_test left in the folder's properties becomes the room's program.
function(stereosweep_add_batched_tests room)
  foreach(part IN ITEMS sources libraries needs)
    get_property(${part} DIRECTORY PROPERTY stereosweep_test_${part})
    list(REMOVE_DUPLICATES ${part})
  endforeach()
  stereosweep_make_batches(batches ${sources})
  stereosweep_add_test_program(test_${room} ROOM ${room} SOURCES ${batches} LIBRARIES ${libraries} NEEDS ${needs})
  target_link_libraries(test_${room} PRIVATE stereosweep_file_test_main)
endfunction()

function(stereosweep_add_test source)
  cmake_parse_arguments(TEST "OPERATORS;SLOW" "ROOM;TIMEOUT" "NP;LABELS;LIBRARIES;NEEDS" ${ARGN})
  string(REPLACE ".test.cpp" "" stem "${source}")
  set_property(DIRECTORY APPEND PROPERTY stereosweep_added_tests "${source}")
  set(target test_${TEST_ROOM}_${stem})
  set(arguments "")
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 120)
  endif()
  set(kind unit quick)   # `ctest -L quick`: units that take seconds
  if(TEST_SLOW OR TEST_LABELS)
    set(kind unit)
  endif()
  if(STEREOSWEEP_BATCH EQUAL 1 OR TEST_NP OR TEST_LABELS)
    stereosweep_add_test_program(${target} ROOM ${TEST_ROOM} SOURCES "${source}" LIBRARIES ${TEST_LIBRARIES}
      NEEDS ${TEST_NEEDS})
  else()
    set(target test_${TEST_ROOM})
    set(arguments "${source}")
    get_property(known DIRECTORY PROPERTY stereosweep_test_sources)
    if(NOT known)
      cmake_language(EVAL CODE "cmake_language(DEFER CALL stereosweep_add_batched_tests ${TEST_ROOM})")
    endif()
    set_property(DIRECTORY APPEND PROPERTY stereosweep_test_sources "${source}")
    set_property(DIRECTORY APPEND PROPERTY stereosweep_test_libraries ${TEST_LIBRARIES})
    set_property(DIRECTORY APPEND PROPERTY stereosweep_test_needs ${TEST_NEEDS})
  endif()
  if(TEST_NP)
    target_link_libraries(${target} PRIVATE stereosweep_mpi_test_main GTest::gtest)
    foreach(np IN LISTS TEST_NP)
      set(name "${TEST_ROOM}.${stem}.np${np}")
      add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} --oversubscribe ${MPIEXEC_NUMPROC_FLAG} ${np}
        $<TARGET_FILE:${target}>)
      set_tests_properties(${name} PROPERTIES PROCESSORS 2 TIMEOUT ${TEST_TIMEOUT}
        LABELS "mpi;${TEST_LABELS}"
        ENVIRONMENT "OMPI_MCA_hwloc_base_binding_policy=none;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_btl_vader_single_copy_mechanism=none")
    endforeach()
    return()
  endif()
  if(NOT arguments)
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  add_test(NAME ${TEST_ROOM}.${stem} COMMAND ${target} ${arguments})
  # OpenMP's threads of two tests at once wait for each other on two cores: five times slower.
  set_tests_properties(${TEST_ROOM}.${stem} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${kind};${TEST_LABELS}"
    ENVIRONMENT "OMP_NUM_THREADS=1")
  if(TEST_OPERATORS)
    add_test(NAME ${TEST_ROOM}.${stem}.operators COMMAND ${target} ${arguments})
    set_tests_properties(${TEST_ROOM}.${stem}.operators PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS unit
      ENVIRONMENT "STEREOSWEEP_KERNELS=operators;OMP_NUM_THREADS=1")
  endif()
endfunction()

function(stereosweep_add_other_tests)
  cmake_parse_arguments(TEST "" "ROOM" "LIBRARIES" ${ARGN})
  file(GLOB sources RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.test.cpp")
  get_property(added DIRECTORY PROPERTY stereosweep_added_tests)
  list(REMOVE_ITEM sources "" ${added})
  foreach(source IN LISTS sources)
    stereosweep_add_test(${source} ROOM ${TEST_ROOM} LIBRARIES ${TEST_LIBRARIES})
  endforeach()
endfunction()
