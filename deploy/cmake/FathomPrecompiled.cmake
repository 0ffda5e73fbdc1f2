# Precompiled headers for a build from nothing: parsing the same headers of the standard library,
# Abseil and GoogleTest is two thirds of it. One is made for libraries and one for tests; a target
# takes it with fathom_precompiled(TARGET library|test) and must have the flags of fathom::specs.
#
# They must stay small: one of 168 MB (with CLI11 and nlohmann's JSON) doubled the time of a file,
# one of 110 MB (libraries) halves it (GCC 12); that of the tests has 145 MB, with GoogleTest.
# They hide a missing #include, so the sanitizer, debug and fuzz presets build without them.
option(FATHOM_PCH "Parse common headers once (hides a missing #include)" OFF)

set(FATHOM_PCH_library
  <algorithm> <array> <chrono> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <utility> <vector>
  <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/str_format.h> <absl/strings/str_join.h>)
set(FATHOM_PCH_test ${FATHOM_PCH_library} <gmock/gmock.h> <gtest/gtest.h>)

function(fathom_precompiled target flavour)
  if(NOT FATHOM_PCH)
    return()
  endif()
  set(source fathom_pch_${flavour})
  if(NOT TARGET ${source})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/pch/${flavour}.cc CONTENT "")
    add_library(${source} OBJECT ${CMAKE_BINARY_DIR}/pch/${flavour}.cc)
    target_link_libraries(${source} PRIVATE fathom::specs absl::status absl::statusor absl::str_format)
    if(flavour STREQUAL "test")
      target_link_libraries(${source} PRIVATE GTest::gmock)
      # As the executables that take it: -fPIE, not -fPIC.
      set_target_properties(${source} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${source} PRIVATE ${FATHOM_TEST_OPTIMISATION} -fPIE)
    endif()
    target_precompile_headers(${source} PRIVATE ${FATHOM_PCH_${flavour}})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${source})
endfunction()
