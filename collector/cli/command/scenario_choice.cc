#include "collector/cli/command/scenario_choice.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "collector/cli/command/nearest_name.h"
#include "collector/cli/text/text.h"
#include "collector/simulate/scenario/library.h"
#include "collector/simulate/scenario/scenario_yaml.h"

namespace fathom::cli {
namespace {

absl::StatusOr<simulate::Scenario> Load(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& entry : simulate::ScenarioLibrary()) {
    if (name == entry.name) return simulate::ParseScenario(entry.text, name);
    names.emplace_back(entry.name);
  }
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    const std::string nearest = NearestName(name, names);
    return absl::NotFoundError(Cat("'", name, "' is neither a scenario nor a file that can be read",
                                   nearest.empty() ? "" : Cat("; did you mean '", nearest, "'?"),
                                   "; see --list"));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return simulate::ParseScenario(text, name);
}

absl::Status Resize(std::uint32_t ranks, simulate::Scenario* scenario) {
  const std::uint32_t replica = scenario->plan.WorldSize() / scenario->plan.data;
  if (ranks % replica != 0) {
    return absl::InvalidArgumentError(
        Cat("--ranks ", ranks, " is no multiple of a replica of ", replica, " ranks"));
  }
  scenario->plan.data = ranks / replica;
  return simulate::Finalize(*scenario);
}

}  // namespace

absl::StatusOr<simulate::Scenario> ChooseScenario(const std::string& name, std::uint64_t seed,
                                                  std::uint32_t ranks) {
  auto scenario = Load(name);
  if (!scenario.ok()) return scenario;
  if (seed != 0) scenario->seed = seed;
  if (ranks == 0) return scenario;
  if (absl::Status fits = Resize(ranks, &*scenario); !fits.ok()) return fits;
  return scenario;
}

}  // namespace fathom::cli
