// With what a traced process was started: program, arguments, environment, versions, revision, as
// /proc and the files of its libraries tell.
//
// Used by session/facts_watch, once a job and node, on a thread of its own: the files lie where the
// process sees them, which may be a file system that answers late or never.
//
// Model: names of facts are those of docs/formats/history.md. What a user gives is not sent as it
// is: of the environment only variables of a list of prefixes are taken, and what is told of places
// and ranks of one run alone is left out; values of names that speak of secrets, values that look
// like one, and passwords in URLs are masked. The files of a process are its user's: what is not a
// regular file is not opened, versions and revisions are taken only where they look like one, of
// code a checksum.
//
// Thread-safety: pure. Errors: a fact that cannot be read is left out.
// Bounds: kMaxFacts facts, kMaxFactBytes a value. Cost: some 30 files, about 1 ms, and the code's;
// of a process with a large map of memory some ms more.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_PROCESS_RUN_FACTS_H_
#define FATHOM_DAEMON_AGENT_SOURCE_PROCESS_RUN_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/agent/source/process/proc_file.h"

namespace fathom::agent {

struct ProcessSetup {
  std::string profile;  // FATHOM_PROFILE
  std::string program;  // file name of the script, the module, or the executable
  std::string framework;
  std::string device;
  std::map<std::string, std::string> facts;
};

inline constexpr std::size_t kMaxFacts = 300;
inline constexpr std::size_t kMaxFactBytes = 200;
inline constexpr char kMasked[] = "(masked)";

ProcessSetup ReadProcessSetup(const KernelRoots& roots, std::uint32_t pid);

// The parts that only look at text.
void TakeArguments(const std::vector<std::string>& command, ProcessSetup& setup);
void TakeEnvironment(const std::vector<std::string>& environment, ProcessSetup& setup);
// What may be told of the value of an argument or variable.
std::string Masked(const std::string& name, const std::string& value);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_PROCESS_RUN_FACTS_H_
