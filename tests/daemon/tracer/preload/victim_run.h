// Runs the victim under the preload, step by step, and holds its ring.
//
// Used by preload_test.cc. A run owns a folder of its own for rings, and the process; both are gone
// with it. Errors: gtest failures. Thread-safety: single-threaded.
#ifndef FATHOM_TESTS_DAEMON_TRACER_PRELOAD_VICTIM_RUN_H_
#define FATHOM_TESTS_DAEMON_TRACER_PRELOAD_VICTIM_RUN_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/daemon/tracer/ring_reader.h"

namespace fathom::tracer_test {

std::string BuiltFile(const std::string& name);  // under FATHOM_BINARY_DIR

class VictimRun {
 public:
  // Starts `victim MODE ARGUMENT` with libfathom.so preloaded, `environment` added to a bare one.
  // FATHOM_SHM_DIR is the run's folder unless `environment` names another. `preload` "none": bare.
  explicit VictimRun(const std::string& mode, const std::string& argument = "3",
                     std::vector<std::string> environment = {}, const std::string& preload = "",
                     const std::string& program = "tests/preload_victim");
  ~VictimRun();
  VictimRun(const VictimRun&) = delete;
  VictimRun& operator=(const VictimRun&) = delete;

  // Reads lines of its output until one is `line`; false at its end.
  bool WaitFor(const std::string& line);
  // Lets it go on after "ready".
  void Go();
  // Waits for its end: exit code, or 128 + signal.
  int Finish();
  void Kill(int signal);

  // Files in the folder that end in ".ring", sorted; and all files.
  std::vector<std::string> Rings() const;
  std::vector<std::string> Files() const;
  const std::string& folder() const { return folder_; }
  const std::string& output() const { return output_; }
  pid_t pid() const { return pid_; }

 private:
  bool ReadMore();
  std::string folder_;
  std::string output_;
  std::size_t read_ = 0;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

// Starts, maps the ring of the group, lets go and finishes: the usual run. `ring` is null if there
// is no ring.
struct Outcome {
  int code = -1;
  std::string output;
  std::unique_ptr<MappedRing> ring;
  std::vector<std::string> left;  // files after the end
};
Outcome RunVictim(const std::string& mode, const std::string& argument = "3",
                  std::vector<std::string> environment = {}, const std::string& preload = "",
                  const std::string& program = "tests/preload_victim");

}  // namespace fathom::tracer_test

#endif  // FATHOM_TESTS_DAEMON_TRACER_PRELOAD_VICTIM_RUN_H_
