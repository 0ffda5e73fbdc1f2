// What /proc tells of one process: its parent and age, words, environment, sockets.
//
// Used by launcher_process. Thread-safety: reads files. Errors: what cannot be read reads as empty,
// as of a process that is gone. Cost: a few small files; Sockets reads the table of its namespace.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PROCESS_FILES_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PROCESS_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fathom::cli {

struct ProcessAge {
  std::int64_t parent = 0;
  std::uint64_t start = 0;  // ticks since boot; 0: there is no such process, or it has ended
};

struct SocketEnd {
  bool listens = false, established = false;
  int local_port = 0, remote_port = 0;
};

class ProcessFiles {
 public:
  ProcessFiles(const std::filesystem::path& proc, std::int64_t pid)
      : folder_(proc / std::to_string(pid)) {}

  ProcessAge Age() const;
  std::vector<std::string> Words() const;
  // Empty: not set.
  std::string Variable(const std::string& name) const;
  std::vector<SocketEnd> Sockets() const;  // TCP

 private:
  std::filesystem::path folder_;
};

std::vector<std::int64_t> AllProcesses(const std::filesystem::path& proc);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_PROCESS_FILES_H_
