// What the node as a whole is doing: processors, load, pressure, memory.
//
// Called by the agent once a second; goes to the collector as fathom.v1.NodeHealth.
//
// Model: the busy ratio is that of the time since the last Read (from /proc/stat: all but idle and
// iowait); the first Read has none and says 0. Pressure is PSI's avg10 "some", 0 to 1; −1 where the
// kernel does not tell.
//
// Thread-safety: single-threaded, owned by the poll loop. Errors: what cannot be read stays 0 (−1
// for pressure). Cost: five small files, about 100 µs.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_NODE_FACTS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_NODE_FACTS_H_

#include <cstdint>
#include <utility>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct NodeFacts {
  double cpu_busy_ratio = 0;
  double load1 = 0;
  std::uint32_t cores = 0;
  double pressure_cpu = -1;
  double pressure_memory = -1;
  double pressure_io = -1;
  std::uint64_t memory_available_bytes = 0;
};

class NodeFactsReader {
 public:
  explicit NodeFactsReader(KernelRoots roots) : roots_(std::move(roots)) {}

  NodeFacts Read();

 private:
  double BusyRatio();
  double Pressure(const char* what) const;

  const KernelRoots roots_;
  std::uint64_t last_busy_ = 0;
  std::uint64_t last_all_ = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_NODE_FACTS_H_
