// Any text as a scenario: an error or a job that can be laid out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/scenario/scenario_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::simulate;  // NOLINT
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto scenario = ParseScenario(text, "fuzz.yaml");
  if (!scenario.ok()) return 0;
  const Layout layout(*scenario);
  if (layout.world() != scenario->plan.WorldSize()) std::abort();
  return 0;
}
