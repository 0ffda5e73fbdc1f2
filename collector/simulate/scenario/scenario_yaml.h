// A scenario out of a YAML file. docs/formats/scenario.md has the table of keys.
//
// Used by `fathom simulate` and by the tests. Every key is optional; an unknown one is an error, so
// that a slip of the pen is not a healthy job.
//
// Errors: kInvalidArgument "NAME:LINE: reason" for bytes that are no YAML, a key nobody knows, a
// value of the wrong type, or a plan that cannot be (Finalize); never an exception.
// Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_YAML_H_
#define FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_YAML_H_

#include <string>

#include "absl/status/statusor.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::simulate {

// `name` stands for the text in errors and, without folder and suffix, becomes the job's name.
absl::StatusOr<Scenario> ParseScenario(const std::string& text, const std::string& name);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_YAML_H_
