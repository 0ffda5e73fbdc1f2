# fathom_test(NAME file_test.cc SOURCES... LIBS ... [LABELS ...] [ARGS ...] [TIMEOUT s])
# One GoogleTest binary = one CTest entry; labels select groups (`deploy/test -L LABEL`).
if(FATHOM_TESTS)
  find_package(GTest CONFIG REQUIRED)
  find_package(benchmark CONFIG QUIET)
endif()

# Test code is compiled more often than it runs; what it tests keeps the preset's optimisation.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(FATHOM_TEST_OPTIMISATION -O1)
endif()

function(fathom_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE fathom::specs ${A_LIBS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FATHOM_TEST_OPTIMISATION})
  fathom_precompiled(${name} test)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 300)  # a machine may be busy with other work
  endif()
  if(FATHOM_SANITIZE)
    math(EXPR A_TIMEOUT "5 * ${A_TIMEOUT}")  # unoptimised, each access watched
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "unit;${A_LABELS}"
    ENVIRONMENT "FATHOM_BINARY_DIR=${CMAKE_BINARY_DIR};FATHOM_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endfunction()

# fathom_fuzzer(NAME SOURCES file_fuzzer.cc LIBS ... CORPUS dir)
# With FATHOM_FUZZ a libFuzzer binary, whose test runs for half a minute and keeps what it finds in
# the build folder; else a replay of the corpus and of some inputs made of it.
function(fathom_fuzzer name)
  cmake_parse_arguments(A "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE fathom::specs ${A_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(FATHOM_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_BINARY_DIR}/corpus/${name})
    file(MAKE_DIRECTORY ${found})
    add_test(NAME ${name} COMMAND ${name} -max_total_time=30 -rss_limit_mb=2048 -timeout=25 ${found} ${A_CORPUS})
  else()
    if(NOT TARGET fathom_replay)
      add_library(fathom_replay OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
      target_link_libraries(fathom_replay PRIVATE fathom::specs)
      target_compile_options(fathom_replay PRIVATE ${FATHOM_TEST_OPTIMISATION})
    endif()
    target_link_libraries(${name} PRIVATE fathom_replay)
    add_test(NAME ${name} COMMAND ${name} --mutate 1000 ${A_CORPUS})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "unit;fuzz")
endfunction()
