#include "kernels/measure/workers.h"

#include <sched.h>

#include <cstdio>
#include <ctime>
#include <thread>

namespace fathom::kernels {
namespace {

double SecondsOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double WallSeconds() { return SecondsOf(CLOCK_MONOTONIC); }

double ThreadCpuSeconds() { return SecondsOf(CLOCK_THREAD_CPUTIME_ID); }

double ThreadWaitSeconds() {
  std::FILE* file = std::fopen("/proc/thread-self/schedstat", "re");
  if (file == nullptr) return 0;
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  const int read = std::fscanf(file, "%llu %llu", &ran, &waited);
  std::fclose(file);
  return read == 2 ? 1e-9 * static_cast<double>(waited) : 0;
}

bool BindToCpu(int cpu) {
  const auto place = static_cast<std::size_t>(cpu);
  cpu_set_t* set = CPU_ALLOC(place + 1);
  const std::size_t bytes = CPU_ALLOC_SIZE(place + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(place, bytes, set);
  const bool bound = sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return bound;
}

void RunOnCpus(const std::vector<int>& cpus, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      BindToCpu(cpus[i]);
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

std::vector<double> SliceRates(const Bounds& bounds, double seconds, double work_of_slice,
                               const std::function<void()>& slice) {
  std::vector<double> rates;
  const double end = WallSeconds() + seconds;
  do {
    const double before = ThreadCpuSeconds();
    slice();
    const double took = ThreadCpuSeconds() - before;
    if (took > 0) rates.push_back(work_of_slice / took);
  } while (WallSeconds() < end && !bounds.Stopped());
  return rates;
}

}  // namespace fathom::kernels
