// One line of `fathom doctor`: a thing that tracing needs, how it stands, and what to do.
//
// Made by the checks, shown by doctor_command. Thread-safety: plain value.
#ifndef FATHOM_COLLECTOR_CLI_DOCTOR_FINDING_H_
#define FATHOM_COLLECTOR_CLI_DOCTOR_FINDING_H_

#include <string>
#include <vector>

namespace fathom::cli {

struct Finding {
  std::string name = {};
  std::string state = {};  // "ok", "partly", "off"
  std::string why = {};
  std::string hides = {};  // what cannot be told without it; empty when nothing is hidden
  std::string todo = {};   // empty when there is nothing to do
  // Without it `fathom run` traces nothing.
  bool required = false;
};

using Findings = std::vector<Finding>;

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_DOCTOR_FINDING_H_
