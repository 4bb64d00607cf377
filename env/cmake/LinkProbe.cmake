# Links one small program against torch, yaml-cpp, Boost and GoogleTest together, at configure time. All four pass
# std::string; a torch built with the old C++ ABI would fail much later with hundreds of misleading lines
# (pytorch issues 19353, 32157, 98093, 136517). Remembered per environment and compiler.
set(_probe_key "${STEREOSWEEP_PYTHON} ${TorchWheel_VERSION} ${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION}")
if(NOT STEREOSWEEP_LINK_PROBE STREQUAL _probe_key)
  message(STATUS "Linking torch, yaml-cpp, Boost and GoogleTest together")
  set(_probe_libraries TorchWheel::cpu yaml-cpp Boost::program_options)
  set(_probe_definitions "")
  if(STEREOSWEEP_BUILD_TESTS)
    list(APPEND _probe_libraries GTest::gtest)
    set(_probe_definitions -DSTEREOSWEEP_PROBE_GTEST)
  endif()
  try_compile(_probe_links "${CMAKE_BINARY_DIR}/link_probe" "${CMAKE_CURRENT_LIST_DIR}/link_probe.cpp"
    LINK_LIBRARIES ${_probe_libraries} COMPILE_DEFINITIONS ${_probe_definitions}
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON OUTPUT_VARIABLE _probe_output)
  if(NOT _probe_links)
    string(REGEX MATCH "[^\n]*(__cxx11|abi:cxx11)[^\n]*undefined|undefined reference[^\n]*(__cxx11|abi:cxx11)[^\n]*"
      _probe_abi "${_probe_output}")
    set(_probe_hint "Run env/setup.sh again; does ${TorchWheel_LIB} hold libtorch_cpu.so, and are the packages of env/setup.sh installed?")
    if(_probe_abi)
      set(_probe_hint "The undefined symbols carry the new C++ ABI: this torch was built with _GLIBCXX_USE_CXX11_ABI=0. "
        "Take the wheel that env/requirements.txt names.")
      string(CONCAT _probe_hint ${_probe_hint})
    endif()
    message(FATAL_ERROR "torch, yaml-cpp, Boost and GoogleTest do not link into one program.\n${_probe_hint}\n"
      "${_probe_output}")
  endif()
  set(STEREOSWEEP_LINK_PROBE "${_probe_key}" CACHE INTERNAL "what the link probe passed with")
endif()
