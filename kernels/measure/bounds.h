// How much of a node a probe may take: time, memory, cores, and where its file may lie.
//
// Given to every probe by suite. Model: a probe looks at `stop` and at its time between slices of a
// few milliseconds, and ends with what it has. What does not look any more (a device that hangs) is
// killed from outside (suite/child_run).
//
// Units: seconds, bytes. Thread-safety: plain values; `stop` may be set by any thread.
#ifndef FATHOM_KERNELS_MEASURE_BOUNDS_H_
#define FATHOM_KERNELS_MEASURE_BOUNDS_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace fathom::kernels {

struct Bounds {
  double seconds = 1;
  std::size_t bytes = std::size_t{256} << 20;
  std::vector<int> cpus;               // those that the probe may use; never empty
  std::vector<std::vector<int>> numa;  // the same cpus, by NUMA node; never empty
  std::string folder = "/tmp";         // of the disk that is probed
  const std::atomic<bool>* stop = nullptr;

  bool Stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_BOUNDS_H_
