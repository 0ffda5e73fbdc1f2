// A real fathom-collector process under test.
//
// Used by process_test. The binary is fathom-collector in FATHOM_BINARY_DIR.
// Thread-safety: thread-compatible. Ownership: kills (SIGKILL) and reaps what still runs.
#ifndef FATHOM_TESTS_COLLECTOR_SERVER_CHILD_PROCESS_H_
#define FATHOM_TESTS_COLLECTOR_SERVER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace fathom::collector {

class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Reads the ready line; false: none within ten seconds.
  bool WaitReady();
  int grpc_port() const { return grpc_port_; }
  int http_port() const { return http_port_; }
  pid_t pid() const { return pid_; }
  void Signal(int number) const;
  // Waits for the end (at most ten seconds): exit code, or 128 + signal; -1: still running.
  int Wait();
  // Reads stderr until `text` is there; false: not within ten seconds.
  bool Says(const std::string& text);
  // All of stderr. Requires: Wait() has returned.
  std::string Errors();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  int code_ = -1;
  std::string said_;  // of stderr, so far
  int grpc_port_ = 0;
  int http_port_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_SERVER_CHILD_PROCESS_H_
