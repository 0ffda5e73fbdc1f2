// Thresholds of diagnosis: every one named, with unit, default and origin. docs/rules/config.md.
//
// Plain values with defaults; collector/config reads them from YAML under `diagnosis:`.
#ifndef FATHOM_DIAGNOSIS_ENGINE_CONFIG_H_
#define FATHOM_DIAGNOSIS_ENGINE_CONFIG_H_

#include <cstdint>

#include "proto/types/time_units.h"

namespace fathom::diagnosis {

struct DiagnosisConfig {
  double delta = 1.05;                    // irregular above delta × median (Holmes)
  std::int32_t baseline_iterations = 10;  // fewest regular iterations before anything is judged
  std::int32_t min_irregular = 5;         // irregular iterations before a culprit is sought
  double stall_factor = 5;                // silent for this many own iterations (EROICA)
  Nanos stall_floor{3'000'000'000};       // and for at least this long
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_ENGINE_CONFIG_H_
