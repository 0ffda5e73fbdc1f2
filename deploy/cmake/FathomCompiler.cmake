# Warnings, hardening, sanitizers and the compiler cache: one INTERFACE target that every target of
# ours links (fathom::specs). The tracer takes the warnings but never a sanitizer: it runs in
# processes that have none.
add_library(fathom_warnings INTERFACE)
target_compile_options(fathom_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wundef -Werror
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 accuses std::string's own inlined copies (GCC bugs 105329 and 105651); the sanitizers
  # find the real ones.
  target_compile_options(fathom_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
# Debian's Abseil and gRPC headers are system headers; our own folders are not.
target_include_directories(fathom_warnings INTERFACE ${PROJECT_SOURCE_DIR})
add_library(fathom::warnings ALIAS fathom_warnings)

add_library(fathom_specs INTERFACE)
target_link_libraries(fathom_specs INTERFACE fathom::warnings)
# Everywhere, so that every target can take the same precompiled headers.
target_compile_options(fathom_specs INTERFACE -pthread)
if(NOT FATHOM_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(fathom_specs INTERFACE
    -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_compile_options(fathom_specs INTERFACE -fcf-protection)
  endif()
  # What indexes a container beyond its end ends there, and not somewhere else.
  target_compile_definitions(fathom_specs INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
  target_link_options(fathom_specs INTERFACE -Wl,-z,relro,-z,now)
endif()
if(FATHOM_SANITIZE)
  target_compile_options(fathom_specs INTERFACE -fsanitize=${FATHOM_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(fathom_specs INTERFACE -fsanitize=${FATHOM_SANITIZE})
  # What no sanitizer sees: front() of an empty vector whose memory is still its own, an optional's
  # value where there is none.
  target_compile_definitions(fathom_specs INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
  if(FATHOM_SANITIZE MATCHES "undefined")
    # A double cast to an integer that cannot hold it is undefined too, but not of that group.
    target_compile_options(fathom_specs INTERFACE
      -fsanitize=float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow)
  endif()
endif()
if(FATHOM_SANITIZE MATCHES "thread")
  # Where this macro is set, Protobuf's headers add members to a class that Debian's library, built
  # without, does not have. libstdc++ goes by a macro of its own, which this would leave unset.
  target_compile_options(fathom_specs INTERFACE -U__SANITIZE_THREAD__)
  target_compile_definitions(fathom_specs INTERFACE _GLIBCXX_TSAN=1)
endif()
if(FATHOM_FUZZ)
  target_compile_options(fathom_specs INTERFACE -fsanitize=fuzzer-no-link)
endif()
add_library(fathom::specs ALIAS fathom_specs)

find_program(FATHOM_CCACHE ccache)
if(FATHOM_CCACHE)
  # Precompiled headers are only cacheable with these; see ccache(1), PRECOMPILED HEADERS. Paths count
  # from the top of the project, so that a second checkout finds what the first has compiled; where
  # there is debug information, it names the folder and is compiled again.
  set(FATHOM_CCACHE_SETTINGS
      CCACHE_DEPEND=1  # a miss costs no run of the preprocessor
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FATHOM_SANITIZE)
    list(APPEND FATHOM_CCACHE_SETTINGS CCACHE_NOHASHDIR=1)
  endif()
  foreach(lang C CXX)
    set(CMAKE_${lang}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${FATHOM_CCACHE_SETTINGS} ${FATHOM_CCACHE})
  endforeach()
endif()
find_program(FATHOM_LLD ld.lld)
if(FATHOM_LLD)
  add_link_options(-fuse-ld=lld)
endif()
