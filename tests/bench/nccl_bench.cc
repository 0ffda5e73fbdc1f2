// What the tracer adds to an NCCL call, in nanoseconds, on the real interposed path.
//
//   nccl_bench [CALLS]
//
// It starts itself again with libfathom.so preloaded and drives two copies of an NCCL that does
// nothing (nccl_bench_calls.cc): through the preload, and bound inside. Calls of both alternate;
// each is timed by the CPU's time-stamp counter. Results: docs/performance.md.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Call = void (*)(void*);

struct Copy {
  void* comm = nullptr;
  void* library = nullptr;
  explicit Copy(const std::string& path) : library(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library == nullptr) fprintf(stderr, "%s\n", dlerror()), exit(2);
    comm = reinterpret_cast<void* (*)()>(dlsym(library, "BenchMake"))();
  }
  Call Of(const char* name) const { return reinterpret_cast<Call>(dlsym(library, name)); }
};

double NsPerTick() {
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t first = __rdtsc();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200)) {
  }
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - begin;
  return passed.count() / static_cast<double>(__rdtsc() - first);
}

std::uint64_t Ticks(Call call, void* comm) {
  unsigned aux;
  const std::uint64_t begin = __rdtscp(&aux);
  call(comm);
  return __rdtscp(&aux) - begin;
}

double Quantile(std::vector<std::uint64_t>& ticks, double q, double ns) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(ticks.size() - 1));
  std::nth_element(ticks.begin(), ticks.begin() + at, ticks.end());
  return static_cast<double>(ticks[static_cast<std::size_t>(at)]) * ns;
}

void Row(const char* name, const char* symbol, const Copy& through, const Copy& bare, int calls,
         double ns) {
  const Call traced_call = through.Of(symbol), bare_call = bare.Of(symbol);
  std::vector<std::uint64_t> traced, untraced;
  for (int i = 0; i < calls; ++i) {
    traced.push_back(Ticks(traced_call, through.comm));
    untraced.push_back(Ticks(bare_call, bare.comm));
  }
  const double b50 = Quantile(untraced, 0.5, ns), t50 = Quantile(traced, 0.5, ns);
  const double b99 = Quantile(untraced, 0.99, ns), t99 = Quantile(traced, 0.99, ns);
  printf("%-28s %9.0f %9.0f %9.0f %9.0f %9.0f %9.0f\n", name, b50, t50, t50 - b50, b99, t99,
         t99 - b99);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = std::string(argv[0]).substr(0, std::string(argv[0]).rfind('/'));
  if (getenv("FATHOM_SHM_DIR") == nullptr) {
    std::string shm = "/dev/shm/fathom-nccl-bench-XXXXXX";
    if (mkdtemp(shm.data()) == nullptr) return 1;
    setenv("FATHOM_SHM_DIR", shm.c_str(), 1);
    setenv("LD_PRELOAD", (folder + "/../libfathom.so").c_str(), 1);
    return execv(argv[0], argv);
  }
  const int calls = argc > 1 ? atoi(argv[1]) : 100'000;
  const double ns = NsPerTick();
  const Copy through(folder + "/libnccl_bench.so"), bare(folder + "/libnccl_bench_bare.so");
  printf("%-28s %9s %9s %9s %9s %9s %9s\n", "ns", "bare p50", "traced", "added", "bare p99",
         "traced", "added");
  Row("ncclAllReduce", "BenchAllReduce", through, bare, calls, ns);
  Row("ncclSend", "BenchSend", through, bare, calls, ns);
  Row("ncclGroupStart and End", "BenchGroup", through, bare, calls, ns);
  rmdir(getenv("FATHOM_SHM_DIR"));
  return 0;
}
