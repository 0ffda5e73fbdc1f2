// A Slurm whose answers are written down before: what fathom-cordon makes of them, and asks for.
//
// Used by the tests of the Slurm back-end. Model: each sinfo is answered with the next of `sinfo`,
// the last for ever; each change with `scontrol`. Thread-safety: none. Ownership: outlives its
// back-ends.
#ifndef FATHOM_TESTS_COLLECTOR_CORDON_SCRIPTED_SLURM_H_
#define FATHOM_TESTS_COLLECTOR_CORDON_SCRIPTED_SLURM_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "collector/cordon/backend/slurm.h"

namespace fathom::cordon {

struct ScriptedSlurm {
  std::vector<absl::StatusOr<collector::CommandResult>> sinfo;
  absl::StatusOr<collector::CommandResult> scontrol = collector::CommandResult{0, "", ""};
  std::vector<std::vector<std::string>> asked = {};
  std::size_t next = 0;

  static collector::CommandResult Line(const std::string& line) { return {0, line + "\n", ""}; }
  static bool Changes(const std::vector<std::string>& argv) {
    return std::find(argv.begin(), argv.end(), "update") != argv.end();
  }
  // All that was asked but sinfo.
  std::ptrdiff_t updates() const {
    return std::count_if(asked.begin(), asked.end(),
                         [](const auto& argv) { return argv.front() != "sinfo"; });
  }

  SlurmBackend Backend(SlurmOptions options = {}) {
    return SlurmBackend(std::move(options),
                        [this](const std::vector<std::string>& argv,
                               Nanos) -> absl::StatusOr<collector::CommandResult> {
                          asked.push_back(argv);
                          if (Changes(argv)) return scontrol;
                          return sinfo[std::min(next++, sinfo.size() - 1)];
                        });
  }
};

}  // namespace fathom::cordon

#endif  // FATHOM_TESTS_COLLECTOR_CORDON_SCRIPTED_SLURM_H_
