// What this node is, as far as two nodes must be alike to be compared, and what it takes from a
// process: cores it may use, NUMA nodes, time lost to quotas and to other guests.
//
// Used by suite (Machine, once) and cpu/spin (LostTime, before and after).
//
// Units: bytes, seconds. Thread-safety: thread-safe, reads /proc and /sys. Errors: what cannot be
// read is empty or 0. Cost: a few small files.
#ifndef FATHOM_KERNELS_MEASURE_MACHINE_H_
#define FATHOM_KERNELS_MEASURE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::kernels {

struct Machine {
  std::string cpu_model;
  std::uint32_t cores = 0;  // online, those that this process may not use included
  std::uint64_t memory_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::vector<int> cpus;               // that this process may use, ascending
  std::vector<std::vector<int>> numa;  // the same, by NUMA node; nodes without any left out
};

// `root`: "" but in tests, a folder with proc and sys in it.
Machine ThisMachine(const std::string& root = "");

// "0-3,8" as the kernel writes lists of CPUs; what is no list gives none.
std::vector<int> CpuListOf(const std::string& text);

// Cumulative; two readings are subtracted.
struct LostTime {
  double throttled_s = 0;  // by the quotas of this process's cgroups, over all cores
  double stolen_s = 0;     // by the hypervisor, over the cores that are asked for
};

LostTime LostTimeNow(const std::vector<int>& cpus, const std::string& root = "");

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_MEASURE_MACHINE_H_
