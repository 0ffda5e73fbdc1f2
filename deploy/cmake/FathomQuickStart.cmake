# What a program that answers in milliseconds is linked with; docs/design/0010-quick-start.md.

# fathom_soname(VARIABLE LIBRARY): "libarchive.so.13", of a library that is loaded when it is needed.
function(fathom_soname variable library)
  file(REAL_PATH "${library}" real)
  get_filename_component(name "${real}" NAME)
  string(REGEX MATCH "^lib[^.]+\\.so\\.[0-9]+" soname "${name}")
  if(NOT soname)
    message(FATAL_ERROR "${library} is no shared library with a version: its development package is needed")
  endif()
  set(${variable} ${soname} PARENT_SCOPE)
endfunction()

# fathom_starts_quickly(TARGET), before its libraries are named: Abseil, Protobuf and their like from
# archives, and nothing shared that it does not call. lld takes what is undefined from the first
# that has it, whatever the order behind it; other linkers, and the sanitizers' lists of libraries,
# get the shared ones.
set(FATHOM_QUICK_START OFF)
if(FATHOM_LLD AND NOT FATHOM_SANITIZE)
  set(FATHOM_QUICK_START ON)
endif()
function(fathom_starts_quickly target)
  target_link_options(${target} PRIVATE -Wl,--as-needed)
  if(NOT FATHOM_QUICK_START)
    return()
  endif()
  get_filename_component(folder "${Protobuf_LIBRARY}" DIRECTORY)
  file(GLOB archives ${folder}/libabsl_*.a)
  foreach(name protobuf snappy yaml-cpp z zstd)
    find_library(FATHOM_ARCHIVE_${name} lib${name}.a HINTS ${folder} REQUIRED)
    list(APPEND archives ${FATHOM_ARCHIVE_${name}})
  endforeach()
  target_link_libraries(${target} PRIVATE ${archives})
  # What is loaded later brings its own zlib and zstd, and is not given these. What runs before main
  # lies together, so that few pages of the program are read for it.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,keep-text-section-prefix)
endfunction()
