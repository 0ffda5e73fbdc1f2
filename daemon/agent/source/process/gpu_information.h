// What the NVIDIA driver tells of a GPU in /proc.
//
// Used by session/rank_session, once a process.
//
// Model: /proc/driver/nvidia/gpus/<bus id in lower case>/information has a line "GPU UUID:". It is
// there where the driver's kernel module is; nothing is loaded or opened for it.
// Thread-safety: pure. Errors: empty where there is no such file, or no UUID in it.
// Cost: one small file of /proc.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_GPU_INFORMATION_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_GPU_INFORMATION_H_

#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

// Requires: IsPciBusId(bus_id).
std::string ReadGpuUuid(const KernelRoots& roots, const std::string& bus_id);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_GPU_INFORMATION_H_
