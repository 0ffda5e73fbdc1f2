#include "collector/config/thresholds.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include "collector/config/collector_config.h"
#include "collector/config/settings.h"

namespace fathom::collector {
namespace {

struct Range {
  const char* setting;
  double value;
  double low;
  double high;
};

// Every number: no threshold is negative or without bounds.
absl::Status CheckAll(const CollectorConfig& config) {
  const CollectorConfig defaults;
  for (const Setting& setting : Settings()) {
    double value = 0, usual = 0;
    const bool threshold = setting.name.rfind("diagnosis.", 0) == 0;
    if (!threshold || !absl::SimpleAtod(setting.get(config), &value)) continue;
    const bool may_be_off = absl::SimpleAtod(setting.get(defaults), &usual) && usual == 0;
    const double low = may_be_off ? 0 : 1e-9;
    if (auto status = CheckRange(setting.name.c_str(), value, low, 1e9); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRange(const char* setting, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(setting, ": ", value, " is not between ", low, " and ", high));
}

absl::Status CheckThresholds(const CollectorConfig& config) {
  if (auto status = CheckAll(config); !status.ok()) return status;
  const diagnosis::DiagnosisConfig& d = config.diagnosis;
  for (const Range& range :
       {Range{"diagnosis.delta", d.delta, 1.001, 100},
        Range{"diagnosis.baseline_iterations", static_cast<double>(d.baseline_iterations), 3, 1e4},
        Range{"diagnosis.min_irregular", static_cast<double>(d.min_irregular), 2, 1e4},
        Range{"diagnosis.stall_factor", d.stall_factor, 1, 1e6},
        Range{"diagnosis.stall_floor_s", d.stall_floor.Seconds(), 0.1, 86'400},
        Range{"diagnosis.change_hazard", d.change_hazard, 1e-9, 0.5},
        Range{"diagnosis.wild_factor", d.wild_factor, 1, 1e6},
        Range{"diagnosis.chance_share", d.chance_share, 1e-6, 0.999},
        Range{"diagnosis.most_chance", d.most_chance, 1e-6, 0.999},
        Range{"diagnosis.guilty_share", d.guilty_share, 1e-6, 0.999},
        Range{"diagnosis.link_paths", static_cast<double>(d.link_paths), 2, 1e6},
        Range{"diagnosis.recorded_look_back", static_cast<double>(d.recorded_look_back), 1, 1000},
        Range{"diagnosis.recorded_at_fault", d.recorded_at_fault, 1e-9, 1}}) {
    auto status = CheckRange(range.setting, range.value, range.low, range.high);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<diagnosis::DiagnosisConfig> ReadThresholds(const std::string& file) {
  CollectorConfig config;
  if (file.empty()) return config.diagnosis;
  Texts texts;
  if (auto status = LoadFile(file, texts); !status.ok()) return status;
  if (auto status = Apply(texts, file, config); !status.ok()) return status;
  if (auto status = CheckThresholds(config); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", status.message()));
  }
  return config.diagnosis;
}

}  // namespace fathom::collector
