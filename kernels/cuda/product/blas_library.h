// cuBLASLt's public C interface, as far as it is called here, found at run time.
//
// Used by cuda/product/blas. The declarations are those of cublasLt.h, the same from CUDA 11 to 13;
// handles are opaque. Thread-safety: Get() is. Errors: null, with the reason.
#ifndef FATHOM_KERNELS_CUDA_PRODUCT_BLAS_LIBRARY_H_
#define FATHOM_KERNELS_CUDA_PRODUCT_BLAS_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace fathom::kernels {

// cublasLtMatmulHeuristicResult_t.
struct BlasChoice {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

struct BlasLibrary {
  std::size_t (*version)();
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*desc_create)(void** desc, int compute, int scale);
  int (*desc_destroy)(void* desc);
  int (*desc_set)(void* desc, int attribute, const void* value, std::size_t bytes);
  int (*layout_create)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t pitch);
  int (*layout_destroy)(void* layout);
  int (*preference_create)(void** preference);
  int (*preference_destroy)(void* preference);
  int (*preference_set)(void* preference, int attribute, const void* value, std::size_t bytes);
  int (*heuristic)(void* handle, void* desc, void* a, void* b, void* c, void* d, void* preference,
                   int wanted, BlasChoice* choices, int* found);
  int (*matmul)(void* handle, void* desc, const void* alpha, const void* a, void* a_layout,
                const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                void* d, void* d_layout, const void* algorithm, void* workspace,
                std::size_t workspace_bytes, void* stream);

  static const BlasLibrary* Get(std::string& why);
};

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_CUDA_PRODUCT_BLAS_LIBRARY_H_
