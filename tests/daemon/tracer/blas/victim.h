// What the victim's two libraries of products offer: each calls its BLAS by name, as PyTorch's
// libraries do, and is loaded with local scope.
#ifndef FATHOM_TESTS_DAEMON_TRACER_BLAS_VICTIM_H_
#define FATHOM_TESTS_DAEMON_TRACER_BLAS_VICTIM_H_

struct ProductsJob {
  void (*all)();                  // each function once
  void (*single)(int times);      // one of them
  unsigned long long (*calls)();  // as the library counted them
  unsigned long long (*sum)();    // of what came through; 0: not counted
};

extern "C" const ProductsJob products_job;

#endif  // FATHOM_TESTS_DAEMON_TRACER_BLAS_VICTIM_H_
