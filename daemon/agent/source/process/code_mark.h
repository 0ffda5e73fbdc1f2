// A mark of the code that a process was started with: the same files give the same mark.
//
// Used by run_facts, so that a change that nobody committed is told among what was changed between
// two runs. Model: the checksum (CRC32C) of the script and of the Python files beside it, in the
// order of their names; nothing of their text leaves the node. Modules elsewhere are not looked at:
// those of packages have versions. A
// file that neither belongs to the process's user nor is readable by all counts as empty.
//
// Thread-safety: pure. Errors: empty where there is no script or it cannot be read. Bounds: kMost
// files of kMostBytes, kMostEntries of the folder; what is beyond does not count. Cost: the bytes
// read, some 3 ms at most.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CODE_MARK_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CODE_MARK_H_

#include <cstddef>
#include <string>
#include <vector>

namespace fathom::agent {

struct CodeMark {
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostBytes = 128 * 1024;
  static constexpr std::size_t kMostEntries = 1024;
};

// "1a2b3c4d of 3 files". `folder`: of the process in /proc; `command`: its command line.
std::string ReadCodeMark(const std::string& folder, const std::vector<std::string>& command);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_CODE_MARK_H_
