// Calls products of matrices under the preload, as a training process does.
//
//   products_victim all|none|loop LIBRARY     LIBRARY is loaded with local scope
//
// all: each function once. none: only loads it. loop: 100,000 calls of one function, and prints the
// nanoseconds of CPU time of a call. It prints "calls N sum M" as its library counted.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/daemon/tracer/blas/victim.h"

namespace {

// Of the thread, so that what else runs on the machine counts little.
double CpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

double NsOfCall(const ProductsJob& job) {
  constexpr int kCalls = 100'000;
  job.single(1000);
  const double begin = CpuNs();
  job.single(kCalls);
  return (CpuNs() - begin) / kCalls;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void* library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fprintf(stderr, "%s\n", dlerror()), 3;
  const auto* job = static_cast<const ProductsJob*>(dlsym(library, "products_job"));
  // A real job turns the tracer on when it makes its first group.
  if (auto* start = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "fathom_start"))) start();
  if (strcmp(argv[1], "all") == 0) job->all();
  if (strcmp(argv[1], "loop") == 0) printf("ns %.1f\n", NsOfCall(*job));
  // The step of an optimizer: what was counted is told before it.
  if (auto* step =
          reinterpret_cast<void (*)(unsigned long long)>(dlsym(RTLD_DEFAULT, "fathom_step")))
    step(400);
  printf("calls %llu sum %llu\n", job->calls(), job->sum());
  fflush(stdout);
  (void)getchar();  // until whoever reads its ring holds it
  return 0;
}
