# Writes Software.cpp with the version of the source, at every build; untouched where nothing changed.
#   in: SOURCE_DIR TEMPLATE OUTPUT RELEASE STEREOSWEEP_BUILD_DESCRIPTION
execute_process(COMMAND git -C "${SOURCE_DIR}" describe --tags --always --dirty --match "v*"
  OUTPUT_VARIABLE described RESULT_VARIABLE status ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
set(STEREOSWEEP_GIT_VERSION "${RELEASE}")
if(status EQUAL 0)
  set(STEREOSWEEP_GIT_VERSION "${RELEASE}+${described}")
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
