#include "kernels/suite/suite.h"

#include <algorithm>

#include "kernels/cpu/multiply.h"
#include "kernels/cpu/spin.h"
#include "kernels/disk/disk.h"
#include "kernels/memory/bandwidth.h"
#include "kernels/memory/pattern.h"

namespace fathom::kernels {

const std::vector<ProbeKind>& NodeProbes() {
  static const std::vector<ProbeKind> probes = {
      {"spin", "clock of each core, whether it holds, who takes its time", 4, 30, Spin},
      {"gemm_fp32", "matrix multiplication, and the same bits each time", 2, 10,
       [](const Bounds& bounds) { return MultiplyFp32(bounds); }},
      {"gemm_fp64", "the same in double precision", 1.5, 10,
       [](const Bounds& bounds) { return MultiplyFp64(bounds); }},
      {"exact", "results whose every bit is known", 1.5, 20,
       [](const Bounds& bounds) { return Exact(bounds); }},
      {"memory_bandwidth", "read, write and copy, by NUMA node", 3, 10, MemoryBandwidth},
      {"memory_latency", "one access after the other, by NUMA node", 1.5, 6, MemoryLatency},
      {"memory_pattern", "whether memory keeps what is written", 1.5, 20,
       [](const Bounds& bounds) { return MemoryPattern(bounds); }},
      {"disk", "durable writes, small ones, and reading back", 3, 15, Disk},
  };
  return probes;
}

const ProbeKind* FindProbe(const std::string& name) {
  const std::vector<ProbeKind>& probes = NodeProbes();
  const auto at = std::find_if(probes.begin(), probes.end(),
                               [&](const ProbeKind& kind) { return kind.name == name; });
  return at == probes.end() ? nullptr : &*at;
}

}  // namespace fathom::kernels
