# fathom::cuda_headers: the headers of CUDA, CUPTI, NCCL and NVML, from .cuda/include (deploy/setup), else
# from a toolkit. Headers only: nothing of ours ever links those libraries. Absent: no such target.
set(fathom_fetched ${PROJECT_SOURCE_DIR}/.cuda/include)
if(EXISTS ${fathom_fetched}/cuda.h)
  # Whatever an earlier configuration found, before they were there.
  foreach(which CUDA CUPTI NCCL)
    set(FATHOM_${which}_INCLUDE ${fathom_fetched})
  endforeach()
endif()
find_path(FATHOM_CUDA_INCLUDE cuda.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include
          NO_CMAKE_SYSTEM_PATH)
find_path(FATHOM_CUPTI_INCLUDE cupti.h HINTS ${FATHOM_CUDA_INCLUDE}
          ${FATHOM_CUDA_INCLUDE}/../extras/CUPTI/include NO_CMAKE_SYSTEM_PATH)
find_path(FATHOM_NCCL_INCLUDE nccl.h HINTS ${FATHOM_CUDA_INCLUDE})
if(FATHOM_CUDA_INCLUDE AND FATHOM_CUPTI_INCLUDE AND FATHOM_NCCL_INCLUDE)
  add_library(fathom_cuda_headers INTERFACE)
  target_include_directories(fathom_cuda_headers SYSTEM INTERFACE
    ${FATHOM_CUDA_INCLUDE} ${FATHOM_CUPTI_INCLUDE} ${FATHOM_NCCL_INCLUDE})
  add_library(fathom::cuda_headers ALIAS fathom_cuda_headers)
endif()
