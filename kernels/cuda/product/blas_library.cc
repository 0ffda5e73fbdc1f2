#include "kernels/cuda/product/blas_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

namespace fathom::kernels {
namespace {

void* Open(std::string& why) {
  const char* told = std::getenv("FATHOM_CUBLASLT");
  std::vector<std::string> names = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
  if (told != nullptr) names = {told};
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();
  }
  return nullptr;
}

template <typename T>
bool Find(void* library, const char* name, T& function, std::string& why) {
  function = reinterpret_cast<T>(dlsym(library, name));
  if (function == nullptr) why = std::string("libcublasLt has no ") + name;
  return function != nullptr;
}

bool FindAll(void* lib, BlasLibrary& blas, std::string& why) {
  return Find(lib, "cublasLtGetVersion", blas.version, why) &&
         Find(lib, "cublasLtCreate", blas.create, why) &&
         Find(lib, "cublasLtDestroy", blas.destroy, why) &&
         Find(lib, "cublasLtMatmulDescCreate", blas.desc_create, why) &&
         Find(lib, "cublasLtMatmulDescDestroy", blas.desc_destroy, why) &&
         Find(lib, "cublasLtMatmulDescSetAttribute", blas.desc_set, why) &&
         Find(lib, "cublasLtMatrixLayoutCreate", blas.layout_create, why) &&
         Find(lib, "cublasLtMatrixLayoutDestroy", blas.layout_destroy, why) &&
         Find(lib, "cublasLtMatmulPreferenceCreate", blas.preference_create, why) &&
         Find(lib, "cublasLtMatmulPreferenceDestroy", blas.preference_destroy, why) &&
         Find(lib, "cublasLtMatmulPreferenceSetAttribute", blas.preference_set, why) &&
         Find(lib, "cublasLtMatmulAlgoGetHeuristic", blas.heuristic, why) &&
         Find(lib, "cublasLtMatmul", blas.matmul, why);
}

struct Loaded {
  BlasLibrary blas{};
  std::string why;
  bool whole = false;

  Loaded() {
    void* library = Open(why);
    whole = library != nullptr && FindAll(library, blas, why);
  }
};

}  // namespace

const BlasLibrary* BlasLibrary::Get(std::string& why) {
  static const Loaded loaded;
  why = loaded.why;
  return loaded.whole ? &loaded.blas : nullptr;
}

}  // namespace fathom::kernels
