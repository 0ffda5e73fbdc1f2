// The processes of this node that are traced now: those of a job that a probe would disturb.
//
// Used by `fathom probe`. Model: a traced process has a ring in the node's folder or in that of a
// `fathom run`; one whose process is gone does not count.
// Thread-safety: reads the file system. Errors: a folder that is not there holds none.
#ifndef FATHOM_COLLECTOR_CLI_PROBE_TRACED_PROCESSES_H_
#define FATHOM_COLLECTOR_CLI_PROBE_TRACED_PROCESSES_H_

#include <cstdint>
#include <filesystem>
#include <vector>

namespace fathom::cli {

// `memory`: /dev/shm but in tests; `node`: the node's folder of rings.
std::vector<std::int64_t> TracedProcesses(const std::filesystem::path& node,
                                          const std::filesystem::path& memory);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROBE_TRACED_PROCESSES_H_
