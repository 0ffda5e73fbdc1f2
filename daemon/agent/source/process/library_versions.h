// Versions of what a traced process runs on: framework, NCCL, CUDA, Python, driver, kernel, system.
//
// Used by run_facts.
//
// Model: the map of the process's memory says which libraries it has loaded and where they lie;
// PyTorch's version.py beside them says its version and CUDA's. NCCL's version stands in the name
// of its library, or of the package beside it in site-packages.
//
// Thread-safety: pure. Errors: what is not known is empty; what does not look like a version is not
// taken. Cost: the map (some MB at most) and some 10 small files.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_LIBRARY_VERSIONS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_LIBRARY_VERSIONS_H_

#include <cstdint>
#include <string>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct LibraryVersions {
  std::string torch, nccl, cuda, python;
  std::string driver, kernel, system;
  std::string gpu;     // model of the node's first
  std::string device;  // "cpu", or that the process computes on: the model, "gpu" where unknown
};

LibraryVersions ReadLibraryVersions(const KernelRoots& roots, std::uint32_t pid);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_LIBRARY_VERSIONS_H_
