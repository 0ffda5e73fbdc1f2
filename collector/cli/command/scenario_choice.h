// The scenario that a person named: one that comes with the program, or a YAML file.
//
// Used by `fathom simulate` and by fathom-fleet. Thread-safety: pure but for reading the file.
// Errors: kNotFound with the nearest name, and those of ParseScenario; kInvalidArgument when the
// job cannot have so many ranks.
#ifndef FATHOM_COLLECTOR_CLI_COMMAND_SCENARIO_CHOICE_H_
#define FATHOM_COLLECTOR_CLI_COMMAND_SCENARIO_CHOICE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "collector/simulate/scenario/scenario.h"

namespace fathom::cli {

// `seed` and `ranks` replace the scenario's own when they are not 0; ranks by more or fewer
// data-parallel replicas.
absl::StatusOr<simulate::Scenario> ChooseScenario(const std::string& name, std::uint64_t seed,
                                                  std::uint32_t ranks);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_COMMAND_SCENARIO_CHOICE_H_
