# fathom_cuda_object(OUT SOURCE): compiles a .cu of kernels by nvcc for every architecture of
# FATHOM_CUDA_ARCHITECTURES that this nvcc knows, and appends its object to OUT.
#
# Of those architectures it must know one, or it is as if there were no nvcc, with a warning that says what to do.
# nvcc comes from PATH, /usr/local/cuda or the wheels of deploy/nvcc.txt (.nvcc, deploy/scripts/fetch_nvcc).
# Absent: FATHOM_NVCC is false, and what needs it is left out with a word. No GPU is needed.
set(FATHOM_CUDA_ARCHITECTURES 70 75 80 89 90 100 CACHE STRING "What fathom-probe-cuda runs on")
find_program(FATHOM_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin ${PROJECT_SOURCE_DIR}/.nvcc/bin /usr/local/cuda/bin)
set(fathom_nvcc_flags)
if(FATHOM_NVCC)
  execute_process(COMMAND ${FATHOM_NVCC} --list-gpu-code OUTPUT_VARIABLE known RESULT_VARIABLE failed ERROR_QUIET)
  execute_process(COMMAND ${FATHOM_NVCC} -E -x cu /dev/null --dryrun ERROR_VARIABLE dry OUTPUT_QUIET)
  # "#$ TOP=…": where its headers and libraries are.
  string(REGEX MATCH "TOP=([^\n]*)" ignored "${dry}")
  get_filename_component(FATHOM_NVCC_ROOT "${CMAKE_MATCH_1}" ABSOLUTE)
  find_library(FATHOM_CUDART_STATIC NAMES libcudart_static.a NO_DEFAULT_PATH
               PATHS ${FATHOM_NVCC_ROOT}/lib64 ${FATHOM_NVCC_ROOT}/lib ${FATHOM_NVCC_ROOT}/targets/x86_64-linux/lib)
  if(failed OR NOT FATHOM_CUDART_STATIC OR NOT EXISTS ${FATHOM_NVCC_ROOT}/include/cuda_runtime.h)
    message(STATUS "fathom-probe-cuda is not built: ${FATHOM_NVCC} does not run, or lacks its headers or runtime")
    set(FATHOM_NVCC FALSE)
  endif()
else()
  message(STATUS "fathom-probe-cuda is not built: there is no nvcc (deploy/scripts/fetch_nvcc)")
endif()
if(FATHOM_NVCC)
  set(newest)
  foreach(arch ${FATHOM_CUDA_ARCHITECTURES})
    if("${known}\n" MATCHES "sm_${arch}[^0-9a-z]")
      list(APPEND fathom_nvcc_flags -gencode arch=compute_${arch},code=sm_${arch})
      set(newest ${arch})
    endif()
  endforeach()
  if(newest)
    # Of a GPU that is newer than all of these, the driver translates.
    list(APPEND fathom_nvcc_flags -gencode arch=compute_${newest},code=compute_${newest})
  else()
    string(REGEX MATCHALL "sm_[0-9a-z]+" known "${known}")
    list(JOIN known " " known)
    list(JOIN FATHOM_CUDA_ARCHITECTURES " " wanted)
    message(WARNING "fathom-probe-cuda is not built: ${FATHOM_NVCC} knows none of the architectures that are asked "
      "for (${wanted}), but ${known}. Set -DFATHOM_CUDA_ARCHITECTURES to numbers of those, with ';' between them, "
      "or take another nvcc (deploy/scripts/fetch_nvcc) by -DFATHOM_NVCC.")
    set(FATHOM_NVCC FALSE)
  endif()
endif()

function(fathom_cuda_object out source)
  string(REPLACE "/" "_" name ${source})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${FATHOM_NVCC} -std=c++20 -O3 ${fathom_nvcc_flags} -I${PROJECT_SOURCE_DIR}
            -Xcompiler=-fPIC,-Wall,-Wextra --no-compress -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
    DEPENDS ${source} DEPFILE ${object}.d COMMENT "Compiling ${source} by nvcc")
  set(${out} ${${out}} ${object} PARENT_SCOPE)
endfunction()
